//! Gossamer's exhaustive exploration, in the workload `schedules`: `gossamer-schedules schedules --kind KIND …`.
//!
//! A schedule is an order of operations; a take, and a put, is one. Kind `schedules` runs the program once for each.
//! Kind `merged` goes on from one of the schedules that lead to the same state: what it counts are runs, each from the
//! beginning of the program to the next choice.
#![forbid(unsafe_code)]

mod programs;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use gossamer::experiment::{Distribution, Error, Limits, Outcome, Probability, Schedules};
use gossamer::sim::Sim;
use gossamer_contender::args::said;
use gossamer_contender::{Failure, end};
use waiting::Options;

/// How the schedules are gone through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Each on its own.
    Schedules,
    /// Those that lead to one state together.
    Merged,
}

impl Kind {
    fn explore<T: Ord, F: Future<Output = T>>(
        self,
        program: impl Fn() -> F,
    ) -> Result<Schedules<T>, Error> {
        match self {
            Kind::Schedules => Distribution::of_schedules(program),
            Kind::Merged => Distribution::of_merged_schedules(&Limits::new(), Sim::new(), program),
        }
    }
}

/// What some explorations found and took.
struct Explored<T> {
    /// The last one.
    found: Schedules<T>,
    /// How often.
    explorations: u64,
    /// Of all of them, and nothing else.
    took: Duration,
}

impl<T: Ord + std::fmt::Debug> Explored<T> {
    /// Explores the program again and again, for so long; once at least.
    fn new<F: Future<Output = T>>(
        kind: Kind,
        time: Duration,
        program: impl Fn() -> F,
    ) -> Result<Self, Failure> {
        let start = Instant::now();
        let mut explorations = 0;
        let (found, took) = loop {
            let found = kind.explore(&program).map_err(said)?;
            explorations += 1;
            let took = start.elapsed();
            if took >= time {
                break (found, took);
            }
        };
        match found.stopped_by() {
            Some(limit) => Err(said(format!("a limit was reached: {limit}"))),
            None if *found.uncovered() != Probability::ZERO => Err(said(found)),
            None => Ok(Explored {
                found,
                explorations,
                took,
            }),
        }
    }

    /// Says the figures of the lab.
    fn say(&self) {
        let us = self.took.as_secs_f64() * 1e6;
        let (schedules, explorations) = (self.found.paths(), self.explorations as f64);
        let all = schedules as f64 * explorations;
        eprintln!(
            "figures: us_per_schedule={} schedules_per_s={} schedules={schedules} exploration_us={}",
            us / all,
            all / us * 1e6,
            us / explorations,
        );
    }

    /// Refuses another number of schedules than there are.
    fn of(self, kind: Kind, schedules: u64) -> Result<Self, Failure> {
        let paths = self.found.paths();
        if kind == Kind::Schedules && paths != schedules {
            return Err(said(format!("{paths} schedules instead of {schedules}")));
        }
        Ok(self)
    }

    /// How many values the program returned, if nothing else came out.
    fn values(&self) -> Result<String, Failure> {
        let mut outcomes = self.found.iter();
        match outcomes.find(|(outcome, ..)| !matches!(outcome, Outcome::Returned(_))) {
            Some((outcome, ..)) => Err(said(format!("an outcome is {outcome:?}"))),
            None => Ok(self.found.iter().len().to_string()),
        }
    }
}

fn run() -> Result<String, Failure> {
    let options = Options::read()?;
    options.only(&["--kind", "--what", "--ms"])?;
    let time = Duration::from_millis(options.number("--ms", 500)?);
    let kind = match options.text("--kind", "schedules") {
        "schedules" => Kind::Schedules,
        "merged" => Kind::Merged,
        other => return Err(format!("--kind {other}: expected schedules or merged").into()),
    };
    match options.text("--what", "three") {
        "three" => {
            let three = Explored::new(kind, time, || programs::own(3, 2))?;
            let three = three.of(kind, 90)?;
            three.say();
            three.values()
        }
        "shared" => {
            let shared = Explored::new(kind, time, || programs::shared(3))?;
            let shared = shared.of(kind, 6)?;
            shared.say();
            shared.values()
        }
        "four" => {
            let four = Explored::new(kind, time, || programs::own(4, 3))?;
            let four = four.of(kind, 369_600)?;
            four.say();
            four.values()
        }
        "philosophers" if kind == Kind::Merged => {
            let dined = Explored::new(kind, time, || programs::dine(5))?;
            dined.say();
            Ok(dined.found.probability(&Outcome::Deadlock).to_string())
        }
        what => Err(format!("--what {what} is not for this kind").into()),
    }
}

fn main() -> ExitCode {
    end(run())
}
