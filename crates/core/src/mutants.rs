//! Mutants: each shows that a gate can fail (`xtask/mutants.toml`).
//!
//! They are compiled in with `--cfg mutants` only, all of them at once; the environment says which one is there, so
//! one build serves all. Without that flag [`mutant!`](crate::mutant) is the constant `false`.

/// The variable of the environment that names the bug.
#[cfg(mutants)]
const VARIABLE: &str = "GOSSAMER_MUTANT";

/// Whether the mutant of this name is there: never, but in a build with `--cfg mutants`.
#[macro_export]
macro_rules! mutant {
    ($name:literal) => {
        cfg!(mutants) && $crate::mutants::is_mutant($name)
    };
}

/// See [`mutant!`](crate::mutant).
#[cfg(mutants)]
pub fn is_mutant(name: &str) -> bool {
    static MUTANT: std::sync::OnceLock<Option<std::ffi::OsString>> = std::sync::OnceLock::new();
    let mutant = MUTANT.get_or_init(|| std::env::var_os(VARIABLE));
    mutant.as_ref().is_some_and(|mutant| mutant == name)
}

/// See [`mutant!`](crate::mutant).
#[cfg(not(mutants))]
pub const fn is_mutant(_name: &str) -> bool {
    false
}
