//! Several workloads, or sizes, with one command.

use crate::support::{Place, RIGHT, stderr, stdout};

#[test]
fn sizes_are_one_file_and_one_table() {
    // The second one breaks beyond a thousand threads.
    let weak = format!("test $2 -le 1000 || exit 3; {RIGHT}");
    let place = Place::with_fakes(&[("steady", RIGHT), ("weak", &weak)]);
    let output = place.run("run sizes --quick --runs 1");
    assert!(output.status.success(), "{}", stderr(&output));
    let results = place.json("out/sizes.json");
    let rows = results["results"].as_array().expect("rows");
    let threads: Vec<u64> = rows
        .iter()
        .filter_map(|row| row["params"]["threads"].as_u64())
        .collect();
    assert_eq!(threads, [10, 10, 1_000, 1_000, 10_000, 10_000]);
    let text = stdout(&output);
    assert!(text.contains("exponent"), "{text}");
    assert!(
        text.contains("weak, 10,000: failed: exit status 3"),
        "{text}"
    );
}

#[test]
fn msgsend_is_measured_along_its_options() {
    // The options are `--requests N --senders S --interval I`.
    let place = Place::with_fakes_of("msgsend", &[("serves", "echo $(( $2 * 100 ))")]);
    for (name, option, usual) in [
        ("senders", "senders", ("interval", 1)),
        ("intervals", "interval", ("senders", 4)),
    ] {
        let output = place.run(&format!("run {name} --quick --runs 1"));
        assert!(output.status.success(), "{}", stderr(&output));
        let results = place.json(&format!("out/{name}.json"));
        let rows = results["results"].as_array().expect("rows");
        let points: Vec<u64> = rows
            .iter()
            .filter_map(|row| row["params"][option].as_u64())
            .collect();
        assert_eq!(points, [1, 10, 100]);
        assert!(
            rows.iter()
                .all(|row| row["status"] == "ok" && row["params"][usual.0] == usual.1)
        );
        let text = stdout(&output);
        assert!(
            text.contains(&format!("msgsend by --{option}, 3 values")),
            "{text}"
        );
    }
    // The report has a line along each.
    let page = std::fs::read_to_string(place.path("out/report.html")).expect("the page");
    assert!(page.contains("senders") && page.contains("interval"));
}

#[test]
fn all_runs_what_the_contenders_have() {
    let place = Place::with_fakes_of("yield", &[("idle", "echo $2")]);
    let output = place.run("run all --quick --runs 1");
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(place.row("out/yield.json", "idle")["status"], "ok");
    assert!(!place.path("out/spawn.json").exists(), "nobody has it");
    let output = place.run("run all --only idle,nobody");
    assert_eq!(output.status.code(), Some(2));
    let message = stderr(&output);
    assert!(
        message.contains("'nobody'") && message.contains("idle"),
        "{message}"
    );
}
