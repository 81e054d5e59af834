//! The command line: `lab`, `lab run WORKLOAD …`, `lab list`, `lab doctor`, `lab time PROGRAM…`,
//! `lab geomean FILE`, and what reads results again: `lab report`, `lab record`, `lab compare`.
//!
//! Each workload's subcommand of `run` is made from its description in [`crate::workloads`], with
//! the same [`Common`] options beside its own.

use std::path::PathBuf;

use clap::builder::PossibleValue;
use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Args, FromArgMatches, Parser, Subcommand};
use serde_json::json;

use crate::format::thousands;
use crate::timing;
use crate::workload::{Kind, Opt, Request, Usual, Workload};
use crate::workloads::{WORKLOADS, find};
use crate::{client, compare, geomean, rates, record, report};

const RUNS_MAX: u64 = 1_000;
const TIMEOUT_MAX_S: u64 = 86_400;
/// What each contender runs once, unless asked for more: a minute of `idle` is as good as five.
const ONE_RUN: [&str; 1] = ["idle"];

/// Runs the same workload on many kinds of threads and tells what each one cost.
///
/// Without a command: the thread ring on every contender found, in about two minutes, building
/// apart; a table on the terminal, and a report under target/lab.
#[derive(Debug, Parser)]
#[command(name = "lab", version)]
pub struct Cli {
    /// What to do; nothing means the ring on every contender, sized to take two minutes.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The list of contenders to use instead of lab/contenders (for tests).
    #[arg(long, global = true, hide = true, value_name = "FILE")]
    pub contenders: Option<PathBuf>,
    /// Where reports go instead of target/lab (for tests).
    #[arg(long, global = true, hide = true, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// How long a tool may take to answer, and a build to end (for tests).
    #[arg(long, global = true, hide = true, value_name = "SECONDS")]
    pub patience: Option<u64>,
}

/// What the lab can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure one workload on the contenders.
    Run {
        /// The workload and its options.
        #[command(subcommand)]
        workload: Asked,
    },
    /// The tables that the project grew from, as printed, and beside them the same measured now (three minutes).
    Seeds(SeedsOptions),
    /// List the workloads and the contenders, and what each one is.
    List,
    /// Tell which tools are installed, which version, and how to install the rest.
    Doctor {
        /// Print only the Debian packages that bring what is missing, for `xargs apt-get install`.
        #[arg(long)]
        packages: bool,
    },
    /// Make the report, a page that needs nothing beside it, of results measured before.
    Report(report::Asked),
    /// Keep the results as a record: JSON, CSV and a README in a folder of lab/records.
    Record(record::Asked),
    /// Tell what changed beyond noise between two results files or records.
    Compare(compare::Asked),
    /// Tell what any program costs: time, memory of all its processes, energy.
    Time(timing::Options),
    /// Print the geometric means of a file of times, rates and memories, as the Benben seed does.
    Geomean(geomean::Options),
    /// Start a server and be its client: what contenders of http, connect, echo, idle and stuck are run below.
    Client(client::Options),
}

/// What was asked for after `run`.
#[derive(Debug)]
pub enum Asked {
    /// A workload, its options, and those that all share.
    Known(Box<(Request, Common)>),
    /// `all` or a range of sizes, and the options of these.
    Series(&'static str, Series),
    /// Anything else, kept so that the error can name the valid ones.
    Unknown(String),
}

/// The options every workload has.
#[derive(Debug, Clone, Args)]
pub struct Common {
    /// Only these contenders, by the names `lab list` shows, separated by commas.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub only: Vec<String>,
    /// How many times each contender runs.
    #[arg(long, value_name = "N", default_value = "5", value_parser = runs)]
    pub runs: u32,
    /// Also write the results as JSON to this file, after every single run.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Stop a contender whose single run takes longer than this, and call it `timeout`.
    #[arg(long, value_name = "SECONDS", default_value = "120", value_parser = timeout)]
    pub timeout: u64,
    /// Count instructions an operation as well, under valgrind.
    #[arg(long)]
    pub count: bool,
    /// Who has 100 % where there is a comparison; only the workloads that have one take it.
    #[arg(skip)]
    pub against: Option<String>,
}

/// The options of `run all` and of a range of sizes.
#[derive(Debug, Clone, Args)]
pub struct Series {
    /// Minutes instead of an hour: fewer operations, runs and sizes.
    #[arg(long)]
    pub quick: bool,
    /// Only these contenders, by the names `lab list` shows, separated by commas.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub only: Vec<String>,
    /// How many times each contender runs [without it: 5, sizes 2; with --quick 3, sizes once].
    #[arg(long, value_name = "N", value_parser = runs)]
    pub runs: Option<u32>,
    /// Stop a contender whose single run takes longer than this, and call it `timeout`.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = timeout)]
    pub timeout: u64,
    /// Measure for so long at most, and cut who would take longer than its share of it [without it: `all`
    /// 3,300, with --quick 270; the others without an end].
    #[arg(long, value_name = "SECONDS", value_parser = timeout)]
    pub within: Option<u64>,
}

/// The options of `lab seeds`.
#[derive(Debug, Clone, Args)]
pub struct SeedsOptions {
    /// Measure nothing: take these results of the ring, as the lab wrote them.
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    /// How many times each contender runs.
    #[arg(long, value_name = "N", default_value = "3", value_parser = runs)]
    pub runs: u32,
    /// Stop a contender whose single run takes longer than this, and call it `timeout`.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = timeout)]
    pub timeout: u64,
}

/// What `run` knows beside the workloads, and a line on each.
pub const SERIES: [(&str, &str); 4] = [
    (
        "all",
        "Every workload, one after the other, in less than an hour (--quick: in less than five minutes)",
    ),
    (
        "sizes",
        "The ring with 10 to 1,000,000 threads: cost against size, with the exponent that fits",
    ),
    (
        "senders",
        "msgsend with 1 to 10,000 senders: cost against their number, and where who is quicker changes",
    ),
    (
        "intervals",
        "msgsend with 1 to 10,000 steps of a calculation before each request: the same against that",
    ),
];

impl Subcommand for Asked {
    fn augment_subcommands(command: clap::Command) -> clap::Command {
        let known = WORKLOADS
            .iter()
            .fold(command.allow_external_subcommands(true), |all, workload| {
                all.subcommand(subcommand(workload))
            });
        SERIES.iter().fold(known, |all, (name, about)| {
            let command = Series::augment_args(clap::Command::new(*name));
            all.subcommand(command.about(*about))
        })
    }

