//! The command line: what may be asked for, and what becomes of it.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use console::Term;

use crate::chart::{load_font, write_png, write_svg};
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::Progress;
use crate::report::Report;
use crate::simulate::Simulated;
use crate::{odds, roll, seed};

/// The width of a table if nobody says otherwise.
const WIDTH: usize = 80;
/// More runs would take hours.
const MOST_RUNS: u64 = 10_000_000_000;

/// Random experiments with dice: exact probabilities, simulations, and charts of them.
#[derive(Debug, Parser)]
#[command(version, after_help = HELP)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

const HELP: &str = "\
Expressions:
  3d6, d20, d%           the sum of three dice with 6 sides, one with 20, one with 100
  4d6 drop lowest        also keep highest 3, keep lowest, drop highest 2; short: dl, kh3, kl, dh2
  3d6 explode 2          a die that shows its highest side is rolled again, 2 times at most (5 if
                         no number is given), and its rolls add up; short: 3d6!2
  3d6 reroll 2           a die that shows 2 or less (1 if no number is given) is rolled once more
  2 * (d6 + 1) - d4      numbers, + - * and parentheses; each die is rolled on its own
  3d6 >= 15              for p: >= > <= < = !=";

#[derive(Debug, Subcommand)]
enum Command {
    /// Shows every outcome of an expression with its exact probability.
    #[command(after_help = HELP)]
    Roll {
        #[command(flatten)]
        expression: Words,
        #[command(flatten)]
        format: Format,
    },
    /// Tells how probable it is that a comparison holds, such as "3d6 >= 15".
    #[command(after_help = HELP)]
    P {
        #[command(flatten)]
        comparison: Words,
        /// Print one JSON object instead.
        #[arg(long)]
        json: bool,
    },
    /// Rolls an expression many times, and counts its outcomes.
    #[command(after_help = HELP)]
    Sim {
        #[command(flatten)]
        expression: Words,
        /// How many times.
        #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=MOST_RUNS))]
        runs: u64,
        /// The same seed gives the same outcomes; a new one each time if not given.
        #[arg(long, value_name = "N")]
        seed: Option<u64>,
        #[command(flatten)]
        format: Format,
    },
    /// Shows what "Warm fuzzy things for random simulations" (2008) does: three dice, and an extra roll for a six.
    Seed {
        /// What the one simulation is drawn from; a new one each time if not given.
        #[arg(long, value_name = "N")]
        seed: Option<u64>,
        #[command(flatten)]
        format: Format,
    },
}

/// An expression, as one word or several.
#[derive(Debug, Args)]
struct Words {
    /// Such as 3d6 or "4d6 drop lowest": see below; in quotes where the shell would read it, behind -- if it begins with a minus.
    #[arg(required = true, value_name = "EXPRESSION")]
    words: Vec<String>,
}

impl Words {
    fn text(&self) -> String {
        self.words.join(" ")
    }
}

#[derive(Debug, Args)]
struct Format {
    /// Draw a bar chart into this SVG file.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Draw a bar chart into this PNG file.
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,
    /// Print one JSON object instead.
    #[arg(long)]
    json: bool,
}

/// The files to be drawn.
#[derive(Default)]
struct Pictures {
    svg: Option<Output>,
    png: Option<Output>,
}

impl Pictures {
    /// Checks that they can be drawn.
    fn prepare(format: &Format) -> Result<Pictures, Failure> {
        let prepare = |path: &Option<PathBuf>, ending| {
            let path = path.as_deref();
            path.map(|path| Output::prepare(path, ending)).transpose()
        };
        let (svg, png) = (prepare(&format.svg, ".svg")?, prepare(&format.png, ".png")?);
        if let (Some(svg), Some(png)) = (&svg, &png)
            && svg.is_same(png)
        {
            let message = format!("--svg and --png name one file, {}: give two", svg.name());
            return Err(Failure::Input(message));
        }
        if png.is_some() {
            load_font().map_err(Failure::Other)?;
        }
        Ok(Pictures { svg, png })
    }

    fn draw(&self, report: &Report) -> Result<(), Failure> {
        if let Some(svg) = &self.svg {
            svg.write(|file| write_svg(&report.plots, file))?;
        }
        if let Some(png) = &self.png {
            png.write(|file| write_png(&report.plots, file))?;
        }
        Ok(())
    }
}

/// Does what was asked for.
///
/// # Errors
/// The input is bad, or an output cannot be written.
pub fn execute(cli: &Cli) -> Result<(), Failure> {
    let width = width();
    let computing = || Progress::new("computing exact probabilities");
    let (report, pictures, is_json) = match &cli.command {
        Command::Roll { expression, format } => {
            let pictures = Pictures::prepare(format)?;
            let progress = computing();
            let report = roll::report(&expression.text(), width)?;
            drop(progress);
            (report, pictures, format.json)
        }
        Command::P { comparison, json } => {
            let progress = computing();
            let report = odds::report(&comparison.text())?;
            drop(progress);
            (report, Pictures::default(), *json)
        }
        Command::Sim {
            expression,
            runs,
            seed,
            format,
        } => {
            let pictures = Pictures::prepare(format)?;
            let simulated = Simulated {
                text: &expression.text(),
                runs: *runs,
                seed: seed.unwrap_or_else(any_seed),
                width,
            };
            let report = simulated.report(&computing())?;
            (report, pictures, format.json)
        }
        Command::Seed { seed, format } => {
            let pictures = Pictures::prepare(format)?;
            let report = seed::report(seed.unwrap_or_else(any_seed), width)?;
            (report, pictures, format.json)
        }
    };
    pictures.draw(&report)?;
    let text = match is_json {
        true => format!("{:#}\n", report.json),
        false => report.text,
    };
    let written = io::stdout().write_all(text.as_bytes());
    written.map_err(|error| Failure::Other(format!("cannot write the output: {error}")))
}

/// The terminal's width, if the output goes to one.
fn width() -> usize {
    let size = Term::stdout().size_checked();
    size.map_or(WIDTH, |(_, columns)| columns.into())
}

/// A new one each time, of few enough digits to be typed again.
fn any_seed() -> u64 {
    RandomState::new().build_hasher().finish() % 1_000_000_000
}
