//! The repository passes its own lints: `cargo test` is enough to know.

#![forbid(unsafe_code)]

use std::path::Path;

#[test]
fn the_repository_is_tidy() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let findings = xtask::tidy::run(&root).expect("the repository can be read");
    let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert!(
        lines.is_empty(),
        "{} found:\n{}",
        lines.len(),
        lines.join("\n")
    );
}
