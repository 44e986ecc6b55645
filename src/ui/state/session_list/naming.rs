//! Sessions that get their ids while the list is open.
//!
//! Opens nothing. Invariant: what is open here is listed once.

use super::{SessionList, Which};
use crate::model::ids::SessionKey;

impl SessionList {
    /// Sessions that are open here and have got an id since the list was opened are no others that are listed.
    pub fn named(&mut self, which: impl Fn(SessionKey) -> Option<Which>) {
        let mut is_new = false;
        for one in self.open.iter_mut().filter(|one| one.which.is_none()) {
            one.which = which(one.key);
            is_new |= one.which.is_some();
        }
        if is_new {
            self.told(self.past.clone());
        }
    }
}
