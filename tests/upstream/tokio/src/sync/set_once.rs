//! Values that are assigned once, and waited for: ours is the `IVar`.

use gossamer::sync::{AlreadyAssigned, IVar};

/// A value that is assigned once.
#[derive(Debug)]
pub struct SetOnce<T>(IVar<T>);

/// There was one.
#[derive(Debug, PartialEq, Eq)]
pub struct SetOnceError<T>(pub T);

impl<T> SetOnce<T> {
    /// Not assigned.
    pub const fn const_new() -> Self {
        Self(IVar::new())
    }

    /// Not assigned.
    pub fn new() -> Self {
        Self::const_new()
    }

    /// With this value, if there is one.
    pub fn new_with(value: Option<T>) -> Self {
        value.map_or_else(Self::new, Self::from)
    }

    /// The value, if there is one.
    pub fn get(&self) -> Option<&T> {
        self.0.try_read()
    }

    /// Whether there is one.
    pub fn initialized(&self) -> bool {
        self.get().is_some()
    }

    /// Assigns the value.
    pub fn set(&self, value: T) -> Result<(), SetOnceError<T>> {
        let assigned = self.0.put(value);
        assigned.map_err(|AlreadyAssigned(value)| SetOnceError(value))
    }

    /// Waits for the value.
    pub async fn wait(&self) -> &T {
        self.0.read().await
    }

    /// The value itself.
    pub fn into_inner(self) -> Option<T> {
        self.0.into_inner()
    }
}

impl<T> Default for SetOnce<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> From<T> for SetOnce<T> {
    fn from(value: T) -> Self {
        Self(value.into())
    }
}
