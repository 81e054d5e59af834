//! One command under a time limit, its output in a file.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process_group};

#[path = "../../../tests/patience.rs"]
mod patience;

use patience::Patience;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// With exit code 0.
    Passed,
    /// With another exit code, or by a signal.
    Failed,
    /// It was still running at its limit (in time that the machine had for it), and was ended with all its children.
    TimedOut,
}

/// A command and where it runs.
#[derive(Clone)]
pub struct Job {
    /// The working folder.
    pub folder: PathBuf,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Environment beside what is inherited.
    pub env: BTreeMap<String, String>,
    /// How long it may run.
    pub limit: Duration,
    /// The file that takes what it prints.
    pub log: PathBuf,
}

impl Job {
    /// Runs the command to its end or its limit.
    ///
    /// # Errors
    /// When the program cannot be started or its log cannot be written.
    pub fn run(&self) -> Result<Outcome> {
        let log = File::create(&self.log).with_context(|| format!("{}", self.log.display()))?;
        let (program, arguments) = self.command.split_first().context("an empty command")?;
        let mut child = Command::new(program)
            .args(arguments)
            .current_dir(&self.folder)
            // It would win over RUSTFLAGS.
            .env_remove("CARGO_ENCODED_RUSTFLAGS")
            // Only a mutant has them.
            .env_remove("RUSTC_WORKSPACE_WRAPPER")
            .env_remove("GOSSAMER_MUTANT")
            // As many as in CI.
            .env("GOSSAMER_SCHEDULES", "10000")
            .envs(&self.env)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            // A group of its own, so that the limit ends the tests that cargo started as well.
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start `{program}`"))?;
        self.attend(&mut child)
    }

    fn attend(&self, child: &mut Child) -> Result<Outcome> {
        let mut patience = Patience::new(self.limit);
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(if status.success() {
                    Outcome::Passed
                } else {
                    Outcome::Failed
                });
            }
            if patience.is_over() {
                kill_process_group(Pid::from_child(child), Signal::KILL)?;
                child.wait()?;
                return Ok(Outcome::TimedOut);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Prints the end of the log.
    pub fn show_log(&self) {
        let bytes = std::fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().collect();
        println!("       ran `{}`; its last lines:", self.command.join(" "));
        for line in &lines[lines.len().saturating_sub(30)..] {
            println!("       | {line}");
        }
    }
}
