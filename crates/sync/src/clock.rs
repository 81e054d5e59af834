//! How long somebody has waited.

/// Nanoseconds since some moment, wrapping where a word has 32 bits; always zero where time must not matter: in a simulation and in models (their runs
/// are to be the same each time), and without an operating system.
#[inline]
pub(crate) fn now_ns() -> usize {
    #[cfg(all(feature = "std", not(any(loom, shuttle))))]
    if !gossamer_core::context::is_watched() {
        use std::sync::OnceLock;
        use std::time::Instant;

        static BEGINNING: OnceLock<Instant> = OnceLock::new();
        let elapsed = BEGINNING.get_or_init(Instant::now).elapsed();
        return elapsed.as_nanos() as usize;
    }
    0
}
