//! Gates that name no test.

use super::super::gates::{name_tests, sanitizer_names_tests};
use crate::mutants::table::TABLE;
use crate::repo::Repo;

const MAIN: &str = "macro_rules! both { ($($name:ident),*) => {
        mod shared { $(#[test] fn $name() { super::$name::<u8>(); })* }
    } }
    macro_rules! outer { ($($all:tt)*) => { inner! { $($all)* three {} } } }
    macro_rules! inner { ($in:ident $($name:ident {})*) => { mod $in { $(#[test] fn $name() {})* } } }
    mod again;
    mod deep;
    mod other;
    mod zero;
    mod inline { #[test] fn one() {} fn helper() {} }
    outer! { sim four {} }";

fn found(gate: &str) -> Vec<String> {
    found_with("", gate)
}

fn found_with(flags: &str, gate: &str) -> Vec<String> {
    let words: Vec<_> = gate.split(' ').map(|word| format!("\"{word}\"")).collect();
    let table = format!(
        "[[mutant]]\nname = \"m\"\nbreaks = \"it\"\nbuild = [\"true\"]\ngate = [{}]\nrustflags = \"{flags}\"",
        words.join(", ")
    );
    let files = [
        (TABLE, table.as_str()),
        ("tests/it/main.rs", MAIN),
        (
            "tests/it/deep.rs",
            "macro_rules! tests { ($name:ident) => { #[test] fn $name() {} } }\nmod below;\nboth! { two }",
        ),
        (
            "tests/it/deep/below.rs",
            "tests! { made }\n#[test]\nfn last() {}",
        ),
        (
            "tests/it/again.rs",
            "macro_rules! tests { ($name:ident) => {} }",
        ),
        (
            "tests/it/zero.rs",
            "macro_rules! tests { ($name:ident) => {} }",
        ),
        ("crates/sync/src/lib.rs", "#[cfg(test)]\nmod tests;"),
        ("crates/sync/src/tests.rs", "#[test]\nfn unit() {}"),
        ("crates/sync/tests/loom.rs", "mod more;"),
        ("crates/sync/tests/more.rs", "#[test]\nfn model() {}"),
        ("crates/gossamer/tests/fork/main.rs", "fn main() {}"),
        ("tests/it/other.rs", "macro_rules! outer { () => {} }"),
        ("crates/sync/tests/none.rs", "fn helper() {}"),
        (
            "crates/sync/tests/checked.rs",
            "#![cfg(any(loom, shuttle))]\n#[test]\nfn always() {}
            #[cfg(all(loom, feature = \"std\"))]\nmod by_loom { #[test] fn model() {} }
            #[cfg(not(loom))]\n#[test]\nfn by_shuttle() {}",
        ),
    ];
    let findings = name_tests(&Repo::of(&files));
    findings.into_iter().map(|one| one.found).collect()
}

#[test]
fn gates_that_name_a_test() {
    let it = "cargo test -p gossamer-tests --test it";
    for filter in [
        "inline::one",
        "deep::shared::two",
        "deep::below::la",
        "deep::below::made",
        "sim::three",
        "sim::four",
    ] {
        assert_eq!(found(&format!("{it} {filter}")), [""; 0], "{filter}");
    }
    for gate in [
        "cargo test -p gossamer-sync --lib tests::unit",
        "cargo test --profile models -p gossamer-sync --test loom more::model",
        "cargo test -p gossamer-sync --test loom",
        "cargo test -p gossamer-rt --test fork",
        "cargo xtask upstream flume",
        "sh -c false",
    ] {
        assert_eq!(found(gate), [""; 0], "{gate}");
    }
}

#[test]
fn gates_that_run_nothing() {
    for filter in [
        "inline::two",
        "helper",
        "deep::two",
        "shared::one",
        "sim::two",
    ] {
        let found = found(&format!("cargo test -p gossamer-tests --test it {filter}"));
        assert_eq!(found.len(), 1, "{filter}: {found:?}");
        assert!(found[0].contains(filter), "{found:?}");
    }
    for gate in [
        "cargo test -p gossamer-sync --test gone",
        "cargo test -p gossamer-sync --test none helper",
        "cargo test -p gossamer-sync --lib model",
        "cargo test -p gossamer-sync --test loom unit",
    ] {
        assert_eq!(found(gate).len(), 1, "{gate}");
    }
}

#[test]
fn tests_that_are_compiled_with_some_flags() {
    for (flags, test, is_there) in [
        ("", "always", false),
        ("--cfg loom", "always", true),
        ("--cfg loom", "by_loom::model", true),
        ("--cfg loom", "by_shuttle", false),
        ("--cfg shuttle", "by_loom::model", false),
        ("--cfg shuttle", "by_shuttle", true),
    ] {
        let gate = format!("cargo test -p gossamer-sync --test checked {test}");
        assert_eq!(
            found_with(flags, &gate).is_empty(),
            is_there,
            "{flags} {test}"
        );
    }
}

#[test]
fn what_the_sanitizer_runs_is_there() {
    let found = |text: &str| sanitizer_names_tests(&Repo::of(&[("tests/it/main.rs", text)]));
    let all = found("");
    assert!(!all.is_empty());
    let without = found("mod models { #[test] fn one() {} }");
    assert_eq!(without.len() + 1, all.len());
    assert!(all[0].found.contains("`models::`"), "{}", all[0]);
}
