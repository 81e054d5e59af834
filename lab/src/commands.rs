//! What each command does, from the parsed command line to the exit code.

use std::collections::BTreeSet;

use anyhow::Result;
use clap::Parser;

use crate::catalogue::{Catalogue, Need};
use crate::cli::{Asked, Cli, Command, SERIES};
pub use crate::error::BadInput;
use crate::geomean;
use crate::paths::Paths;
use crate::probe::{Found, Tools};
use crate::timing;
use crate::workloads::WORKLOADS;
use crate::{client, compare, record, report, seeds, series, session};
use crate::{esayln, sayln};

/// Does what the command line says and returns the exit code.
///
/// # Errors
/// [`BadInput`], or whatever keeps the lab itself from working.
pub fn execute(cli: Cli) -> Result<u8> {
    // The report's own `--out` is a file; the tests' one of the same name would be the folder.
    let own = matches!(cli.command, Some(Command::Report(_)));
    let paths = Paths::new(cli.contenders, cli.out.filter(|_| !own));
    let catalogue = || Catalogue::load(&paths.contenders);
    let tools = || Tools::new(cli.patience);
    match cli.command {
        None => {
            sayln!(
                "The thread ring on every contender found; `lab list` names the other workloads."
            );
            // The defaults stand in the options themselves, so parse them from there.
            match Cli::try_parse_from(["lab", "run", "ring"])?.command {
                Some(Command::Run { workload }) => {
                    measure(&catalogue()?, &paths, &tools()?, workload)
                }
                _ => unreachable!("`lab run ring` is a run"),
            }
        }
        Some(Command::Run { workload }) => measure(&catalogue()?, &paths, &tools()?, workload),
        Some(Command::Seeds(options)) => seeds::run(&catalogue()?, &paths, &tools()?, &options),
        Some(Command::List) => {
            list(&catalogue()?);
            Ok(0)
        }
        Some(Command::Doctor { packages: true }) => {
            packages(&catalogue()?, &tools()?)?;
            Ok(0)
        }
        Some(Command::Doctor { packages: false }) => {
            doctor(&catalogue()?, &tools()?)?;
            Ok(0)
        }
        Some(Command::Report(asked)) => report::run(&asked, &paths),
        Some(Command::Record(asked)) => record::run(&asked, &paths),
        Some(Command::Compare(asked)) => compare::run(&asked),
        Some(Command::Time(options)) => timing::run(&options, &paths),
        Some(Command::Geomean(options)) => geomean::run(&options),
        Some(Command::Client(options)) => client::run(&options, &paths),
    }
}

fn measure(catalogue: &Catalogue, paths: &Paths, tools: &Tools, asked: Asked) -> Result<u8> {
    match asked {
        Asked::Known(asked) => session::run(catalogue, paths, tools, &asked.0, &asked.1),
        Asked::Series(name, options) => series::run(catalogue, paths, tools, name, &options),
        Asked::Unknown(given) => {
            let names = WORKLOADS.iter().map(|workload| workload.name);
            let valid: Vec<&str> = names.chain(SERIES.map(|(name, _)| name)).collect();
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
    absent(catalogue);
}

/// What nobody can install, and why.
fn absent(catalogue: &Catalogue) {
    if !catalogue.absent.is_empty() {
        sayln!("\nnot installable, history only:");
    }
    for absent in &catalogue.absent {
        sayln!("  {:<34} {}", absent.name, absent.why);
    }
}

/// Looks for every need in turn.
fn probed<'a>(
    catalogue: &'a Catalogue,
    tools: &Tools,
    mut each: impl FnMut(&'a Need, Found),
) -> Result<()> {
    for need in &catalogue.needs {
        let found = tools.probe(need);
        tools.go_on()?;
        each(need, found);
    }
    Ok(())
}

fn packages(catalogue: &Catalogue, tools: &Tools) -> Result<()> {
    let mut names: BTreeSet<&String> = BTreeSet::new();
    probed(catalogue, tools, |need, found| match found {
        Found::Yes(_) => {}
        Found::No => names.extend(&need.debian),
        // To install it again would hardly help.
        Found::Mute(what) => esayln!("{} {what}", need.name),
    })?;
    for name in names {
        sayln!("{name}");
    }
    Ok(())
}

fn doctor(catalogue: &Catalogue, tools: &Tools) -> Result<()> {
    let mut lacking: BTreeSet<&str> = BTreeSet::new();
    probed(catalogue, tools, |need, found| {
        let (word, what) = match found {
            Found::Yes(version) => ("found", version),
            Found::No => ("missing", need.install.clone()),
            Found::Mute(what) => ("broken", what),
        };
        sayln!("{word:<8} {:<14} {what}", need.name);
        if word != "found" {
            lacking.insert(&need.name);
        }
    })?;
    let without = catalogue.contenders.iter().filter_map(|contender| {
        let build = catalogue.build(contender.build.as_ref()?)?;
        let mut needs = build.needs.iter();
        let lack = needs.find(|need| lacking.contains(need.as_str()))?;
        Some(format!("{} ({lack})", contender.name))
    });
    let without: Vec<String> = without.collect();
    if without.is_empty() {
        sayln!("\nevery contender can be built");
    } else {
        sayln!("\nwill be skipped: {}", without.join(", "));
    }
    absent(catalogue);
    Ok(())
}
