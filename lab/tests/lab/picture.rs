//! `lab report FILE --svg FILE`: a chart of the report as a file of its own.

use serde_json::Value;

use crate::samples::{machine, quiet, write};
use crate::support::{Place, stderr};

#[test]
fn a_picture_of_one_race_is_a_file_of_its_own() {
    let place = Place::empty();
    let named = |at: u64| quiet(&format!("peer{at:02}"), 20.0 + at as f64);
    let mut rows: Vec<Value> = (0..14).map(named).collect();
    rows.push(quiet("gossamer/x", 90.0));
    write(&place, "x.json", &machine(), &rows);
    write(&place, "y.json", &machine(), &rows[..2]);
    let picture = |only: &str| {
        let output = place.tool(&format!("report x.json --svg x.svg {only}"));
        assert!(output.status.success(), "{}", stderr(&output));
        std::fs::read_to_string(place.path("x.svg")).expect("the picture")
    };
    let whole = picture("");
    assert!(
        whole.starts_with("<svg") && whole.contains("http://www.w3.org/2000/svg"),
        "{whole}"
    );
    assert_eq!(
        whole.matches("<rect").count(),
        10,
        "the ten that matter most: {whole}"
    );
    assert!(
        whole.contains(
            ">Thread ring, 503 threads, forward order: nanoseconds per hop, logarithmic<"
        )
    );
    assert!(
        whole.contains(">gossamer/x: 90.0<") && !whole.contains("peer09"),
        "{whole}"
    );
    let two = picture("--only gossamer/x,peer13");
    assert_eq!(two.matches("<rect").count(), 2, "{two}");
    for (words, part) in [
        ("x.json y.json --svg z.svg", "2 races in x.json, y.json"),
        (
            "x.json --svg z.svg --only nobody",
            "--only nobody: it is not measured in x.json",
        ),
    ] {
        let output = place.tool(&format!("report {words}"));
        assert_eq!(output.status.code(), Some(2), "{words}");
        assert!(stderr(&output).contains(part), "{}", stderr(&output));
        assert!(!place.path("z.svg").exists());
    }
}
