//! What each command does, from the parsed command line to the exit code.

use std::collections::BTreeSet;

use anyhow::Result;
use clap::Parser;

use crate::catalogue::{Catalogue, Contender};
use crate::cli::{Asked, Cli, Command};
pub use crate::error::BadInput;
use crate::geomean;
use crate::paths::Paths;
use crate::probe::{Found, probe};
use crate::sayln;
use crate::timing;
use crate::workloads::WORKLOADS;
use crate::{compare, record, report, seeds, series, session};

/// Does what the command line says and returns the exit code.
///
/// # Errors
/// [`BadInput`], or whatever keeps the lab itself from working.
pub fn execute(cli: Cli) -> Result<u8> {
    // The report's own `--out` is a file; the tests' one of the same name would be the folder.
    let own = matches!(cli.command, Some(Command::Report(_)));
    let paths = Paths::new(cli.contenders, cli.out.filter(|_| !own));
    let catalogue = || Catalogue::load(&paths.contenders);
    match cli.command {
        None => {
            sayln!(
                "The thread ring on every contender found; `lab list` names the other workloads."
            );
            // The defaults stand in the options themselves, so parse them from there.
            match Cli::try_parse_from(["lab", "run", "ring"])?.command {
                Some(Command::Run { workload }) => measure(&catalogue()?, &paths, workload),
                _ => unreachable!("`lab run ring` is a run"),
            }
        }
        Some(Command::Run { workload }) => measure(&catalogue()?, &paths, workload),
        Some(Command::Seeds(options)) => seeds::run(&catalogue()?, &paths, &options),
        Some(Command::List) => {
            list(&catalogue()?);
            Ok(0)
        }
        Some(Command::Doctor { packages: true }) => {
            packages(&catalogue()?);
            Ok(0)
        }
        Some(Command::Doctor { packages: false }) => {
            doctor(&catalogue()?);
            Ok(0)
        }
        Some(Command::Report(asked)) => report::run(&asked, &paths),
        Some(Command::Record(asked)) => record::run(&asked, &paths),
        Some(Command::Compare(asked)) => compare::run(&asked),
        Some(Command::Time(options)) => timing::run(&options, &paths),
        Some(Command::Geomean(options)) => geomean::run(&options),
    }
}

fn measure(catalogue: &Catalogue, paths: &Paths, asked: Asked) -> Result<u8> {
    match asked {
        Asked::Known(asked) => session::run(catalogue, paths, &asked.0, &asked.1),
        Asked::Series(name, options) => series::run(catalogue, paths, name, &options),
        Asked::Unknown(given) => {
            let names = WORKLOADS.iter().map(|workload| workload.name);
            let valid: Vec<&str> = names.chain(["all", "sizes"]).collect();
            let valid = valid.join(", ");
            let message = format!("unknown workload '{given}'; the valid ones are: {valid}");
            Err(BadInput(message).into())
        }
    }
}

fn list(catalogue: &Catalogue) {
    sayln!("workloads (lab run WORKLOAD, lab run WORKLOAD --help):");
    for workload in &WORKLOADS {
        sayln!("  {:<34} {}", workload.name, workload.about);
    }
    sayln!("\ncontenders (--only A,B) and the workloads they have:");
    for contender in &catalogue.contenders {
        let own = |name: &&str| contender.workload.contains_key(*name);
        let all = WORKLOADS.iter().map(|workload| workload.name);
        sayln!(
            "  {:<34} {}, {}: {} ({})",
            contender.name,
            contender.language,
            contender.category,
            contender.about,
            all.filter(own).collect::<Vec<&str>>().join(" ")
        );
    }
    if !catalogue.absent.is_empty() {
        sayln!("\nnot installable, history only:");
    }
    for absent in &catalogue.absent {
        sayln!("  {:<34} {}", absent.name, absent.why);
    }
}

fn packages(catalogue: &Catalogue) {
    let missing = catalogue
        .needs
        .iter()
        .filter(|need| probe(need) == Found::No);
    let names: BTreeSet<&String> = missing.flat_map(|need| &need.debian).collect();
    for name in names {
        sayln!("{name}");
    }
}

fn doctor(catalogue: &Catalogue) {
    for need in &catalogue.needs {
        match probe(need) {
            Found::Yes(version) => sayln!("found    {:<14} {version}", need.name),
            Found::No => sayln!("missing  {:<14} {}", need.name, need.install),
        }
    }
    let lacking = |contender: &&Contender| {
        let build = contender
            .build
            .as_ref()
            .and_then(|name| catalogue.build(name))?;
        let need = build.needs.iter().filter_map(|name| catalogue.need(name));
        need.into_iter()
            .find(|need| probe(need) == Found::No)
            .map(|need| need.name.clone())
    };
    let without: Vec<String> = catalogue
        .contenders
        .iter()
        .filter_map(|contender| Some(format!("{} ({})", contender.name, lacking(&contender)?)))
        .collect();
    if without.is_empty() {
        sayln!("\nevery contender can be built");
    } else {
        sayln!("\nwill be skipped: {}", without.join(", "));
    }
}
