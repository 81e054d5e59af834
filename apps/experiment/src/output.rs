//! A file that is replaced only when the new one is complete.

#[cfg(test)]
mod tests;

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use crate::failure::Failure;

/// A file that can be written, later.
#[derive(Debug)]
pub struct Output {
    /// As it was given.
    name: String,
    /// Where it is, behind links.
    target: PathBuf,
    /// What its name ends with: the pictures' writer goes by that.
    ending: &'static str,
}

impl Output {
    /// Checks that the file can be written, before there is anything to lose.
    ///
    /// # Errors
    /// It cannot; the message says why.
    pub fn prepare(path: &Path, ending: &'static str) -> Result<Output, Failure> {
        let name = path.display().to_string();
        let refuse = |cause: String| {
            let message = format!("cannot write {name}: {cause}; give another file");
            Failure::Input(message)
        };
        let target = match fs::canonicalize(path) {
            Ok(target) => {
                // A device or a folder must not be replaced.
                if !target.is_file() {
                    return Err(refuse("it is there, and is no regular file".into()));
                }
                let opened = OpenOptions::new().append(true).open(&target);
                opened.map_err(|error| refuse(error.to_string()))?;
                target
            }
            Err(_) => path.to_path_buf(),
        };
        let output = Output {
            name: name.clone(),
            target,
            ending,
        };
        let beside = output.beside();
        // Of the temporary file, which the message names, a reader knows nothing.
        let in_folder = |error: io::Error| {
            refuse(format!(
                "no file can be made in its folder ({})",
                error.kind()
            ))
        };
        beside.map_err(in_folder)?;
        Ok(output)
    }

    /// The name of the file, as it was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the other one is the same file.
    pub fn is_same(&self, other: &Output) -> bool {
        self.target == other.target
    }

    /// Writes a file beside it, and puts that in its place.
    ///
    /// # Errors
    /// It cannot be written; what was there is still there.
    pub fn write(&self, fill: impl FnOnce(&Path) -> Result<(), String>) -> Result<(), Failure> {
        let refuse = |cause: String| Failure::Other(format!("cannot write {}: {cause}", self.name));
        let beside = self.beside().map_err(|error| refuse(error.to_string()))?;
        fill(beside.path()).map_err(refuse)?;
        if let Ok(old) = fs::metadata(&self.target) {
            let kept = fs::set_permissions(beside.path(), old.permissions());
            kept.map_err(|error| refuse(error.to_string()))?;
        }
        let placed = beside.persist(&self.target);
        placed.map_err(|error| refuse(error.error.to_string()))?;
        Ok(())
    }

    fn beside(&self) -> io::Result<NamedTempFile> {
        let folder = self.target.parent().filter(|path| *path != Path::new(""));
        let mut builder = Builder::new();
        builder.prefix(".experiment-").suffix(self.ending);
        // As any file that a program makes; the usual one of this library is for its owner alone.
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        builder.tempfile_in(folder.unwrap_or(Path::new(".")))
    }
}
