//! What is checked in a crate as a whole: its arrows, and that it forbids unsafe.

use super::super::{layers, unsafety};
use super::{finds, passes};
use crate::repo::Repo;

#[test]
fn arrows_upwards() {
    let sync = "crates/sync/Cargo.toml";
    let upwards =
        "[dependencies]\ngossamer-core.workspace = true\ngossamer-sched = { path = \"x\" }";
    finds(
        layers::arrows,
        sync,
        upwards,
        3,
        "`sync` depends on `sched`; `sync` may depend only on core",
    );
    let renamed = "[target.'cfg(loom)'.dependencies]\nrt = { package = \"gossamer-rt\" }";
    finds(
        layers::arrows,
        sync,
        renamed,
        2,
        "`sync` depends on `gossamer`",
    );
    let by_path = "[build-dependencies]\nx = { path = \"../task/\" }";
    finds(layers::arrows, sync, by_path, 2, "`sync` depends on `task`");
    passes(
        layers::arrows,
        sync,
        "[dependencies]\ngossamer-core = {}\nloom = \"1\"",
    );
    passes(
        layers::arrows,
        sync,
        "[dev-dependencies]\ngossamer-sim = {}",
    );
    let core = "[dependencies]\ngossamer-sync = {}";
    finds(
        layers::arrows,
        "crates/core/Cargo.toml",
        core,
        2,
        "no crate of ours",
    );
    finds(
        layers::arrows,
        "crates/extra/Cargo.toml",
        "",
        1,
        "not in the table",
    );
    finds(
        layers::arrows,
        "crates/core/Cargo.toml",
        "[",
        1,
        "cannot be parsed",
    );
}

#[test]
fn the_lab_links_no_runtime() {
    for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
        let text = format!("[{kind}]\ngossamer-rt.workspace = true");
        finds(
            layers::arrows,
            "lab/Cargo.toml",
            &text,
            2,
            "`lab` depends on `gossamer`",
        );
    }
    let contender = "lab/contenders/rust/gossamer/Cargo.toml";
    passes(
        layers::arrows,
        contender,
        "[dependencies]\ngossamer-rt = {}",
    );
}

#[test]
fn crates_that_do_not_forbid_unsafe() {
    let check = unsafety::forbidden_elsewhere;
    let of = |manifest: &str, toml: &str, files: &[(&str, &str)]| {
        let mut all = vec![(manifest, toml)];
        all.extend(files);
        check(&Repo::of(&all))
    };
    let core = "crates/core/Cargo.toml";
    let lib = "crates/core/src/lib.rs";
    let findings = of(core, "", &[(lib, "//! A.")]);
    assert!(
        findings[0]
            .to_string()
            .starts_with("crates/core/src/lib.rs:1: "),
        "{findings:?}"
    );
    assert_eq!(
        of(core, "", &[(lib, "//! A.\n#![forbid(unsafe_code)]")]),
        []
    );
    let below = ("crates/core/src/a/b.rs", "unsafe {}");
    assert_eq!(of(core, "", &[(lib, "//! A."), below]), []);
    let in_tests = ("crates/core/tests/a.rs", "unsafe {}");
    assert_eq!(of(core, "", &[(lib, "//! A."), in_tests]).len(), 1);
    let suite = "[[test]]\nname = \"suite\"\npath = \"main.rs\"";
    assert_eq!(
        of("tests/Cargo.toml", suite, &[("tests/main.rs", "//! A.")]).len(),
        1
    );
    assert_eq!(
        of("lab/Cargo.toml", "", &[("lab/src/main.rs", "//! A.")]).len(),
        1
    );
    assert!(
        of("xtask/Cargo.toml", "", &[])[0]
            .to_string()
            .contains("without a root")
    );
}
