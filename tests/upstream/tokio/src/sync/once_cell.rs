//! Values that are made once.

use gossamer::sync;

/// A value that is made once.
#[derive(Debug)]
pub struct OnceCell<T>(sync::OnceCell<T>);

/// Why a value was not assigned.
#[derive(Debug, PartialEq, Eq)]
pub struct SetError<T> {
    value: T,
    is_initializing: bool,
}

impl<T> OnceCell<T> {
    /// Without a value.
    pub const fn const_new() -> Self {
        Self(sync::OnceCell::new())
    }

    /// Without a value.
    pub fn new() -> Self {
        Self::const_new()
    }

    /// With this value, if there is one.
    pub fn new_with(value: Option<T>) -> Self {
        value.map_or_else(Self::new, Self::from)
    }

    /// The value, if there is one.
    pub fn get(&self) -> Option<&T> {
        self.0.get()
    }

    /// Whether there is one.
    pub fn initialized(&self) -> bool {
        self.get().is_some()
    }

    /// Assigns the value.
    pub fn set(&self, value: T) -> Result<(), SetError<T>> {
        self.0.set(value).map_err(|refused| SetError {
            value: refused.0,
            is_initializing: !self.initialized(),
        })
    }

    /// The value; made, if there is none.
    pub async fn get_or_init<F, M>(&self, make: F) -> &T
    where
        F: FnOnce() -> M,
        M: Future<Output = T>,
    {
        self.0.get_or_init(make).await
    }

    /// The value; made, if there is none and that does not fail.
    pub async fn get_or_try_init<E, F, M>(&self, make: F) -> Result<&T, E>
    where
        F: FnOnce() -> M,
        M: Future<Output = Result<T, E>>,
    {
        self.0.get_or_try_init(make).await
    }

    /// The value itself.
    pub fn into_inner(self) -> Option<T> {
        self.0.into_inner()
    }
}

impl<T> Default for OnceCell<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> From<T> for OnceCell<T> {
    fn from(value: T) -> Self {
        Self(value.into())
    }
}

impl<T> SetError<T> {
    /// There was one.
    pub fn is_already_init_err(&self) -> bool {
        !self.is_initializing
    }

    /// Somebody was making one.
    pub fn is_initializing_err(&self) -> bool {
        self.is_initializing
    }
}
