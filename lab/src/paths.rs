//! Where things lie: the contenders' sources, cargo's target folder, and what the lab writes.

use std::path::{Path, PathBuf};

/// The folders of one run of the lab.
#[derive(Debug, Clone)]
pub struct Paths {
    /// The root of the checkout; commands run there and are shown relative to it.
    pub root: PathBuf,
    /// What lists the contenders: a folder with one for each language, or one file.
    pub contenders: PathBuf,
    /// Cargo's target folder, as the environment or the default says.
    pub target: PathBuf,
    /// Where reports go.
    pub out: PathBuf,
    /// Where the lab's own builds go: the launcher and the contenders that are not cargo's.
    pub bin: PathBuf,
}

impl Paths {
    /// The folders for this checkout, with the two that tests replace.
    #[must_use]
    pub fn new(contenders: Option<PathBuf>, out: Option<PathBuf>) -> Paths {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = here.parent().unwrap_or(here).to_path_buf();
        let target = match std::env::var_os("CARGO_TARGET_DIR") {
            // Cargo takes a relative one from the current folder, and so must we.
            Some(given) => absolute(Path::new(&given)),
            None => root.join("target"),
        };
        let out = out.map_or_else(|| target.join("lab"), |given| absolute(&given));
        let contenders =
            contenders.map_or_else(|| here.join("contenders"), |given| absolute(&given));
        Paths {
            bin: out.join("bin"),
            root,
            contenders,
            target,
            out,
        }
    }

    /// Replaces `{bin}`, `{target}`, `{root}` and `{lab}`, the lab itself, in an argument of contenders.toml.
    #[must_use]
    pub fn fill(&self, argument: &str) -> String {
        let lab = std::env::current_exe().unwrap_or_else(|_| "lab".into());
        argument
            .replace("{lab}", &lab.to_string_lossy())
            .replace("{bin}", &self.bin.to_string_lossy())
            .replace("{target}", &self.target.to_string_lossy())
            .replace("{root}", &self.root.to_string_lossy())
    }

    /// A command as text, with the root of the checkout cut off so that it can be copied.
    #[must_use]
    pub fn show(&self, argv: &[String]) -> String {
        let root = format!("{}/", self.root.to_string_lossy());
        argv.iter()
            .map(|word| word.replace(&root, ""))
            .collect::<Vec<_>>()
            .join(" ")
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}
