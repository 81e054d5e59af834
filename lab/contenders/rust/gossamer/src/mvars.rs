//! `MVar`s that live as long as the process, and the full put as one would write it where it matters.

/// A full put, which waits only if it must.
#[macro_export]
macro_rules! put {
    ($place:expr, $value:expr) => {
        if let Err(value) = $place.try_put($value) {
            $place.put(value).await;
        }
    };
}

/// Makes things that live as long as the process.
pub fn leak<T>(things: impl IntoIterator<Item = T>) -> &'static [T] {
    Vec::leak(things.into_iter().collect())
}
