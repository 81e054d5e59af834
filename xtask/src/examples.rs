//! Runs the examples of the documentation as a reader would: pasted into a crate that depends on `gossamer-rt` alone.
//!
//! What users meet is documented where it is written, in crates that they do not see. An example there that names such a
//! crate compiles as its own documentation test, and for nobody else.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::repo::{File, Repo};

/// An example, and where it is.
#[derive(Debug, PartialEq, Eq)]
pub struct Example {
    /// The file, from the root.
    pub path: String,
    /// The line of its first fence.
    pub line: usize,
    /// What stands behind the first fence: nothing, `no_run`, `compile_fail`.
    pub info: String,
    /// Its lines, those that are hidden from readers too.
    pub lines: Vec<String>,
}

/// Runs all of them; answers whether they pass.
///
/// # Errors
/// When a file cannot be read or written, or cargo not be started.
pub fn run(root: &Path) -> Result<bool> {
    let root = root.canonicalize().context("no such folder")?;
    let repo = Repo::load(&root)?;
    let shown = |file: &&File| {
        file.is_crate_source() || file.path == "README.md" || file.path.starts_with("docs/")
    };
    let examples: Vec<Example> = repo.files().filter(shown).flat_map(of_file).collect();
    anyhow::ensure!(!examples.is_empty(), "no example was found");
    let folder = root.join("target/examples");
    fs::create_dir_all(folder.join("src"))?;
    fs::write(folder.join("Cargo.toml"), manifest(&root))?;
    fs::write(folder.join("src/lib.rs"), library(&examples))?;
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock"))?;
    let status = Command::new("cargo")
        .args(["test", "--doc", "--target-dir"])
        .arg(root.join("target"))
        .current_dir(&folder)
        .status()
        .context("cannot start cargo")?;
    let words = if status.success() { "ok" } else { "FAILED" };
    println!("examples: {words} ({} of them)", examples.len());
    Ok(status.success())
}

fn manifest(root: &Path) -> String {
    format!(
        "[package]\nname = \"examples\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\ngossamer-rt = {{ path = {:?}, features = [\"sim\"] }}\n",
        root.join("crates/gossamer")
    )
}

/// A library with a module for each example, which has it as its documentation and is named after its place.
fn library(examples: &[Example]) -> String {
    let mut text = String::new();
    for example in examples {
        let name = example
            .path
            .replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        let (info, line) = (&example.info, example.line);
        // Writing to a string does not fail.
        let _ok = writeln!(text, "/// ```{info}");
        for line in &example.lines {
            let _ok = writeln!(text, "/// {line}");
        }
        let _ok = writeln!(text, "/// ```\npub mod {}_{line} {{}}", name.to_lowercase());
    }
    text
}

/// The examples of a file: in the comments that document, if it is a `.rs` file.
fn of_file(file: &File) -> Vec<Example> {
    let is_code = file.source.is_some();
    let (mut examples, mut open) = (Vec::new(), None::<Example>);
    for (at, line) in file.text.lines().enumerate() {
        let shown = match is_code {
            true => {
                let comment = line.trim_start();
                let comment = comment.strip_prefix("///").or(comment.strip_prefix("//!"));
                comment.map(|text| text.strip_prefix(' ').unwrap_or(text))
            }
            false => Some(line),
        };
        let Some(text) = shown else {
            open = None;
            continue;
        };
        match (&mut open, text.trim_start().strip_prefix("```")) {
            (None, None) => {}
            (None, Some(info)) => {
                open = Some(Example {
                    path: file.path.clone(),
                    line: at + 1,
                    info: info.trim().to_owned(),
                    lines: Vec::new(),
                });
            }
            (Some(example), None) => example.lines.push(text.to_owned()),
            (Some(_), Some(_)) => examples.extend(open.take().filter(|it| is_rust(it, is_code))),
        }
    }
    examples
}

/// Whether a block is Rust. In a document that is said; in a comment what is not said.
fn is_rust(example: &Example, is_code: bool) -> bool {
    let words = example
        .info
        .split([',', ' '])
        .filter(|word| !word.is_empty());
    let marks = ["rust", "no_run", "should_panic", "compile_fail", "ignore"];
    let is_marked = words
        .clone()
        .all(|word| marks.iter().any(|mark| word.starts_with(mark)));
    match is_code {
        true => is_marked,
        false => is_marked && words.count() > 0,
    }
}

#[cfg(test)]
mod tests {
    use super::{library, of_file};
    use crate::repo::Repo;

    fn examples(path: &str, text: &str) -> Vec<super::Example> {
        let repo = Repo::of(&[(path, text)]);
        repo.files().flat_map(of_file).collect()
    }

    #[test]
    fn the_blocks_of_documentation_are_found() {
        let text = "//! Words.\n//! ```\n//! one();\n//! ```\n\n    /// ```no_run\n    /// # two();\n    ///\n    /// ```\n";
        let found = examples("crates/a/src/b.rs", text);
        let seen: Vec<_> = found.iter().map(|it| (it.line, it.info.as_str())).collect();
        assert_eq!(seen, [(2, ""), (6, "no_run")]);
        assert_eq!(found[1].lines, ["# two();", ""]);
    }

    #[test]
    fn other_blocks_are_not() {
        assert_eq!(
            examples("a.rs", "/// ```text\n/// | |\n/// ```\nfn f() {}\n"),
            []
        );
        assert_eq!(examples("a.rs", "// ```\n// no();\n// ```\n"), []);
        assert_eq!(examples("a.md", "```sh\ncargo\n```\n```\nwhat\n```\n"), []);
        assert_eq!(examples("a.md", "```rust\nyes();\n```\n").len(), 1);
    }

    #[test]
    fn each_is_a_module_named_after_its_place() {
        let found = examples("crates/a/src/B.rs", "/// ```\n/// one();\n/// ```\n");
        assert_eq!(
            library(&found),
            "/// ```\n/// one();\n/// ```\npub mod crates_a_src_b_rs_1 {}\n"
        );
    }
}
