//! The program itself: what it prints and writes, what it refuses, and with which exit code.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn run(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_experiment"));
    command.args(words).stdin(Stdio::null());
    command.output().expect("the program starts")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("text")
}

/// What a run that succeeds prints.
#[track_caller]
fn printed(words: &[&str]) -> String {
    let output = run(words);
    assert!(
        output.status.success(),
        "{words:?}: {}",
        text(&output.stderr)
    );
    assert_eq!(text(&output.stderr), "", "{words:?}");
    text(&output.stdout).into()
}

#[track_caller]
fn json(words: &[&str]) -> Value {
    serde_json::from_str(&printed(words)).expect("one JSON document")
}

/// The outcomes of a JSON array with their fractions.
fn fractions(outcomes: &Value) -> Vec<(i64, String)> {
    let outcomes = outcomes.as_array().expect("an array").iter();
    let fraction = |outcome: &Value| {
        let fraction = outcome["probability"]["fraction"].as_str();
        (
            outcome["outcome"].as_i64().expect("a number"),
            fraction.expect("a text").to_string(),
        )
    };
    outcomes.map(fraction).collect()
}

/// Three dice, of 216 in lowest terms.
const THREE: [&str; 16] = [
    "1/216", "1/72", "1/36", "5/108", "5/72", "7/72", "25/216", "1/8", "1/8", "25/216", "7/72",
    "5/72", "5/108", "1/36", "1/72", "1/216",
];

fn three() -> Vec<(i64, String)> {
    (3..).zip(THREE.map(String::from)).collect()
}

#[test]
fn roll_shows_the_distribution() {
    let shown = printed(&["roll", "3d6"]);
    assert!(shown.starts_with("3d6\n\n  outcome  fraction     decimal    percent\n"));
    assert!(
        shown.contains("\n       10       1/8  0.12500000  12.5000 %  ████"),
        "{shown}"
    );
    assert!(
        shown.contains("\n  mean                10.5 (21/2)\n"),
        "{shown}"
    );
    assert!(
        shown.contains("\n  variance            8.75 (35/4)\n"),
        "{shown}"
    );
    assert!(
        shown.contains("\n  standard deviation  2.958040\n"),
        "{shown}"
    );
    assert!(shown.contains("\n  median              10\n"), "{shown}");
    assert!(
        shown.lines().all(|line| line.chars().count() <= 80),
        "{shown}"
    );

    let object = json(&["roll", "3d6", "--json"]);
    assert_eq!(fractions(&object["outcomes"]), three());
    assert_eq!(object["mean"]["fraction"], "21/2");
    assert_eq!(object["median"], 10);

    // The words need no quotes.
    let object = json(&["roll", "--json", "4d6", "drop", "lowest"]);
    assert_eq!(object["expression"], "4d6 drop lowest 1");
    let outcomes = fractions(&object["outcomes"]);
    assert_eq!(outcomes.last(), Some(&(18, "7/432".into())));
}

#[test]
fn fractions_that_nobody_reads_are_left_out() {
    let shown = printed(&["roll", "100d6"]);
    assert!(
        shown.contains("\n      100  1.53064671e-78  <0.0001 %  ▏\n"),
        "{shown}"
    );
    let object = json(&["roll", "100d6", "--json"]);
    let (outcome, fraction) = fractions(&object["outcomes"]).remove(0);
    assert_eq!((outcome, fraction.len()), (100, 80));
}

#[test]
fn p_tells_a_probability() {
    let shown = printed(&["p", "3d6 >= 15"]);
    assert_eq!(
        shown,
        "3d6 >= 15\n\n  it holds   5/54 = 0.09259259 = 9.2593 %, 1 in 10.8\n  otherwise  49/54 = 0.90740741 = 90.7407 %, 1 in 1.1\n"
    );
    let object = json(&["p", "--json", "3d6 >= 15"]);
    assert_eq!(object["probability"]["fraction"], "5/54");
    assert_eq!(object["complement"]["fraction"], "49/54");
    assert_eq!(
        json(&["p", "--json", "d6 < d6"])["probability"]["fraction"],
        "5/12"
    );
}

