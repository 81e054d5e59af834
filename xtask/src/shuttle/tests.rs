//! Finding the tests.

use super::run;

#[test]
fn nothing_to_run_is_an_error() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(root.path().join("crates/a")).unwrap();
    let error = run(root.path(), &[]).unwrap_err().to_string();
    assert!(error.contains("nothing for shuttle"), "{error}");
}