    fn augment_subcommands_for_update(command: clap::Command) -> clap::Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(_name: &str) -> bool {
        // All are caught, the unknown ones, too.
        true
    }
}

impl FromArgMatches for Asked {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Asked, clap::Error> {
        let Some((name, matches)) = matches.subcommand() else {
            return Err(clap::Error::new(ErrorKind::MissingSubcommand));
        };
        if let Some((name, _)) = SERIES.iter().find(|(own, _)| *own == name) {
            return Ok(Asked::Series(name, Series::from_arg_matches(matches)?));
        }
        let Some(workload) = find(name) else {
            return Ok(Asked::Unknown(name.into()));
        };
        let given = |name: &str| match workload.option(name)?.kind {
            Kind::Choice(_) => matches.get_one::<String>(name).map(|text| json!(text)),
            _ => matches.get_one::<u64>(name).map(|number| json!(number)),
        };
        let request = Request {
            workload,
            values: workload.values(given),
            asked: workload
                .option(workload.size)
                .and_then(|size| matches.get_one(size.name).copied()),
        };
        let mut common = Common::from_arg_matches(matches)?;
        if rates::has(name) {
            common.against = matches.get_one("against").cloned();
        }
        Ok(Asked::Known(Box::new((request, common))))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn subcommand(workload: &'static Workload) -> clap::Command {
    let own = workload.options.iter();
    let command = own.fold(clap::Command::new(workload.name), |command, option| {
        let sizes = option.name == workload.size;
        command.arg(argument(option, sizes))
    });
    let against = Arg::new("against")
        .long("against")
        .value_name("CONTENDER")
        .help("Who has 100 % in the comparison [without it: the quickest that is not ours]");
    let command = match rates::has(workload.name) {
        true => command.arg(against),
        false => command,
    };
    // Last: the common options come with a description of their own.
    let command = Common::augment_args(command).about(workload.about);
    match ONE_RUN.contains(&workload.name) {
        true => command.mut_arg("runs", |runs| runs.default_value("1")),
        false => command,
    }
}

/// The usual value stands in the help only: whether one was given makes a difference to the size.
fn argument(option: &'static Opt, sizes: bool) -> Arg {
    let argument = Arg::new(option.name).long(option.name);
    match option.kind {
        Kind::Choice(names) => {
            let values = names
                .iter()
                .map(|(name, help)| PossibleValue::new(*name).help(*help));
            let help = format!("{} [without it: {}]", option.help, names[0].0);
            argument
                .value_name("NAME")
                .help(help)
                .value_parser(values.collect::<Vec<_>>())
        }
        Kind::Number { range, usual, why } => argument
            .value_name("N")
            .help(number_help(option, usual, sizes))
            .value_parser(move |text: &str| number(text, range, why)),
        Kind::PowerOfTen { range, usual, why } => argument
            .value_name("N")
            .help(number_help(option, usual, sizes))
            .value_parser(move |text: &str| power_of_ten(text, range, why)),
    }
}

fn number_help(option: &Opt, usual: Usual, sizes: bool) -> String {
    let usual = match usual {
        Usual::Always(number) => thousands(number),
        Usual::By(other, numbers) => {
            let numbers: Vec<String> = numbers.iter().copied().map(thousands).collect();
            format!("by --{other} {}", numbers.join(" or "))
        }
    };
    let fewer = if sizes { ", slow contenders fewer" } else { "" };
    format!("{} [without it: {usual}{fewer}]", option.help)
}

fn number(text: &str, [least, most]: [u64; 2], what: &str) -> Result<u64, String> {
    match text.parse::<u64>() {
        Ok(value) if (least..=most).contains(&value) => Ok(value),
        _ => Err(format!(
            "{what}; give a whole number from {least} to {most}"
        )),
    }
}

fn power_of_ten(text: &str, [least, most]: [u64; 2], what: &str) -> Result<u64, String> {
    match text.parse::<u64>() {
        Ok(value)
            if (least..=most).contains(&value)
                && value.checked_ilog10().map(|log| 10_u64.pow(log)) == Some(value) =>
        {
            Ok(value)
        }
        _ => Err(format!(
            "{what}; give a power of ten from {least} to {most}"
        )),
    }
}

fn runs(text: &str) -> Result<u32, String> {
    let runs = number(text, [1, RUNS_MAX], "each contender runs at least once")?;
    u32::try_from(runs).map_err(|error| error.to_string())
}

fn timeout(text: &str) -> Result<u64, String> {
    let range = [1, TIMEOUT_MAX_S];
    number(text, range, "measuring takes at least one second")
}