#[test]
fn sim_repeats_itself_from_a_seed() {
    let words = ["sim", "3d6", "--runs", "100000", "--seed", "7"];
    let shown = printed(&words);
    assert_eq!(printed(&words), shown);
    assert!(
        shown.starts_with("3d6, 100000 runs from the seed 7\n"),
        "{shown}"
    );
    assert!(
        shown.contains("mean  10.") && shown.contains("exactly 10.5\n"),
        "{shown}"
    );
    assert!(
        shown.ends_with("To repeat it: sim \"3d6\" --runs 100000 --seed 7\n"),
        "{shown}"
    );

    let object = json(&["sim", "3d6", "--runs", "100000", "--seed", "7", "--json"]);
    let outcomes = object["outcomes"].as_array().expect("an array");
    let counts = outcomes.iter().map(|outcome| outcome["count"].as_u64());
    assert_eq!(counts.sum::<Option<u64>>(), Some(100_000));
    assert_eq!(fractions(&object["outcomes"]), three());
    for outcome in outcomes {
        let (share, probability) = (&outcome["share"], &outcome["probability"]["decimal"]);
        let distance = share.as_f64().expect("a number") - probability.as_f64().expect("a number");
        assert!(distance.abs() < 0.005, "{outcome}");
    }
    // A run without a seed says which one it had.
    let object = json(&["sim", "d%", "--json"]);
    let seed = object["seed"].to_string();
    assert_eq!(json(&["sim", "d%", "--json", "--seed", &seed]), object);
    assert_ne!(json(&["sim", "d%", "--json"])["seed"].to_string(), seed);
}

#[test]
fn sim_goes_on_where_exact_probabilities_do_not() {
    let shown = printed(&["sim", "d4294967295", "--runs", "50", "--seed", "1"]);
    assert!(shown.contains("`roll` says why"), "{shown}");
    let object = json(&["sim", "d4294967295", "--runs", "50", "--json"]);
    assert_eq!(object["exact"], false);
    assert_eq!(object["outcomes"][0]["probability"], Value::Null);
    // Outcomes that nobody can expect in ten runs are named together.
    let shown = printed(&["sim", "100d6", "--runs", "10", "--seed", "1"]);
    assert!(shown.contains(" outcomes that did not come"), "{shown}");
}

#[test]
fn seed_shows_what_the_seed_does() {
    let shown = printed(&["seed", "--seed", "5"]);
    assert_eq!(printed(&["seed", "--seed", "5"]), shown);
    let calls = [
        "roll_3d6(Simulation.init).run\n",
        "roll_3d6(Distribution.init).run\n",
        "(1..21).each{|n| p roll_3d6(Expectation.init).run(n) }\n",
        "roll_3d6_b(Distribution.init).run\n",
    ];
    let places = calls.map(|call| shown.find(call).expect(call));
    assert!(places.is_sorted(), "{places:?}");
    assert!(
        shown.contains("\n   2         0  0.00000000\n   3     1/216  0.00462963"),
        "{shown}"
    );

    let object = json(&["seed", "--seed", "5", "--json"]);
    assert_eq!(object["seed"], 5);
    let once = object["simulation"].as_i64().expect("a number");
    assert!((3..=18).contains(&once));
    assert_eq!(fractions(&object["roll_3d6"]), three());
    let expected = (1..=21).map(|number: i64| {
        let place = usize::try_from(number - 3).ok();
        let fraction = place.and_then(|place| THREE.get(place));
        (
            number,
            fraction.map_or("0", |fraction| fraction).to_string(),
        )
    });
    assert_eq!(
        fractions(&object["expectations"]),
        expected.collect::<Vec<_>>()
    );

    let extra = fractions(&object["roll_3d6_b"]);
    let whole = extra.iter().map(|(_, fraction)| {
        let (numerator, denominator) = fraction.split_once('/').expect("a fraction");
        let [numerator, denominator] =
            [numerator, denominator].map(|number| number.parse::<u64>().expect("a number"));
        assert_eq!(1_296 % denominator, 0, "{fraction}");
        numerator * (1_296 / denominator)
    });
    assert_eq!(whole.sum::<u64>(), 1_296);
    assert_eq!(extra[0], (3, "1/216".into()));
    // Four sixes.
    assert_eq!(extra.last(), Some(&(24, "1/1296".into())));
}

/// The width and height that a PNG says it has.
fn png_size(file: &Path) -> (u32, u32) {
    let bytes = fs::read(file).expect("it is there");
    assert_eq!(bytes[..8], *b"\x89PNG\r\n\x1a\n");
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four"));
    (number(16), number(20))
}

