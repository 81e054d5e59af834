//! Finding the models.

use std::fs;
use std::path::Path;

use super::{packages, run};

fn add_crate(root: &Path, name: &str, with_models: bool) {
    let folder = root.join("crates").join(name);
    fs::create_dir_all(folder.join("tests")).unwrap();
    fs::write(
        folder.join("Cargo.toml"),
        format!("[package]\nname = \"our-{name}\"\n"),
    )
    .unwrap();
    if with_models {
        fs::write(folder.join("tests/loom.rs"), "").unwrap();
    }
}

#[test]
fn only_crates_with_models_are_run() {
    let root = tempfile::tempdir().unwrap();
    add_crate(root.path(), "b", true);
    add_crate(root.path(), "a", true);
    add_crate(root.path(), "c", false);
    assert_eq!(
        packages(root.path(), "tests/loom.rs").unwrap(),
        ["our-a", "our-b"]
    );
}

#[test]
fn no_model_at_all_is_an_error() {
    let root = tempfile::tempdir().unwrap();
    add_crate(root.path(), "a", false);
    assert!(
        run(root.path(), &[])
            .unwrap_err()
            .to_string()
            .contains("no loom model")
    );
}
