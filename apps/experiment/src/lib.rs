//! Random experiments with dice, as a program: a distribution, a probability, a simulation, and what the seed shows.
//!
//! An [`expression`] becomes an experiment in both of the library's forms: as a value ([`values`]) it is exact and quick,
//! as a description ([`description`]) it rolls each die and is simulated. [`roll`], [`odds`], [`simulate`] and [`seed`] are the
//! commands: each makes a [`report`], of which [`cli`] prints the text or the JSON, and writes the pictures ([`chart`]).
#![forbid(unsafe_code)]

pub mod chart;
pub mod cli;
pub mod description;
pub mod expression;
pub mod failure;
pub mod figures;
pub mod odds;
pub mod output;
pub mod progress;
pub mod report;
pub mod roll;
pub mod seed;
pub mod simulate;
pub mod table;
pub mod values;

#[cfg(test)]
mod tests;
