//! How bugs get into a build: a wrapper of the compiler adds the flag, and so what the workspace depends on is the same
//! with it and without.

use std::collections::BTreeMap;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// What names the wrapper for cargo, which keeps apart what each wrapper makes, by its path.
pub const WRAPPER: &str = "RUSTC_WORKSPACE_WRAPPER";

/// What names the bug for the program.
pub const MUTANT: &str = "GOSSAMER_MUTANT";

/// The environment of a build, with these flags for all crates, in which every bug can be chosen, and none is.
///
/// # Errors
/// When the wrapper cannot be written.
pub fn environment(root: &Path, rustflags: &str) -> Result<BTreeMap<String, String>> {
    with(root, rustflags, "all", "--cfg mutants")
}

/// The same of a build that has this bug alone, wherever it runs: it is selected by `cfg!(mutant = "name")`.
///
/// # Errors
/// When the wrapper cannot be written.
pub fn compiled(root: &Path, rustflags: &str, name: &str) -> Result<BTreeMap<String, String>> {
    with(root, rustflags, name, &format!("--cfg 'mutant=\"{name}\"'"))
}

/// The environment of [`environment`], for a build on what the library falls back to on other systems: all of the tests,
/// or a share of them. The bug that is chosen stays what it is.
///
/// # Errors
/// When the wrapper cannot be written.
pub fn portable(root: &Path, all: bool) -> Result<BTreeMap<String, String>> {
    let flags = "--cfg mutants --cfg gossamer_portable";
    let mut environment = match all {
        true => with(root, "", "portable", flags)?,
        false => with(
            root,
            "",
            "portable-share",
            &format!("{flags} --cfg gossamer_share"),
        )?,
    };
    environment.remove(MUTANT);
    Ok(environment)
}

fn with(root: &Path, rustflags: &str, name: &str, flag: &str) -> Result<BTreeMap<String, String>> {
    let path = write(root, name, &format!("#!/bin/sh\nexec \"$@\" {flag}\n"))?;
    Ok(BTreeMap::from([
        (WRAPPER.to_string(), path.to_string_lossy().into_owned()),
        ("RUSTFLAGS".to_string(), rustflags.to_string()),
        // No bug has this name. A gate that builds for itself takes it as the sign to build with the flag.
        (MUTANT.to_string(), String::new()),
    ]))
}

/// Writes a wrapper, unless it is there.
fn write(root: &Path, name: &str, text: &str) -> Result<PathBuf> {
    let root = root.canonicalize().context("the root")?;
    let folder = root.join("target/mutants/plant");
    let path = folder.join(name);
    if std::fs::read_to_string(&path).is_ok_and(|known| known == text) {
        return Ok(path);
    }
    let write = || {
        std::fs::create_dir_all(&folder)?;
        std::fs::write(&path, text)?;
        std::fs::set_permissions(&path, Permissions::from_mode(0o755))
    };
    write().with_context(|| format!("{}", path.display()))?;
    Ok(path)
}
