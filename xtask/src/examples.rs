//! Runs the examples of the documentation as a reader would: pasted into a crate that depends on `gossamer-rt` alone.
//!
//! What users meet is documented where it is written, in crates that they do not see. An example there that names such a
//! crate compiles as its own documentation test, and for nobody else.
//!
//! The README's code and the guide's is run as well. Each block says what it is: one that is not, or is never closed,
//! would be left out, and nobody would know.

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
    let mut problems = Vec::new();
    let files = repo.files().filter(shown);
    let examples: Vec<Example> = files
        .flat_map(|file| of_file(file, &mut problems))
        .collect();
    anyhow::ensure!(problems.is_empty(), "{}", problems.join("\n"));
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

/// Here a critical section is the one that `critical-section` has for programs with threads.
fn manifest(root: &Path) -> String {
    format!(
        "[package]\nname = \"examples\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\ncritical-section = {{ version = \"1.2\", features = [\"std\"] }}\n\
         hyper = {{ version = \"1\", default-features = false }}\n\
         gossamer-rt = {{ path = {:?}, features = [\"critical-section\", \"experiment\", \"hyper\", \"net\", \"sim\"] }}\n",
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

/// The examples of a file: in the comments that document, if it is a `.rs` file. Adds what is wrong to `problems`.
fn of_file(file: &File, problems: &mut Vec<String>) -> Vec<Example> {
    let is_code = file.source.is_some();
    let (mut examples, mut open) = (Vec::new(), None::<Example>);
    let never_closed = |example: Option<Example>, problems: &mut Vec<String>| {
        let place = example.map(|it| format!("{}:{}", it.path, it.line));
        problems.extend(place.map(|at| format!("{at}: this block is never closed; expected ```")));
    };
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
            never_closed(open.take(), problems);
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
            (Some(_), Some("")) => {
                let Some(example) = open.take() else { continue };
                match is_rust(&example.info, is_code) {
                    Some(true) => examples.push(example),
                    Some(false) => {}
                    None => problems.push(format!(
                        "{}:{}: this block is `{}`; expected one or more of {RUST:?}, or one of {OTHERS:?}",
                        example.path, example.line, example.info
                    )),
                }
            }
            (Some(_), Some(_)) => never_closed(open.take(), problems),
        }
    }
    never_closed(open, problems);
    examples
}

/// What a block of Rust may be called. One that is not to be run says so.
const RUST: [&str; 4] = ["rust", "no_run", "should_panic", "compile_fail"];
/// What another block may be.
const OTHERS: [&str; 4] = ["text", "sh", "toml", "go"];

/// Whether a block is Rust, by what it says of itself; in a comment it need not say it. `None`: it says nothing known.
fn is_rust(info: &str, is_code: bool) -> Option<bool> {
    let words: Vec<&str> = info.split([',', ' ']).filter(|it| !it.is_empty()).collect();
    let is_error = |word: &str| word.starts_with('E') && word[1..].parse::<u16>().is_ok();
    match words.as_slice() {
        [] => is_code.then_some(true),
        [other] if OTHERS.contains(other) => Some(false),
        rust => rust
            .iter()
            .all(|word| RUST.contains(word) || is_error(word))
            .then_some(true),
    }
}

#[cfg(test)]
mod tests {
    use super::{library, of_file};
    use crate::repo::Repo;

    /// The examples of a file, and what is wrong with it.
    fn both(path: &str, text: &str) -> (Vec<super::Example>, Vec<String>) {
        let repo = Repo::of(&[(path, text)]);
        let mut problems = Vec::new();
        let files = repo.files();
        let examples = files
            .flat_map(|file| of_file(file, &mut problems))
            .collect();
        (examples, problems)
    }

    fn examples(path: &str, text: &str) -> Vec<super::Example> {
        let (examples, problems) = both(path, text);
        assert_eq!(problems, [""; 0]);
        examples
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
        assert_eq!(examples("a.md", "```sh\ncargo\n```\n"), []);
        assert_eq!(examples("a.md", "```rust\nyes();\n```\n").len(), 1);
        assert_eq!(
            examples("a.md", "```rust,compile_fail,E0277\nyes();\n```\n").len(),
            1
        );
    }

    #[test]
    fn a_block_that_would_be_left_out_is_an_error() {
        let wrong = |path, text| both(path, text).1;
        let expected = "expected one or more of [\"rust\", \"no_run\", \"should_panic\", \"compile_fail\"], \
                        or one of [\"text\", \"sh\", \"toml\", \"go\"]";
        assert_eq!(
            wrong("a.md", "Words.\n```rsut\nno();\n```\n"),
            [format!("a.md:2: this block is `rsut`; {expected}")]
        );
        assert_eq!(
            wrong("a.md", "```\nno();\n```\n"),
            [format!("a.md:1: this block is ``; {expected}")]
        );
        let open = ["a.md:1: this block is never closed; expected ```"];
        assert_eq!(wrong("a.md", "```rust\nno();\n"), open);
        assert_eq!(
            wrong("a.md", "```rust\nno();\n```rust\nyes();\n```\n")[0],
            open[0]
        );
        let open = ["a.rs:1: this block is never closed; expected ```"];
        assert_eq!(wrong("a.rs", "/// ```\n/// no();\nfn f() {}\n"), open);
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
