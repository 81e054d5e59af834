//! What each command does, from the parsed command line to the exit code.

use std::fmt;

use anyhow::Result;
use clap::Parser;

use crate::catalogue::{Catalogue, Contender};
use crate::cli::{Cli, Command, Workload};
use crate::paths::Paths;
use crate::probe::{Found, probe};
use crate::session;

/// The workloads: name and what one is.
const WORKLOADS: [(&str, &str); 1] = [(
    "ring",
    "N threads in a ring pass a token H times; one hop is one wake-up",
)];

/// An error in what was asked for: exit code 2, and nothing was written or measured.
#[derive(Debug)]
pub struct BadInput(pub String);

impl fmt::Display for BadInput {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for BadInput {}

/// Does what the command line says and returns the exit code.
///
/// # Errors
/// [`BadInput`], or whatever keeps the lab itself from working.
pub fn execute(cli: Cli) -> Result<u8> {
    let paths = Paths::new(cli.contenders, cli.out);
    let catalogue = Catalogue::load(&paths.contenders)?;
    match cli.command {
        None => {
            println!("The thread ring on every contender found; `lab --help` tells what else.");
            // The defaults stand in the options themselves, so parse them from there.
            let Some(Command::Run {
                workload: Workload::Ring(args),
            }) = Cli::try_parse_from(["lab", "run", "ring"])?.command
            else {
                unreachable!("`lab run ring` is the ring");
            };
            session::run(&catalogue, &paths, &args)
        }
        Some(Command::Run {
            workload: Workload::Ring(args),
        }) => session::run(&catalogue, &paths, &args),
        Some(Command::Run {
            workload: Workload::Unknown(words),
        }) => {
            let valid = WORKLOADS.map(|(name, _)| name).join(", ");
            let given = words.first().map(String::as_str).unwrap_or_default();
            let message = format!("unknown workload '{given}'; the valid ones are: {valid}");
            Err(BadInput(message).into())
        }
        Some(Command::List) => {
            list(&catalogue);
            Ok(0)
        }
        Some(Command::Doctor) => {
            doctor(&catalogue);
            Ok(0)
        }
    }
}

fn list(catalogue: &Catalogue) {
    println!("workloads (lab run WORKLOAD):");
    for (name, about) in WORKLOADS {
        println!("  {name:<34} {about}");
    }
    println!("\ncontenders (--only A,B):");
    for contender in &catalogue.contenders {
        println!(
            "  {:<34} {}: {}",
            contender.name, contender.language, contender.about
        );
    }
}

fn doctor(catalogue: &Catalogue) {
    for need in &catalogue.needs {
        match probe(need) {
            Found::Yes(version) => println!("found    {:<14} {version}", need.name),
            Found::No => println!("missing  {:<14} {}", need.name, need.install),
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
        println!("\nevery contender can be built");
    } else {
        println!("\nwill be skipped: {}", without.join(", "));
    }
}
