//! One member of a message that may leave what is known, take it back or change it.
//!
//! Whether an absent and a null member mean the same is the codec's to decide.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Patch<T> {
    #[default]
    Keep,
    /// As if nothing had ever been said.
    Reset,
    Set(T),
}

impl<T> Patch<T> {
    /// Nothing leaves what is known.
    pub fn of(value: Option<T>) -> Self {
        value.map_or(Self::Keep, Self::Set)
    }

    pub const fn is_keep(&self) -> bool {
        matches!(self, Self::Keep)
    }

    pub const fn as_set(&self) -> Option<&T> {
        if let Self::Set(value) = self { Some(value) } else { None }
    }

    /// Does it to a member that always has a value.
    pub fn put(self, member: &mut T)
    where
        T: Default,
    {
        match self {
            Self::Keep => {}
            Self::Reset => *member = T::default(),
            Self::Set(value) => *member = value,
        }
    }

    /// Does it to a member that may be missing.
    pub fn put_option(self, member: &mut Option<T>) {
        match self {
            Self::Keep => {}
            Self::Reset => *member = None,
            Self::Set(value) => *member = Some(value),
        }
    }
}
