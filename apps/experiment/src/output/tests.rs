//! What was in a file stays there until the new one is complete.

use std::fs;

use super::Output;
use crate::failure::Failure;

#[test]
fn a_file_is_replaced_when_the_new_one_is_complete() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.svg");
    fs::write(&path, "old").expect("our own folder");
    let output = Output::prepare(&path, ".svg").expect("it can be written");
    assert_eq!(fs::read_to_string(&path).expect("it is there"), "old");
    let broken = output.write(|file| {
        fs::write(file, "half of").map_err(|error| error.to_string())?;
        Err("no more room".into())
    });
    let Err(Failure::Other(message)) = broken else {
        panic!("it was broken off");
    };
    assert_eq!(
        message,
        format!("cannot write {}: no more room", path.display())
    );
    assert_eq!(fs::read_to_string(&path).expect("it is there"), "old");
    let written = output.write(|file| fs::write(file, "new").map_err(|error| error.to_string()));
    assert!(written.is_ok());
    assert_eq!(fs::read_to_string(&path).expect("it is there"), "new");
    // Nothing is left beside it.
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

#[test]
fn what_is_no_file_is_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    for path in [
        folder.path().to_path_buf(),
        folder.path().join("none/a.svg"),
    ] {
        let refused = Output::prepare(&path, ".svg");
        assert!(matches!(refused, Err(Failure::Input(_))), "{path:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, link) = (folder.path().join("a.svg"), folder.path().join("link"));
    fs::write(&file, "old").expect("our own folder");
    std::os::unix::fs::symlink(&file, &link).expect("our own folder");
    let output = Output::prepare(&link, ".svg").expect("it can be written");
    assert!(output.is_same(&Output::prepare(&file, ".svg").expect("it can be written")));
    let written = output.write(|file| fs::write(file, "new").map_err(|error| error.to_string()));
    assert!(written.is_ok());
    assert!(link.is_symlink());
    assert_eq!(fs::read_to_string(&file).expect("it is there"), "new");
}