#[test]
fn pictures_are_drawn() {
    let folder = tempfile::tempdir().expect("a folder");
    let (svg, png) = (folder.path().join("a.svg"), folder.path().join("a.png"));
    let [svg_word, png_word] = [&svg, &png].map(|path| path.to_str().expect("text"));
    for (words, height, names) in [
        (
            &["roll", "3d6"][..],
            540,
            &["3d6", "probability", "outcome"][..],
        ),
        (&["sim", "2d6", "--seed", "1"], 540, &["share of the runs"]),
        (&["seed"], 1_080, &["roll_3d6:", "roll_3d6_b:"]),
    ] {
        printed(&[words, &["--svg", svg_word]].concat());
        let picture = fs::read_to_string(&svg).expect("it is there");
        assert!(picture.starts_with("<svg "), "{words:?}");
        assert!(
            picture.contains(&format!("height=\"{height}\"")),
            "{words:?}"
        );
        for name in names {
            assert!(picture.contains(name), "{words:?}: {name}");
        }
        let output = run(&[words, &["--png", png_word]].concat());
        if output.status.success() {
            assert_eq!(png_size(&png), (960, height), "{words:?}");
        } else {
            assert_eq!(output.status.code(), Some(1), "{words:?}");
            assert!(
                text(&output.stderr).contains("a PNG needs a font"),
                "{words:?}"
            );
        }
    }
}

/// Status 2, nothing printed, and an error that has this part.
#[track_caller]
fn refused(words: &[&str], part: &str) {
    let output = run(words);
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{words:?}: {error}");
    assert_eq!(text(&output.stdout), "", "{words:?}");
    assert!(error.contains(part), "{words:?}: {error}");
}

#[test]
fn bad_expressions_are_refused_with_a_mark() {
    refused(
        &["roll", "3d + 2"],
        "error: expected the number of sides after `d`\n  3d + 2\n    ^ here\n",
    );
    for (words, message, mark) in [
        (
            ["roll", "3d6 & 1"],
            "unexpected character '&'",
            "      ^ here\n",
        ),
        (
            ["roll", "3d0"],
            "a die has at least one side",
            "    ^ here\n",
        ),
        (["roll", "(3d6"], "never closed", "  ^ here\n"),
        (["roll", "3d6)"], "closes nothing", "     ^ here\n"),
        (["roll", ""], "is empty", "  ^ here\n"),
        (["roll", "3d6 4"], "or the end here", "      ^ here\n"),
        (
            ["roll", "1 + 99999999999999999999"],
            "too large",
            "      ^^^^",
        ),
        (["roll", "3d6 >= 15"], "use `p`", "      ^^ here\n"),
        (["sim", "3d6 >= 15"], "use `p`", "      ^^ here\n"),
        (["p", "3d6"], "add one, such as `>= 15`", "     ^ here\n"),
        (
            ["roll", "1 + 5000d6"],
            "would take too long",
            "      ^^^^^^ here\n",
        ),
        (
            ["roll", "9223372036854775807 + d6"],
            "outcomes are from",
            "  ^^^^",
        ),
        (["roll", "2d6 kh 3"], "keep at most 2", "      ^^^^ here\n"),
        (["roll", "d1 explode"], "for ever", "     ^^^^^^^ here\n"),
        (["sim", "9999d6!"], "at most 10000", "  ^^^^^^^ here\n"),
    ] {
        refused(&words, message);
        refused(&words, &format!("\n{mark}"));
    }
}

#[test]
fn nonsense_on_the_command_line_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let itself = folder.path().to_str().expect("text");
    let same = folder.path().join("same");
    let same = same.to_str().expect("text");
    for (words, part) in [
        (&["roll"][..], "<EXPRESSION>"),
        (&["guess", "3d6"], "guess"),
        (&["sim", "3d6", "--runs", "0"], "1..=10000000000"),
        (&["sim", "3d6", "--seed", "x"], "--seed"),
        (
            &["roll", "3d6", "--svg", itself],
            "is no regular file; give another file",
        ),
        (
            &["roll", "3d6", "--png", "none/of/these.png"],
            "cannot write none/of/these.png: no file can be made in its folder (entity not found)",
        ),
        (
            &["roll", "3d6", "--svg", same, "--png", same],
            "name one file",
        ),
        (
            &["sim", "d4294967295", "--runs", "2000000"],
            "different outcomes have come",
        ),
    ] {
        refused(words, part);
    }
}

#[test]
fn an_error_leaves_the_old_picture() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.svg");
    fs::write(&file, "old").expect("our own folder");
    refused(
        &["roll", "3d", "--svg", file.to_str().expect("text")],
        "sides",
    );
    assert_eq!(fs::read_to_string(&file).expect("it is there"), "old");
}
