//! What is taken from the lines of contenders, and what stands for several runs.

use serde_json::json;

use super::*;

const FIGURES_OF: [Figure; 4] = [
    Figure {
        name: "late",
        heading: "late ms",
        of: Of::Most,
    },
    Figure {
        name: "ticks",
        heading: "ticks",
        of: Of::Median,
    },
    Figure {
        name: "threads",
        heading: "threads",
        of: Of::MostIfSaid,
    },
    Figure {
        name: "bytes",
        heading: "bytes",
        of: Of::MemoryEach,
    },
];

fn run(stderr: &str, peak: u64) -> Outcome {
    let mut outcome = Outcome::unreported(String::new());
    outcome.stderr = stderr.into();
    outcome.peak_rss_bytes = peak;
    outcome
}

#[test]
fn the_last_line_counts_and_every_run() {
    let runs = [
        run(
            "figures: late=9 ticks=1\nnoise\nfigures: late=0.5 ticks=3\n",
            1_000,
        ),
        run("figures: late=2.25 ticks=5 threads=4", 5_000),
        run("figures: late=1 ticks=100", 2_000),
    ];
    let all = of_runs(&FIGURES_OF, &runs, 5, Some(1_000));
    let expected = json!({"late": 2.25, "ticks": 5.0, "threads": 4.0, "bytes": 1_000.0});
    assert_eq!(all.map(Value::Object), Some(expected));
}

#[test]
fn one_operation_has_no_memory_of_one_more() {
    let runs = [run("figures: late=1 ticks=1", 5_000)];
    for (ops, alone) in [(1, Some(1_000)), (5, None)] {
        let all = of_runs(&FIGURES_OF, &runs, ops, alone).expect("what was said");
        assert!(!all.contains_key("bytes"), "{all:?}");
    }
    assert_eq!(of_runs(&[], &runs, 5, None), None);
}

#[test]
fn what_must_be_said_is_missed() {
    assert_eq!(check(&FIGURES_OF, "figures: late=1 ticks=2"), Ok(()));
    assert_eq!(check(&[], ""), Ok(()));
    for stderr in ["", "figures: late=1", "figures: late=1 ticks=many"] {
        let missed = check(&FIGURES_OF, stderr);
        assert!(missed.is_err_and(|words| words.contains("ticks=") || words.contains("late=")));
    }
}
