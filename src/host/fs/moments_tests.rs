//! What tests put between the moments of a write.

use super::Moment;
use std::cell::{Cell, RefCell};

type Hook = Box<dyn FnMut(Moment)>;

thread_local! {
    static HOOK: RefCell<Option<Hook>> = const { RefCell::new(None) };
    static NO_EXCHANGE: Cell<bool> = const { Cell::new(false) };
    static NO_REMOVAL: Cell<bool> = const { Cell::new(false) };
}

/// Has `hook` called at every moment of this thread's writes, until what is returned is dropped.
pub fn on(hook: impl FnMut(Moment) + 'static) -> impl Drop {
    struct Off;
    impl Drop for Off {
        fn drop(&mut self) {
            HOOK.set(None);
            NO_EXCHANGE.set(false);
            NO_REMOVAL.set(false);
        }
    }
    HOOK.set(Some(Box::new(hook)));
    Off
}

/// As on a file system that cannot exchange two names, until the hook goes.
pub fn without_exchange() {
    NO_EXCHANGE.set(true);
}

pub fn can_exchange() -> bool {
    !NO_EXCHANGE.get()
}

/// As where names may be changed and not taken away, until the hook goes.
pub fn without_removal() {
    NO_REMOVAL.set(true);
}

pub fn can_remove() -> bool {
    !NO_REMOVAL.get()
}

pub fn at(moment: Moment) {
    // What the hook does is no write of ours: it is not called for that.
    if let Some(mut hook) = HOOK.take() {
        hook(moment);
        HOOK.set(Some(hook));
    }
}
