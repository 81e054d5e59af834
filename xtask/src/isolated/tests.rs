//! What cargo says, and a shell script for a test program.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::{Program, names, program, run_one};

#[test]
fn only_test_programs_are_run() {
    let message = |test, executable| {
        format!(
            r#"{{"manifest_path":"/a/Cargo.toml","profile":{{"test":{test}}},"executable":{executable}}}"#
        )
    };
    let found = program(&message("true", "\"/t/it\"")).unwrap().unwrap();
    assert_eq!(found.path.to_str(), Some("/t/it"));
    assert_eq!(found.folder.to_str(), Some("/a"));
    assert!(program(&message("false", "\"/t/tool\"")).unwrap().is_none());
    assert!(program(&message("true", "null")).unwrap().is_none());
    assert!(program(r#"{"reason":"build-finished"}"#).unwrap().is_none());
    assert!(program("no message").is_err());
}

/// Has three tests: one passes, one fails, and one is lost when it is asked for.
const SCRIPT: &str = r#"#!/bin/sh
case "$*" in
    --list*--skip\ c) printf 'a: test\nb: test\nd: benchmark\n\n';;
    '--exact a --test-threads 1') echo "test result: ok. 1 passed; $SAID";;
    '--exact b --test-threads 1') echo "test result: FAILED. 0 passed"; exit 101;;
    '--exact c --test-threads 1') echo "test result: ok. 0 passed";;
esac"#;

#[test]
fn each_test_is_judged_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("it");
    fs::write(&path, SCRIPT).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let program = Program {
        path,
        folder: folder.path().into(),
    };
    let prepare = |command: &mut Command| {
        command.env("SAID", "it");
    };
    assert_eq!(
        names(&program, &["--skip", "c"], prepare).unwrap(),
        ["a", "b"]
    );
    assert!(run_one(&program, "a", prepare).unwrap());
    assert!(!run_one(&program, "b", prepare).unwrap());
    assert!(!run_one(&program, "c", prepare).unwrap());
}
