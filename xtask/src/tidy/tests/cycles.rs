//! Import cycles between the files of a crate.

use super::super::Finding;
use super::super::cycles::none;
use crate::repo::Repo;

/// Runs the check on a crate with these files in `src/`.
fn on(files: &[(&str, &str)]) -> Vec<Finding> {
    let paths = files
        .iter()
        .map(|(path, text)| (format!("crates/x/src/{path}"), *text));
    let paths: Vec<_> = paths.collect();
    let mut all = vec![("crates/x/Cargo.toml", "")];
    all.extend(paths.iter().map(|(path, text)| (path.as_str(), *text)));
    none(&Repo::of(&all))
}

#[track_caller]
fn finds(files: &[(&str, &str)], words: &str) {
    let findings = on(files);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(findings[0].to_string().contains(words), "{}", findings[0]);
}

#[track_caller]
fn passes(files: &[(&str, &str)]) {
    assert_eq!(on(files), []);
}

const BOTH: &str = "mod a;\nmod b;";

#[test]
fn two_files_that_use_each_other() {
    let a = ("a.rs", "use crate::b::B;\npub struct A(B);");
    finds(
        &[
            ("lib.rs", BOTH),
            a,
            ("b.rs", "pub struct B;\nfn f(_: &super::a::A) {}"),
        ],
        "crates/x/src/a.rs:1: an import cycle: crates/x/src/a.rs:1 uses `crate::b::B` of crates/x/src/b.rs, \
         crates/x/src/b.rs:2 uses `super::a::A` of crates/x/src/a.rs (all 2 files",
    );
    passes(&[("lib.rs", BOTH), a, ("b.rs", "pub struct B;")]);
}

#[test]
fn three_in_a_circle() {
    let files = [
        ("lib.rs", "mod a;\nmod b;\nmod c;\nmod d;"),
        ("a.rs", "pub fn a() { crate::b::b() }"),
        ("b.rs", "use crate::c;\npub fn b() { c::c() }"),
        ("c.rs", "pub fn c() { super::a::a(); crate::d::d() }"),
        ("d.rs", "pub fn d() {}"),
    ];
    finds(
        &files,
        "all 3 files of it: crates/x/src/a.rs crates/x/src/b.rs crates/x/src/c.rs",
    );
}

#[test]
fn a_parent_and_its_child() {
    let child = ("a/child.rs", "use super::A;\npub fn of(_: A) {}");
    let lib = ("lib.rs", "mod a;");
    // It declares, and re-exports.
    passes(&[
        lib,
        (
            "a.rs",
            "mod child;\npub use self::child::of;\npub struct A;",
        ),
        child,
    ]);
    // It uses, by each way there is.
    for text in [
        "mod child;\nuse self::child::of;\npub struct A;",
        "mod child;\npub struct A;\nfn f() { child::of(A) }",
        "mod child;\npub use self::child::of;\npub struct A;\nfn f() { of(A) }",
        "mod child;\npub struct A;\nfn f() { assert!(g(child::of(A))) }",
        "mod child;\npub use child::*;\npub struct A;\nfn f() { of(A) }",
    ] {
        finds(&[lib, ("a.rs", text), child], "of crates/x/src/a/child.rs");
    }
}

/// An item is its file's that defines it, not the ones' that re-export it.
#[test]
fn a_way_through_a_re_export() {
    let lib = ("lib.rs", "mod a;\nmod b;\npub use self::b::B;");
    let b = ("b.rs", "pub struct B;");
    passes(&[lib, b, ("a.rs", "pub struct A;\nuse crate::B;")]);
    let cyclic = ("b.rs", "pub struct B(crate::a::A);");
    finds(
        &[lib, cyclic, ("a.rs", "pub struct A;\nuse crate::B;")],
        "uses `crate::B` of crates/x/src/b.rs",
    );
    // Names that import each other end nowhere.
    passes(&[
        ("lib.rs", BOTH),
        ("a.rs", "pub use crate::b::X;\nfn f(_: X) {}"),
        ("b.rs", "pub use crate::a::X;"),
    ]);
}

/// What tests need of each other, a macro's method calls, and `pub(in path)`.
#[test]
fn what_is_no_use() {
    let a = ("a.rs", "use crate::b::B;\npub struct A(B);");
    for text in [
        "pub struct B;\n#[cfg(test)]\nmod tests { use crate::a::A; }",
        "pub struct B;\n#[cfg(all(test, loom))]\nmod model;",
        "pub struct B;\n#[cfg(test)]\nuse crate::a::A;",
        "pub struct B;\npub(in crate::b) struct C;",
        "use crate::a;\npub struct B;\nfn f(b: u8) { g!(b.A) }",
        "pub struct B;\n// crate::a::A\nconst TEXT: &str = \"crate::a::A\";",
    ] {
        passes(&[
            ("lib.rs", BOTH),
            a,
            ("b.rs", text),
            ("b/model.rs", "use crate::a::A;"),
        ]);
    }
    let negated = "pub struct B;\n#[cfg(not(test))]\nuse crate::a::A;";
    finds(&[("lib.rs", BOTH), a, ("b.rs", negated)], "an import cycle");
}

#[test]
fn inline_modules_and_given_paths() {
    let a = ("a.rs", "use crate::b::B;\npub struct A(B);");
    let inline = "pub struct B;\nmod inner { fn f(_: super::super::a::A) {} }";
    finds(
        &[("lib.rs", BOTH), a, ("b.rs", inline)],
        "`super::super::a::A`",
    );
    let lib = ("lib.rs", "mod a;\n#[path = \"other.rs\"]\nmod b;");
    finds(
        &[lib, a, ("other.rs", "pub struct B(crate::a::A);")],
        "of crates/x/src/other.rs",
    );
    let nested = "mod a;\nmod b { mod c; pub use c::B; }";
    finds(
        &[
            ("lib.rs", nested),
            a,
            ("b/c.rs", "pub struct B(crate::a::A);"),
        ],
        "of crates/x/src/b/c.rs",
    );
}
