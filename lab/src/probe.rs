//! Looks for tools and headers, the same way for `lab doctor` and before a build.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::catalogue::Need;

/// What was found of one need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// There, with the first line of what it says about its version.
    Yes(String),
    /// Not there.
    No,
}

/// Looks for one need.
#[must_use]
pub fn probe(need: &Need) -> Found {
    if let Some(tool) = &need.tool {
        if on_path(tool).is_none() {
            return Found::No;
        }
        return Found::Yes(version(tool, &need.version).unwrap_or_default());
    }
    if let Some((tool, arguments)) = need.check.split_first() {
        return version(tool, arguments).map_or(Found::No, Found::Yes);
    }
    match &need.header {
        Some(header) if header_compiles(header) => Found::Yes(format!("<{header}>")),
        Some(_) => Found::No,
        None => Found::Yes(String::new()),
    }
}

/// The file that running `tool` would start.
#[must_use]
pub fn on_path(tool: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(tool))
        .find(|file| file.is_file())
}

/// The first line `tool` prints when asked for its version.
#[must_use]
pub fn version(tool: &str, arguments: &[String]) -> Option<String> {
    let output = Command::new(tool)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    // Some print it as an error.
    let said = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    let line = said.iter().flat_map(|text| text.lines()).next();
    output
        .status
        .success()
        .then(|| line.unwrap_or_default().trim().to_owned())
}

/// Asks the compiler instead of guessing where it looks for headers.
fn header_compiles(header: &str) -> bool {
    use std::io::Write;
    let compiler = Command::new("cc")
        .args(["-E", "-x", "c", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut compiler) = compiler else {
        return false;
    };
    let written = compiler
        .stdin
        .take()
        .is_some_and(|mut input| writeln!(input, "#include <{header}>").is_ok());
    compiler.wait().is_ok_and(|status| status.success()) && written
}
