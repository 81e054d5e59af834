//! How long somebody has waited.

/// Nanoseconds since some moment; always zero where time must not matter: in a simulation and in models (their runs
/// are to be the same each time), and without an operating system.
#[inline]
pub(crate) fn now_ns() -> usize {
    #[cfg(all(feature = "std", not(any(loom, shuttle))))]
    if !gossamer_core::context::is_watched() {
        use std::sync::OnceLock;
        use std::time::Instant;

        static BEGINNING: OnceLock<Instant> = OnceLock::new();
        let elapsed = BEGINNING.get_or_init(Instant::now).elapsed();
        return usize::try_from(elapsed.as_nanos()).unwrap_or(usize::MAX);
    }
    0
}
