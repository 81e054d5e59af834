//! The files of the source that an instruction was made of, by addr2line of binutils.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

/// Whether addr2line is there.
pub(super) fn can_be_had() -> bool {
    let version = Command::new("addr2line")
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    version.is_ok_and(|status| status.success())
}

/// Of each address, the files of the repository that were inlined there, the innermost first.
///
/// # Errors
/// When addr2line cannot be started, or fails.
pub(super) fn of(root: &Path, program: &Path, addresses: &[u64]) -> Result<Vec<Vec<String>>> {
    let mut child = Command::new("addr2line")
        .args(["--addresses", "--inlines", "--exe"])
        .arg(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start addr2line")?;
    let mut stdin = child.stdin.take().context("its input")?;
    let asked: String = addresses.iter().map(|at| format!("{at:#x}\n")).collect();
    let writer = std::thread::spawn(move || stdin.write_all(asked.as_bytes()));
    let output = child.wait_with_output().context("addr2line")?;
    writer
        .join()
        .expect("writing does not panic")
        .context("addr2line")?;
    ensure!(output.status.success(), "addr2line: {}", output.status);
    Ok(read(&String::from_utf8_lossy(&output.stdout), root))
}

/// Reads what it says: an address, then a line `file:line` for each function that was inlined there.
pub(super) fn read(text: &str, root: &Path) -> Vec<Vec<String>> {
    let root = format!("{}/", root.display());
    let mut all: Vec<Vec<String>> = Vec::new();
    for line in text.lines() {
        if line.starts_with("0x") {
            all.push(Vec::new());
        } else if let Some((file, _)) = line.rsplit_once(':')
            && let Some(file) = file.strip_prefix(&root)
            && let Some(files) = all.last_mut()
        {
            files.push(file.to_string());
        }
    }
    all
}
