//! Running the lab in a folder of its own, with fake contenders, and reading what it wrote.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::patience::Patience;

/// A shell line that answers right: the workload's options are `$1` and on.
pub(crate) const RIGHT: &str = "echo $(( $4 % $2 + 1 ))";
/// How long something may take that a test waits for; reached only when a test fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A folder for one test, with a list of fake contenders.
pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    /// Lists fakes of the ring: a name and a line for the shell each.
    pub(crate) fn with_fakes(fakes: &[(&str, &str)]) -> Place {
        Place::with_fakes_of("ring", fakes)
    }

    /// Lists fakes of a workload; `$0` is its name.
    pub(crate) fn with_fakes_of(workload: &str, fakes: &[(&str, &str)]) -> Place {
        let place = Place::empty();
        let mut text = String::new();
        for (name, line) in fakes {
            write!(
                text,
                "[[contender]]\nname = \"{name}\"\nlanguage = \"sh\"\nabout = \"a fake\"\n\
                 run = [\"/bin/sh\", \"-c\", \'\'\'{line}\'\'\', \"{{workload}}\"]\n\
                 workload.{workload} = {{ cost_ns = 1 }}\n"
            )
            .expect("a string takes everything");
        }
        std::fs::write(place.path("contenders.toml"), text).expect("a temporary folder");
        place
    }

    pub(crate) fn empty() -> Place {
        Place {
            folder: tempfile::tempdir().expect("a temporary folder"),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).expect("our own folder");
        let name = |entry: std::fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        let mut names: Vec<String> = entries.map(|entry| name(entry.expect("listed"))).collect();
        names.sort();
        names
    }

    /// `lab WORDS…` with this folder's contenders if it has any, the real ones if not.
    pub(crate) fn lab(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lab"));
        command
            .args(words.split_whitespace())
            .arg("--out")
            .arg(self.path("out"));
        if self.path("contenders.toml").exists() {
            command
                .arg("--contenders")
                .arg(self.path("contenders.toml"));
        }
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, words: &str) -> Output {
        self.lab(words).output().expect("the lab starts")
    }

    /// `lab WORDS…` as people call it, with `target` in this folder as cargo's target folder.
    pub(crate) fn tool(&self, words: &str) -> Output {
        self.args(&words.split_whitespace().collect::<Vec<_>>())
    }

    /// The same with arguments that may have spaces in them.
    pub(crate) fn args(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lab"));
        command.args(arguments).stdin(Stdio::null());
        command.current_dir(self.folder.path());
        command.env("CARGO_TARGET_DIR", self.path("target"));
        command.output().expect("the lab starts")
    }

    /// All files of the folder and of those in it, sorted.
    pub(crate) fn tree(&self) -> Vec<String> {
        let (mut folders, mut files) = (vec![self.folder.path().to_path_buf()], Vec::new());
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("our own folder") {
                let path = entry.expect("listed").path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let name = path.strip_prefix(self.folder.path()).expect("it is in it");
                files.push(name.to_string_lossy().into_owned());
            }
        }
        files.sort();
        files
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        let text = std::fs::read(self.path(name)).expect("the lab wrote it");
        serde_json::from_slice(&text).expect("it is JSON")
    }

    pub(crate) fn row(&self, json: &str, contender: &str) -> Value {
        let results = self.json(json);
        let rows = results["results"].as_array().expect("rows").clone();
        let found = rows.into_iter().find(|row| row["contender"] == contender);
        found.unwrap_or_else(|| panic!("no row for {contender} in {results:#}"))
    }
}

/// A named pipe and everything that is written to it until its last writer is gone: a test
/// learns that a process has started, and that it has ended, without waiting for any time.
pub(crate) struct Fifo {
    events: mpsc::Receiver<Event>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Line(String),
    Closed,
}

impl Fifo {
    pub(crate) fn new(path: &Path) -> Fifo {
        let made = Command::new("mkfifo")
            .arg(path)
            .status()
            .expect("mkfifo starts");
        assert!(made.success());
        let (tx, events) = mpsc::channel();
        let path = path.to_owned();
        thread::spawn(move || {
            let file = std::fs::File::open(path).expect("the pipe is there");
            for line in std::io::BufRead::lines(std::io::BufReader::new(file)) {
                let _ = tx.send(Event::Line(line.expect("text")));
            }
            let _ = tx.send(Event::Closed);
        });
        Fifo { events }
    }

    pub(crate) fn next(&self) -> Event {
        Patience::new(PATIENCE)
            .recv(&self.events)
            .expect("nothing happened on the pipe")
    }
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
