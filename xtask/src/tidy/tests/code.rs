//! What is checked in code: unsafe, the platform module, orderings, mutants.

use super::super::{mutants, orderings, platform, unsafety};
use super::{finds, passes};
use crate::repo::Repo;

#[test]
fn unsafe_outside_the_list() {
    let check = unsafety::only_where_listed;
    finds(
        check,
        "a.rs",
        "//! A.\nunsafe fn f() {}",
        2,
        "docs/UNSAFE.md",
    );
    let list = "| file | why |\n| --- | --- |\n| `a.rs` | it |\n";
    assert_eq!(
        check(&Repo::of(&[
            ("a.rs", "unsafe {}"),
            ("docs/UNSAFE.md", list)
        ])),
        []
    );
    let safe = check(&Repo::of(&[
        ("a.rs", "// unsafe"),
        ("docs/UNSAFE.md", list),
    ]));
    assert!(
        safe[0]
            .to_string()
            .starts_with("docs/UNSAFE.md:3: `a.rs` is listed and has no")
    );
    finds(check, "docs/UNSAFE.md", list, 3, "does not exist");
    passes(
        check,
        "a.rs",
        "#![forbid(unsafe_code)] // unsafe\nlet x = \"unsafe\";",
    );
}

#[test]
fn unsafe_without_its_reason() {
    let check = unsafety::each_has_its_reason;
    for text in [
        "unsafe { f() }",
        "unsafe impl Send for X {}",
        "#[unsafe(no_mangle)]",
        "unsafe extern \"C\" {}",
        "unsafe fn f() {}",
        "unsafe trait T {}",
        "pub unsafe extern \"C\" fn f() {}",
        "// SAFETY: of another.\nunsafe { g() };\nunsafe { f() }",
        "// SAFETY: far away.\n\nunsafe { f() }",
    ] {
        let line = text.lines().count();
        finds(check, "a.rs", text, line, "without its reason");
    }
    for text in [
        "// SAFETY: one,\n// two.\nlet x =\n    unsafe { f() };",
        "/* SAFETY: x */ unsafe { f() }",
        "// SAFETY: x.\n#[inline]\nunsafe impl Send for X {}",
        "/// F.\n///\n/// # Safety\n/// Promise.\npub unsafe fn f() {}",
        "impl T for X {\n    unsafe fn f() {}\n}",
        "struct V { drop: unsafe fn(*const ()), call: unsafe extern \"C\" fn () }",
    ] {
        passes(check, "a.rs", text);
    }
}

#[test]
fn past_the_door() {
    let path = "crates/sync/src/a.rs";
    for (text, words) in [
        ("use std::sync::atomic::AtomicU32;", "std::sync::atomic"),
        (
            "fn f() { core::sync::atomic::fence(x) }",
            "core::sync::atomic",
        ),
        ("fn f() { std::thread::spawn(f); }", "std::thread"),
        ("use loom::thread;", "loom::"),
        (
            "use std::{sync::{Arc, atomic::AtomicU8}};",
            "std::sync::atomic::AtomicU8",
        ),
        ("use std::{thread as t};", "std::thread"),
        ("use std::sync::{atomic::{self}};", "std::sync::atomic"),
    ] {
        finds(platform::only_platform, path, text, 1, words);
        passes(platform::only_platform, "crates/sync/tests/a.rs", text);
        passes(
            platform::only_platform,
            "crates/core/src/platform/plain.rs",
            text,
        );
        passes(platform::only_platform, "crates/core/src/platform.rs", text);
        passes(platform::only_platform, "lab/src/a.rs", text);
    }
    for text in [
        "use gossamer_core::platform module::{AtomicU32, thread};",
        "//! `std::thread`\nuse std::sync::Arc;\nstd::thread_local! {}\nuse std::{thread_local};",
        "#[cfg(loom)]\nfn f() {}\n#[cfg(test)]\nmod tests { use std::{thread}; use std::thread::spawn; }",
    ] {
        passes(platform::only_platform, path, text);
    }
}

#[test]
fn orderings_without_a_pair() {
    let check = orderings::each_says_its_pair;
    let path = "crates/core/src/a.rs";
    let used = "x.load(Ordering::Acquire);";
    finds(
        check,
        path,
        used,
        1,
        "`Ordering::Acquire` without its reason",
    );
    finds(
        check,
        path,
        &format!("// Fast.\n{used}"),
        2,
        "without its reason",
    );
    finds(
        check,
        path,
        &format!("// pairs with y{}{used}", "\n".repeat(7)),
        8,
        "without",
    );
    finds(
        check,
        path,
        "use core::sync::atomic::Ordering::{self, SeqCst};",
        1,
        "by name",
    );
    finds(check, path, "use Ordering::*;", 1, "by name");
    finds(
        check,
        path,
        "use std::sync::atomic::Ordering as O;",
        1,
        "by name",
    );
    passes(
        check,
        path,
        &format!("// Pairs\n// with the store in `wake`.\n\n{used}"),
    );
    passes(
        check,
        path,
        "x.load(Ordering::Relaxed) // Relaxed: a hint only.",
    );
    passes(check, path, "use std::cmp::Ordering;\nOrdering::Less");
    let captures = "fn f() -> impl T + use<'_> {\n// Pairs with y.\nx.load(Ordering::Acquire) }";
    passes(check, path, captures);
    passes(
        check,
        path,
        &format!("#[cfg(test)]\nmod tests {{ fn f() {{ {used} }} }}"),
    );
    passes(check, "crates/core/tests/a.rs", used);
    passes(check, "lab/src/a.rs", used);
}

#[test]
fn mutants_without_a_row_and_rows_without_a_mutant() {
    let check = mutants::table_matches_source;
    let row = "[[mutant]]\nname = \"lost\"\nbreaks = \"it\"\ngate = [\"cargo\", \"test\"]\n";
    let code = "//! A.\n#[cfg(mutant = \"lost\")]\nfn f() {}";
    let table = "xtask/mutants.toml";
    assert_eq!(check(&Repo::of(&[(table, row), ("a.rs", code)])), []);
    finds(check, table, row, 2, "`lost` is planted nowhere");
    finds(check, "a.rs", code, 2, "`lost` has no gate");
    finds(
        check,
        "a.rs",
        "fn f() -> bool { core::mutant!(\"lost\") }",
        1,
        "has no gate",
    );
    finds(check, table, "[[mutant]]\nname = 1", 1, "cannot be used");
    passes(
        check,
        "a.rs",
        "// mutant = \"x\"\nlet x = \"mutant = \\\"y\\\"\";",
    );
}
