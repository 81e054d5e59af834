//! `p`: how probable it is that a comparison holds.

use serde_json::json;

use crate::expression::parse_condition;
use crate::failure::Failure;
use crate::figures::all_of;
use crate::report::{Report, probability_json};
use crate::values::probability;

/// The probability of the comparison in this text.
///
/// # Errors
/// It is none, or too large to be computed.
pub fn report(text: &str) -> Result<Report, Failure> {
    let condition = parse_condition(text).map_err(|fault| Failure::of(&fault, text))?;
    let found = probability(&condition).map_err(|fault| Failure::of(&fault, text))?;
    let contrary = found.complement();
    let text = format!(
        "{condition}

  it holds   {}
  otherwise  {}
",
        all_of(&found),
        all_of(&contrary)
    );
    let json = json!({
        "condition": condition.to_string(),
        "probability": probability_json(&found),
        "complement": probability_json(&contrary),
    });
    Ok(Report {
        text,
        json,
        plots: Vec::new(),
    })
}
