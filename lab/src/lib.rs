//! The benchmark lab: runs the same workload on many contenders and tells what each one cost.
//!
//! Every contender, ours included, is a process of its own behind a small launcher; the harness
//! links none of them. The modules in the order in which a run goes through them:
//! [`cli`] → [`commands`] → [`workload`], described in [`workloads`] → [`session`], which goes through [`catalogue`] →
//! [`probe`] → [`building`] → [`plan`] → [`launch`] under [`measure`], by its [`clock`], and
//! [`counting`] → [`results`] → [`table`], [`figures`], [`rates`] and [`report`].
//!
//! What was measured before is read by [`inputs`], for [`report`], [`record`] and [`compare`].
//! Commands of their own beside it: [`geomean`], [`timing`], and [`client`], the other side of contenders that are
//! servers. Under all: [`family`], the processes
//! below the lab; `pipes`, what they print; [`bounded`], tools within limits; and [`mod@say`],
//! which prints.

#![forbid(unsafe_code)]

pub mod bounded;
pub mod building;
pub mod catalogue;
pub mod cli;
pub mod client;
pub mod clock;
pub mod commands;
pub mod compare;
pub mod counting;
pub mod error;
pub mod family;
pub mod figures;
pub mod format;
pub mod geomean;
pub mod history;
pub mod input_file;
pub mod inputs;
pub mod launch;
pub mod machine;
pub mod measure;
pub mod paths;
mod pipes;
pub mod plan;
pub mod probe;
pub mod rates;
pub mod record;
pub mod report;
pub mod results;
pub mod say;
pub mod scaling;
pub mod seeds;
pub mod series;
pub mod session;
pub mod slope;
pub mod source;
pub mod table;
pub mod timing;
pub mod workload;
pub mod workloads;
