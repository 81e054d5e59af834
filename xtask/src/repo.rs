//! The repository as the checks see it: every text file that git would track, held in memory.
//!
//! Checks take a [`Repo`] and never touch the disk, so that a test plants a bad file as a string.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};

use crate::source::Source;

/// One text file.
pub struct File {
    /// The path from the root, with forward slashes.
    pub path: String,
    /// The whole text.
    pub text: String,
    /// The text split into code and comments, for a `.rs` file.
    pub source: Option<Source>,
}

impl File {
    fn new(path: String, text: String) -> File {
        let source = path.ends_with(".rs").then(|| Source::new(&text));
        File { path, text, source }
    }

    /// Whether the whole file is test code: in a folder `tests`, or named `tests.rs` or `*_tests.rs`.
    pub fn is_test(&self) -> bool {
        self.path
            .split('/')
            .any(|part| part == "tests" || part == "tests.rs")
            || self.path.ends_with("_tests.rs")
    }

    /// Whether the file is a crate's own code: under `crates/*/src` and no test.
    pub fn is_crate_source(&self) -> bool {
        let mut parts = self.path.split('/');
        parts.next() == Some("crates") && parts.nth(1) == Some("src") && !self.is_test()
    }
}

/// All text files by path, and the names of the others (links may point at a picture).
#[derive(Default)]
pub struct Repo {
    files: BTreeMap<String, File>,
    binaries: Vec<String>,
}

impl Repo {
    /// Reads every file below `root` that git does not ignore; `target` and `.git` are skipped.
    ///
    /// # Errors
    /// When a file that was listed cannot be read.
    pub fn load(root: &Path) -> Result<Repo> {
        let mut repo = Repo::default();
        let walk = ignore::WalkBuilder::new(root)
            .hidden(false)
            .parents(false)
            .require_git(false)
            .filter_entry(|entry| entry.file_name() != ".git" && entry.file_name() != "target")
            .build();
        for entry in walk {
            let entry = entry.context("walking the repository")?;
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                continue;
            }
            let path = entry
                .path()
                .strip_prefix(root)?
                .to_string_lossy()
                .replace('\\', "/");
            let bytes = std::fs::read(entry.path()).with_context(|| format!("reading {path}"))?;
            match String::from_utf8(bytes) {
                Ok(text) => repo.insert(path, text),
                Err(_) => repo.binaries.push(path),
            }
        }
        Ok(repo)
    }

    /// A repository made of the given paths and texts.
    pub fn of(files: &[(&str, &str)]) -> Repo {
        let mut repo = Repo::default();
        for (path, text) in files {
            repo.insert((*path).to_string(), (*text).to_string());
        }
        repo
    }

    fn insert(&mut self, path: String, text: String) {
        self.files.insert(path.clone(), File::new(path, text));
    }

    /// All text files, sorted by path.
    pub fn files(&self) -> impl Iterator<Item = &File> {
        self.files.values()
    }

    /// All Rust files with their split text, sorted by path.
    pub fn rust(&self) -> impl Iterator<Item = (&File, &Source)> {
        self.files()
            .filter_map(|file| file.source.as_ref().map(|source| (file, source)))
    }

    /// The text file at `path`.
    pub fn get(&self, path: &str) -> Option<&File> {
        self.files.get(path)
    }

    /// Whether `path` is a file or a folder that holds one.
    pub fn has(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        let mut paths = self.files.keys().chain(&self.binaries);
        path.is_empty() || paths.any(|known| known == path || known.starts_with(&folder))
    }
}
