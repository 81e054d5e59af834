//! Looks for tools and headers, the same way for `lab doctor`, before a build and for the record.
//!
//! A tool may be replaced by anything, so it is asked within limits; and once only, because the
//! answer is wanted at every build and before every measuring.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::Result;

use crate::bounded::{self, End, Limits};
use crate::catalogue::Need;
use crate::error::Interrupted;
use crate::format::shorten;

/// How long a tool may take to say its version, in seconds.
const ANSWER_S: u64 = 30;
/// How long a build may take, in seconds.
const BUILD_S: u64 = 20 * 60;
const MIB: usize = 1 << 20;

/// What was found of one need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// There, with the first line of what it says about its version.
    Yes(String),
    /// Not there.
    No,
    /// There, but it was asked in vain; this is what it did instead of answering.
    Mute(String),
}

/// The tools of the machine, and what those that were asked have said.
#[derive(Debug)]
pub struct Tools {
    asking: Limits,
    building: Limits,
    stop: Arc<AtomicUsize>,
    answers: RefCell<BTreeMap<Vec<String>, Found>>,
}

impl Tools {
    /// Listens to signals from now on. `patience_s` replaces both limits of time, for tests.
    ///
    /// # Errors
    /// Signals cannot be listened to.
    pub fn new(patience_s: Option<u64>) -> Result<Tools> {
        let limits = |seconds: u64, output_max: usize, kept: usize| Limits {
            time: Duration::from_secs(patience_s.unwrap_or(seconds)),
            output_max,
            kept,
        };
        Ok(Tools {
            // The version stands in the first line.
            asking: limits(ANSWER_S, MIB, MIB),
            // Of a build's output only the end is of interest.
            building: limits(BUILD_S, 64 * MIB, 16 << 10),
            stop: listen()?,
            answers: RefCell::default(),
        })
    }

    /// What a build may use up.
    #[must_use]
    pub fn building(&self) -> &Limits {
        &self.building
    }

    /// The signal that came to the lab, or 0.
    #[must_use]
    pub fn stop(&self) -> &AtomicUsize {
        &self.stop
    }

    /// Goes on, unless a signal came.
    ///
    /// # Errors
    /// [`Interrupted`].
    pub fn go_on(&self) -> Result<(), Interrupted> {
        match self.stop.load(Ordering::Relaxed) {
            0 => Ok(()),
            signal => Err(Interrupted(signal)),
        }
    }

    /// Looks for one need.
    #[must_use]
    pub fn probe(&self, need: &Need) -> Found {
        if let Some(tool) = &need.tool {
            if on_path(tool).is_none() {
                return Found::No;
            }
            let words = std::iter::once(tool).chain(&need.version);
            return match self.ask(words) {
                // It is there, whatever it thinks of the question.
                Found::No => Found::Yes(String::new()),
                answer => answer,
            };
        }
        if !need.check.is_empty() {
            return self.ask(&need.check);
        }
        let Some(header) = &need.header else {
            return Found::Yes(String::new());
        };
        // The compiler is asked instead of guessing where it looks for headers.
        let words = [
            "cc",
            "-fsyntax-only",
            "-include",
            header.as_str(),
            "-x",
            "c",
            "/dev/null",
        ];
        match self.ask(words) {
            Found::Yes(_) => Found::Yes(format!("<{header}>")),
            answer => answer,
        }
    }

    /// Why nothing can be done that needs this, if so.
    #[must_use]
    pub fn lack(&self, need: &Need) -> Option<String> {
        match self.probe(need) {
            Found::Yes(_) => None,
            Found::No => Some(format!("{} is not installed ({})", need.name, need.install)),
            Found::Mute(what) => Some(format!("{} {what}", need.name)),
        }
    }

    /// The first line that this command prints if it ends well.
    pub fn ask(&self, words: impl IntoIterator<Item = impl Into<String>>) -> Found {
        let words: Vec<String> = words.into_iter().map(Into::into).collect();
        if let Some(answer) = self.answers.borrow().get(&words) {
            return answer.clone();
        }
        let answer = self.answer(&words);
        // Who was interrupted may be asked again.
        if self.go_on().is_ok() {
            self.answers.borrow_mut().insert(words, answer.clone());
        }
        answer
    }

    fn answer(&self, words: &[String]) -> Found {
        let Some((tool, arguments)) = words.split_first() else {
            return Found::No;
        };
        let mut command = Command::new(tool);
        let Ok(ran) = bounded::run(command.args(arguments), &self.asking, &self.stop) else {
            return Found::No;
        };
        match ran.end {
            End::Exited(status) if status.success() => {
                // Some print it as an error.
                let mut lines = ran.stdout.lines().chain(ran.stderr.lines());
                Found::Yes(shorten(lines.next().unwrap_or_default()))
            }
            End::Exited(_) => Found::No,
            End::Late => Found::Mute(format!("did not answer within {}", self.asking.time_text())),
            End::Flooded => Found::Mute(self.asking.flood_text()),
            End::Interrupted(_) => Found::Mute("was interrupted".into()),
        }
    }
}

/// The number of the signal that comes to the lab from now on, 0 until then.
///
/// # Errors
/// The system refuses it.
pub fn listen() -> std::io::Result<Arc<AtomicUsize>> {
    let stop = Arc::new(AtomicUsize::new(0));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register_usize(signal, stop.clone(), signal as usize)?;
    }
    Ok(stop)
}

/// The file that running `tool` would start.
#[must_use]
pub fn on_path(tool: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(tool))
        .find(|file| file.is_file())
}
