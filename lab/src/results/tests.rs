//! The statistics of a row, and reading results back.

use super::*;

#[test]
fn the_middle() {
    assert_eq!(spread(&[]), None);
    assert_eq!(
        spread(&[2.0]),
        Some(Spread {
            min: 2.0,
            median: 2.0,
            max: 2.0
        })
    );
    assert_eq!(spread(&[3.0, 1.0, 9.0]).map(|s| s.median), Some(3.0));
    assert_eq!(spread(&[4.0, 1.0, 2.0, 9.0]).map(|s| s.median), Some(3.0));
}

/// A folder that has one file of results in it.
fn written(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("x.json");
    std::fs::write(&file, text).expect("our own folder");
    (folder, file)
}

#[track_caller]
fn refused(text: &str, parts: &[&str]) {
    let (_folder, file) = written(text);
    let error = Results::load(&file).expect_err("it is no results");
    let message = format!("{error:#}");
    for part in parts.iter().chain(&["x.json"]) {
        assert!(message.contains(part), "no '{part}' in: {message}");
    }
    assert_eq!(
        message.matches(" column ").count(),
        message.matches(" line ").count()
    );
}

/// The records of the project are read as they are, those from before the newest keys, too.
#[test]
fn the_records_are_read() {
    let records = Path::new(env!("CARGO_MANIFEST_DIR")).join("records");
    let mut read = 0;
    for record in std::fs::read_dir(records).expect("our own records") {
        let record = record.expect("listed").path();
        if !record.is_dir() {
            continue;
        }
        for file in std::fs::read_dir(record).expect("a folder") {
            let file = file.expect("listed").path();
            if file
                .extension()
                .is_some_and(|extension| extension == "json")
            {
                let results = Results::load(&file).expect("a record is results");
                assert!(!results.results.is_empty(), "{}", file.display());
                read += 1;
            }
        }
    }
    assert!(read > 3, "only {read} records were found");
}

#[test]
fn what_was_saved_is_read() {
    let records = Path::new(env!("CARGO_MANIFEST_DIR")).join("records");
    let record = records.join("2026-11-21-epyc-2-cores/ring.json");
    let results = Results::load(&record).expect("a record");
    let (_folder, file) = written("");
    results
        .save(std::slice::from_ref(&file))
        .expect("our own folder");
    let again = Results::load(&file).expect("just saved");
    let text = |results: &Results| serde_json::to_string(results).expect("it was written before");
    assert_eq!(text(&again), text(&results));
}

#[test]
fn other_files_are_refused() {
    let head = r#"{"schema": 1, "machine":"#;
    refused("", &["line 1", "half-written"]);
    refused(head, &["line 1, column 24", "half-written"]);
    refused(
        "{\n  \"schema\": 1,\n  oops\n}",
        &["line 3, column 3", "is not what"],
    );
    refused("{}", &["missing field `schema`", "is not what"]);
    refused("[1, 2]", &["is not what"]);
    refused(
        r#"{"schema": 1}"#,
        &["missing field `machine`", "is not what"],
    );
    refused(r#"{"schema": "one"}"#, &["expected u64", "column"]);
    refused(
        r#"{"schema": 2}"#,
        &[
            "line 1, column 2: schema 2, expected 1",
            "lab is older than the record",
        ],
    );
    refused(
        "{\n  \"said\": \"\\\"schema\\\": 3\",\n  \"machine\": {\"schema\": 1},\n  \"schema\" : 3\n}",
        &["line 4, column 3: schema 3, expected 1"],
    );
    refused(
        r#"{"schema": 0}"#,
        &["schema 0, expected 1", "record is older"],
    );
    refused("\u{0}", &["line 1, column 1"]);
    let error = Results::load(Path::new("/no/such/x.json")).expect_err("there is none");
    assert!(format!("{error:#}").contains("cannot read /no/such/x.json"));
}

/// Somebody changed it by hand: there is no ratio to nothing.
#[test]
fn figures_that_nothing_can_have_are_refused() {
    let records = Path::new(env!("CARGO_MANIFEST_DIR")).join("records");
    let record = records.join("2026-11-21-epyc-2-cores/ring.json");
    let results = Results::load(&record).expect("a record");
    let changed = |change: fn(&mut Row), parts: &[&str]| {
        let mut results = results.clone();
        results.results.truncate(1);
        let row = &mut results.results[0];
        assert!(row.ns_per_op.is_some(), "the first row was measured");
        row.contender = "nobody".into();
        change(row);
        let text = serde_json::to_string_pretty(&results).expect("it was written before");
        refused(&text, parts);
        let key = parts[0].split(' ').nth(1).expect("found KEY VALUE");
        let lines = || text.lines().enumerate();
        let own = lines().skip_while(|(_, line)| !line.contains("\"nobody\""));
        let mut own = own.filter(|(_, line)| line.contains(&format!("\"{key}\": ")));
        let (index, line) = own.next().expect("the key is there");
        let column = line.find(": ").expect("a value") + 3;
        let place = format!("line {}, column {column}: ring, nobody: found", index + 1);
        refused(&text, &[place.as_str(), "expected"]);
    };
    changed(|row| row.ops = 0, &["found ops 0"]);
    changed(|row| row.ns_per_op = Some(0.0), &["found ns_per_op 0"]);
    changed(|row| row.ns_per_op = Some(-2.5), &["found ns_per_op -2.5"]);
    changed(|row| row.raw_wall_s[0] = 0.0, &["found raw_wall_s 0"]);
    changed(
        |row| row.wall_s.as_mut().expect("measured").min = -1.0,
        &["found wall_s -1"],
    );
}

/// Wherever it was cut.
#[test]
fn half_of_a_file_is_called_that() {
    let records = Path::new(env!("CARGO_MANIFEST_DIR")).join("records");
    let record = records.join("2026-11-21-epyc-2-cores-pool/ring.json");
    let mut results = Results::load(&record).expect("a record");
    results.results.truncate(1);
    let whole = serde_json::to_string_pretty(&results).expect("it was written before");
    let (_folder, file) = written("");
    for length in (0..whole.len()).filter(|length| whole.is_char_boundary(*length)) {
        std::fs::write(&file, &whole[..length]).expect("our own folder");
        let error = Results::load(&file).expect_err("it is not whole");
        let message = format!("{error:#}");
        assert!(message.contains("half-written"), "{length}: {message}");
    }
}
