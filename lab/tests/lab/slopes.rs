//! `lab run … --slope`: what an operation takes without the start of the process.

use serde_json::json;

use crate::support::{Place, RIGHT, stderr, stdout};

#[test]
fn a_slope_is_of_two_sizes_whose_answers_are_right() {
    let wrong = format!("test $4 = 100000 || exit 3; {RIGHT}");
    let place = Place::with_fakes(&[("right", RIGHT), ("wrong", &wrong)]);
    let output = place.run("run ring --threads 3 --hops 100000 --runs 3 --slope --json x.json");
    assert!(output.status.success(), "{}", stderr(&output));
    // How long it took is nobody's to say: there is a slope, or the reason that it took no longer.
    let row = place.row("x.json", "right");
    let reason = row["no_slope"].as_str();
    assert_eq!(row["slope_ns_per_op"].is_f64(), reason.is_none(), "{row:#}");
    assert!(reason.is_none_or(|reason| reason.contains("took no longer")));
    let row = place.row("x.json", "wrong");
    let reason = row["no_slope"].as_str().expect("a reason");
    assert_eq!(row["slope_ns_per_op"], json!(null));
    assert!(
        reason.contains("with 50000 operations: exit status 3"),
        "{reason}"
    );
    let text = stdout(&output);
    assert!(text.contains("ns/hop without the start"), "{text}");
    assert!(text.contains(&format!("none: {reason}")), "{text}");
}

#[test]
fn without_being_asked_for_there_is_none() {
    let place = Place::with_fakes(&[("right", RIGHT)]);
    let output = place.run("run ring --threads 3 --hops 3 --runs 1 --json x.json");
    assert!(output.status.success(), "{}", stderr(&output));
    let row = place.row("x.json", "right");
    assert_eq!(
        (&row["slope_ns_per_op"], &row["no_slope"]),
        (&json!(null), &json!(null))
    );
}
