//! `roll`: every outcome of an expression with its exact probability.

use gossamer::experiment::Distribution;
use serde_json::json;

use crate::expression::parse_value;
use crate::failure::Failure;
use crate::report::{Report, Summary, outcomes_json, outcomes_table, plot};
use crate::values::distribution;

/// The distribution of the expression in this text, in a table within this width.
///
/// # Errors
/// It is no expression, or too large to be computed.
pub fn report(text: &str, width: usize) -> Result<Report, Failure> {
    let expression = parse_value(text).map_err(|fault| Failure::of(&fault, text))?;
    let dist = distribution(&expression).map_err(|fault| Failure::of(&fault, text))?;
    let all = Distribution::from(&dist);
    let summary = Summary::of(&all).ok_or_else(|| Failure::Other("a part is uncovered".into()))?;
    let name = expression.to_string();
    let table = outcomes_table(&all, width);
    let mut json = summary.json();
    json["expression"] = json!(name);
    json["outcomes"] = outcomes_json(&all);
    Ok(Report {
        text: format!("{name}\n\n{table}\n{}", summary.text()),
        json,
        plots: vec![plot(name, &all)],
    })
}
