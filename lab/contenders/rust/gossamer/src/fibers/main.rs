//! Gossamer's fibers: `gossamer-fibers WORKLOAD --kind KIND …`.

#![deny(unsafe_code)]

mod apart;
mod hostage;
mod programs;
#[allow(unsafe_code)]
mod promise;

use std::process::ExitCode;

use channels::Asked;
use gossamer::{Runtime, Wait};

use gossamer_contender::args::{self, Args, said};
use gossamer_contender::{Failure, end};

use self::programs::{anywhere, here};
use self::promise::FIBERS;

/// A workload with its options.
enum Work {
    Ring { hops: u64, order: Vec<usize> },
    Spawn { spawns: u64, batch: usize },
    Yield { yields: u64, fibers: u64 },
    Park { fibers: u64 },
    PingPong { trips: u64, pairs: u64 },
    Skynet { leaves: u64 },
    OneToOne(Asked),
    ToOne(Asked),
}

impl Work {
    fn asked(args: &Args) -> Result<Self, Failure> {
        let only = |options: &[&str]| args.only(&[&["--kind"], options].concat()).map(drop);
        let number = |option: &str, usual| args.number(option, usual);
        Ok(match args.workload.as_str() {
            "ring" => {
                only(&["--threads", "--hops", "--order"])?;
                let threads = args.count("--threads", 503)?;
                Self::Ring {
                    hops: number("--hops", 1_000)?,
                    order: waiting::order(threads, args.text("--order", "forward"))?,
                }
            }
            "spawn" => {
                only(&["--spawns", "--batch"])?;
                Self::Spawn {
                    spawns: number("--spawns", 1_000)?,
                    batch: args.count("--batch", 1)?,
                }
            }
            "yield" => {
                only(&["--yields", "--tasks"])?;
                Self::Yield {
                    yields: number("--yields", 1_000)?,
                    fibers: number("--tasks", 20)?,
                }
            }
            "park" => {
                only(&["--threads"])?;
                Self::Park {
                    fibers: number("--threads", 1_000)?,
                }
            }
            "pingpong" => {
                only(&["--trips", "--pairs"])?;
                Self::PingPong {
                    trips: number("--trips", 1_000)?,
                    pairs: number("--pairs", 1)?,
                }
            }
            "skynet" => {
                only(&["--leaves"])?;
                Self::Skynet {
                    leaves: number("--leaves", 1_000)?,
                }
            }
            "spsc" | "mpsc" => {
                args.only(Asked::options(&args.workload))?;
                let asked = Asked::of(&args.workload, number, args.text("--receive", "one"))?;
                match args.workload.as_str() {
                    "spsc" => Self::OneToOne(asked),
                    _ if asked.many => {
                        return Err("--receive many: fibers have none".to_owned().into());
                    }
                    _ => Self::ToOne(asked),
                }
            }
            other => return Err(format!("unknown workload '{other}'").into()),
        })
    }
}

/// The program of a workload, of one of the two modules.
macro_rules! program {
    ($module:ident, $work:expr) => {
        match $work {
            Work::Ring { hops, order } => $module::ring(hops, &order),
            Work::Spawn { spawns, batch } => $module::spawns(spawns, batch),
            Work::Yield { yields, fibers } => $module::yields(yields, fibers),
            Work::Park { fibers } => $module::park(fibers),
            Work::PingPong { trips, pairs } => $module::ping_pong(trips, pairs),
            Work::Skynet { leaves } => $module::skynet(0, leaves),
            Work::OneToOne(asked) => $module::one_to_one(&asked),
            Work::ToOne(asked) => $module::to_one(&asked),
        }
    };
}

fn run(words: impl Iterator<Item = String>) -> Result<u64, Failure> {
    let args = args::parse(words)?;
    if args.workload == "hostage" {
        return hostage::run(&args, FIBERS);
    }
    let work = Work::asked(&args)?;
    let runtime = |kind: &str| -> Result<&'static Runtime, Failure> {
        let (kind, fibers) = match kind.strip_suffix("-64k") {
            Some(kind) => (kind, FIBERS.stack_size(64 << 10)),
            None => (kind, FIBERS),
        };
        let built = Runtime::builder()
            .model(args.model_of(kind)?)
            .fibers(fibers)
            .build();
        Ok(Box::leak(Box::new(built.map_err(said)?)))
    };
    let ran = match (args.kind(), work) {
        ("single-local", work) => {
            let program = || program!(here, work);
            runtime("single")?.block_on(async { gossamer::spawn_local_fiber(program).await })
        }
        ("pool-2-apart", Work::Ring { hops, order }) => runtime("pool-2")?
            .spawn_fiber(move || apart::ring(hops, &order))
            .wait(),
        (kind, work) => runtime(kind)?
            .spawn_fiber(move || program!(anywhere, work))
            .wait(),
    };
    ran.map_err(said)
}

fn main() -> ExitCode {
    end(run(std::env::args().skip(1)))
}
