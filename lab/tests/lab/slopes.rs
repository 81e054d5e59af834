//! What an operation of a short run takes without the start of the process.

use serde_json::json;

use crate::support::{Place, RIGHT, stderr, stdout};

#[test]
fn after_a_short_run_follows_one_with_half_the_operations() {
    let wrong = format!("test $4 = 100000 || exit 3; {RIGHT}");
    let slower = format!("test $4 = 50000 || sleep 0.1; {RIGHT}");
    let quicker = format!("test $4 = 100000 || sleep 0.1; {RIGHT}");
    let place = Place::with_fakes(&[
        ("wrong", &wrong),
        ("slower", &slower),
        ("quicker", &quicker),
    ]);
    let output = place.run("run ring --threads 3 --hops 100000 --runs 3 --json x.json");
    assert!(output.status.success(), "{}", stderr(&output));

    let row = place.row("x.json", "wrong");
    assert_eq!(row["status"], "failed");
    assert_eq!(row["reason"], "with 50,000 operations: exit status 3");

    // A tenth of a second more for 50,000 hops, which is 2,000 ns each; the machine may be busy in one of the rounds.
    let row = place.row("x.json", "slower");
    let slope = row["slope_ns_per_op"].as_f64().expect("a slope");
    assert!(slope > 1_000.0, "{slope}");
    let heading = stdout(&output).contains("slope ns/hop");
    assert!(heading, "{}", stdout(&output));

    let row = place.row("x.json", "quicker");
    assert_eq!(row["slope_ns_per_op"], json!(null));
    let reason = row["no_slope"].as_str().expect("a reason");
    assert!(reason.contains("took no longer"), "{reason}");
}

#[test]
fn a_second_run_that_is_stopped_leaves_the_row_as_it_is() {
    let stuck = format!("test $4 = 100000 || exec sleep 100; {RIGHT}");
    let place = Place::with_fakes(&[("stuck", &stuck)]);
    let output = place.run("run ring --threads 3 --hops 100000 --runs 3 --json x.json");
    assert!(output.status.success(), "{}", stderr(&output));
    let row = place.row("x.json", "stuck");
    assert_eq!((&row["status"], &row["runs"]), (&json!("ok"), &json!(3)));
    assert_eq!(row["slope_ns_per_op"], json!(null));
    assert_eq!(row["no_slope"], "with 50,000 operations: stopped after 1 s");
    let said = "stuck has no slope: with 50,000 operations";
    assert!(stdout(&output).contains(said), "{}", stdout(&output));
}

#[test]
fn a_long_run_a_very_small_one_and_a_single_one_have_none() {
    let long = format!("test $4 != 1000 || sleep 1.1; {RIGHT}");
    let place = Place::with_fakes(&[("long", &long)]);
    for (hops, runs) in [(3, 2), (1_000, 2), (2_000, 1)] {
        let output = place.run(&format!(
            "run ring --threads 3 --hops {hops} --runs {runs} --json x.json"
        ));
        assert!(output.status.success(), "{}", stderr(&output));
        let row = place.row("x.json", "long");
        assert_eq!(row["slope_ns_per_op"], json!(null), "{row:#}");
        assert_eq!(row["no_slope"], json!(null), "{row:#}");
    }
}
