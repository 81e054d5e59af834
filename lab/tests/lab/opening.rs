//! What a reader of the report sees first, and what unfolds only when it is clicked.

use serde_json::{Value, json};

use crate::samples::{machine, quiet, write};
use crate::support::{Place, stderr};

fn page(place: &Place, words: &str) -> String {
    let output = place.tool(words);
    assert!(output.status.success(), "{}", stderr(&output));
    std::fs::read_to_string(place.path("page.html")).expect("the page")
}

/// A row of another workload than the ring.
fn of(workload: &str, params: &Value, name: &str, ns: f64) -> Value {
    let mut row = quiet(name, ns);
    row["workload"] = json!(workload);
    row["params"] = params.clone();
    row
}

fn yields(name: &str, ns: f64) -> Value {
    of(
        "yield",
        &json!({"yields": 1_000_000, "tasks": 20}),
        name,
        ns,
    )
}

fn many_tasks(name: &str, ns: f64) -> Value {
    of(
        "yield",
        &json!({"yields": 1_000_000, "tasks": 99}),
        name,
        ns,
    )
}

/// What stands before the warnings and the filters.
fn opening(page: &str) -> &str {
    let (_, rest) = page.split_once("<header>").expect("a header");
    rest.split_once("</header>").expect("its end").0
}

#[test]
fn one_race_opens_with_its_winner() {
    let place = Place::empty();
    let control = quiet("control-bare", 1.0);
    let rows = [
        quiet("go", 60.0),
        quiet("go-1", 50.0),
        control,
        quiet("c", 100.0),
    ];
    write(&place, "x.json", &machine(), &rows);
    let without_ours = page(&place, "report x.json --out page.html");
    let said = "go-1 is first, 2.00 × as quick as c.";
    assert!(
        opening(&without_ours).contains(said),
        "{}",
        opening(&without_ours)
    );
    let rows = [
        quiet("go", 60.0),
        quiet("gossamer/x", 150.0),
        quiet("c", 100.0),
    ];
    write(&place, "x.json", &machine(), &rows);
    let with_ours = page(&place, "report x.json --out page.html");
    let said = "go is first, 2.50 × as quick as gossamer/x.";
    assert!(
        opening(&with_ours).contains(said),
        "{}",
        opening(&with_ours)
    );
}

#[test]
fn several_races_open_with_who_is_first_in_how_many_and_a_picture() {
    let place = Place::empty();
    let ring = [quiet("gossamer/x", 10.0), quiet("go", 20.0)];
    let usual = [
        yields("gossamer/y", 10.0),
        yields("go", 80.0),
        yields("c", 30.0),
    ];
    let many = [many_tasks("gossamer/y", 11.0), many_tasks("go-1", 10.0)];
    for (name, rows) in [("a", &ring[..]), ("b", &usual), ("c", &many)] {
        write(&place, &format!("{name}.json"), &machine(), rows);
    }
    let page = page(&place, "report a.json b.json c.json --out page.html");
    let opening = opening(&page);
    // Twice and three times as quick.
    for part in [
        "First in 3 workloads or settings of them: gossamer in 2, 2.45 × as quick as the quickest other; \
         go in 1, 1.10 × as quick as gossamer (geometric means).",
        "<title>ring: gossamer/x, 2.00 × go</title>",
        "<title>yield: gossamer/y, 3.00 × c</title>",
        "<title>yield tasks 99: go-1, 1.10 × gossamer/y</title>",
    ] {
        assert!(opening.contains(part), "no '{part}' in {opening}");
    }
    assert!(
        !opening.contains("<table"),
        "the picture comes before any table"
    );
}

/// `c` is the quickest where it was measured, and was not measured where it would have to work.
#[test]
fn the_overview_is_in_order_of_a_mean_over_the_same_columns() {
    let place = Place::empty();
    let ring = [
        quiet("gossamer/x", 10.0),
        quiet("go", 15.0),
        quiet("rust", 5.0),
    ];
    let usual = [
        yields("gossamer/x", 10.0),
        yields("go", 10.0),
        yields("rust", 50.0),
        yields("c", 1.0),
    ];
    write(&place, "a.json", &machine(), &ring);
    write(&place, "b.json", &machine(), &usual);
    let mut skipped = many_tasks("absent", 1.0);
    skipped["status"] = json!("skipped");
    let all = [many_tasks("c", 1.0), skipped];
    write(&place, "c.json", &machine(), &all);
    let page = page(&place, "report a.json b.json c.json --out page.html");
    let (_, overview) = page.split_once("class=\"overview\"").expect("an overview");
    let (overview, rest) = overview.split_once("</table>").expect("its end");
    let rows = overview.split("data-contender=\"").skip(1);
    let names: Vec<&str> = rows.filter_map(|row| row.split('"').next()).collect();
    assert_eq!(names, ["gossamer/x", "go", "rust", "c"], "{overview}");
    assert!(overview.contains("over the 2 columns with •"), "{overview}");
    assert_eq!(overview.matches("</a> •").count(), 2, "{overview}");
    // 2 and 10, 3 and 10, 1 and 50 times the fastest.
    for mean in ["4.47<small>", "5.48<small>", "7.07<small>"] {
        assert!(overview.contains(mean), "no {mean} in {overview}");
    }
    assert!(rest.contains("Not measured: absent."));
}

#[test]
fn who_was_skipped_stands_in_one_line() {
    let place = Place::empty();
    let skipped = |name: &str| {
        let mut row = quiet(name, 1.0);
        row["status"] = json!("skipped");
        row["reason"] = json!(format!("{name} is not installed"));
        row
    };
    write(
        &place,
        "x.json",
        &machine(),
        &[quiet("go", 1.0), skipped("ghc"), skipped("lwt")],
    );
    let page = page(&place, "report x.json --out page.html");
    for part in [
        "<summary>2 skipped: ghc, lwt</summary>",
        ">lwt: lwt is not installed</li>",
    ] {
        assert!(page.contains(part), "no '{part}'");
    }
    let (_, race) = page.split_once("id=\"race-0\"").expect("a race");
    let (before, _) = race.split_once("2 skipped").expect("the line");
    assert_eq!(before.matches("<tr").count(), 2, "the head and go");
}

#[test]
fn a_long_warning_is_folded_to_what_it_is_about() {
    let place = Place::empty();
    let walls = [100.0, 200.0];
    let noisy = |at: u64| crate::samples::ring(&format!("contender-{at}"), 503, &walls);
    write(
        &place,
        "x.json",
        &machine(),
        &(0..20).map(noisy).collect::<Vec<_>>(),
    );
    let page = page(&place, "report x.json --out page.html");
    let folded = "<details><summary>Fewer than 5 runs<span>…</span></summary>: contender-0 (2), ";
    assert!(page.contains(folded), "{page}");
    let (charts, _) = page
        .split_once("<details><summary>Fewer")
        .expect("the warning");
    assert!(charts.contains("class=\"bars\""), "the picture comes first");
}
