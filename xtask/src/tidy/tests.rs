//! Each check finds the bad input planted for it, and lets its good twin pass.

use super::{Check, Finding, check};
use crate::repo::Repo;

mod code;
mod crates;
mod cycles;
mod gates;
mod names;
mod operations;
mod text;

/// Runs one check on one file.
fn on(check: Check, path: &str, text: &str) -> Vec<Finding> {
    check(&Repo::of(&[(path, text)]))
}

#[track_caller]
fn finds(check: Check, path: &str, text: &str, line: usize, words: &str) {
    let findings = on(check, path, text);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(
        (findings[0].path.as_str(), findings[0].line),
        (path, line),
        "{findings:?}"
    );
    assert!(findings[0].to_string().contains(words), "{}", findings[0]);
}

#[track_caller]
fn passes(check: Check, path: &str, text: &str) {
    assert_eq!(on(check, path, text), []);
}

#[test]
fn a_finding_reads_path_line_found_expected() {
    let finding = Finding::new("a.rs", 3, "this", "that");
    assert_eq!(finding.to_string(), "a.rs:3: this; that");
}

#[test]
fn all_checks_are_run_and_sorted() {
    let findings = check(&Repo::of(&[
        ("b.rs", "fn f() {\n    todo!()\n}"),
        ("a.md", "[x](y)"),
    ]));
    let lines: Vec<_> = findings.iter().map(|f| (f.path.as_str(), f.line)).collect();
    assert_eq!(lines, [("a.md", 1), ("b.rs", 1), ("b.rs", 2)]);
}

#[test]
fn ignored_and_binary_files_are_no_text_of_ours() {
    let root = tempfile::tempdir().unwrap();
    let write = |path: &str, bytes: &[u8]| {
        let path = root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    };
    write(".gitignore", b"/out\n");
    for path in ["out/a.rs", "target/a.rs", ".git/a.rs", "deep/target/a.rs"] {
        write(path, b"bad");
    }
    write("picture.png", &[0xff, 0xfe]);
    write("a.md", b"![x](picture.png)");
    assert_eq!(super::run(root.path()).unwrap(), []);
    write(".ci/b.rs", b"bad");
    let findings = super::run(root.path()).unwrap();
    assert!(
        findings.iter().all(|finding| finding.path == ".ci/b.rs"),
        "{findings:?}"
    );
    assert!(!findings.is_empty());
}
