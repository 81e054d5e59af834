//! `lab geomean`: the seed's layout, and files that are refused.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use crate::support::{Place, stderr, stdout};

const LINE: &str = "00:00:23.088967938,00:00:23.088967938,00:00:23.088967938,\
                    6806318,6806318,6806318,118090629,118090629\n";
const SHOWN: &str = " GM Time: 00:00:23:88967938 (23.089 s)\n GM Samples per Sec: 6,806,318\n \
                     GM Memory Used: 112.62 MiB\n\n";

fn geomean(file: &std::path::Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lab"));
    command.arg("geomean").arg(file).stdin(Stdio::null());
    command.output().expect("the lab starts")
}

#[track_caller]
fn refused(text: &[u8], parts: &[&str]) {
    let place = Place::empty();
    let file = place.path("data.txt");
    std::fs::write(&file, text).expect("our own folder");
    let output = geomean(&file);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert_eq!(stdout(&output), "", "something was printed");
    for part in parts.iter().chain(&["data.txt", "expected"]) {
        assert!(message.contains(part), "no '{part}' in: {message}");
    }
}

#[test]
fn the_seeds_layout() {
    let place = Place::empty();
    let file = place.path("data.txt");
    let text = format!(
        "# comment\n\nname: CRYSTAL_WORKERS=20, --jobs 20\n{LINE}name: other\r\n\
         00:00:01.0, 00:00:02.0, 00:00:04, 1,10,100, 1024\r\n{LINE}"
    );
    std::fs::write(&file, text).expect("our own folder");
    let output = geomean(&file);
    assert!(output.status.success(), "{}", stderr(&output));
    let expected = format!(
        "== name: CRYSTAL_WORKERS=20, --jobs 20 ==\n{SHOWN}== name: other ==\n \
         GM Time: 00:00:02:00 (2.000 s)\n GM Samples per Sec: 10\n GM Memory Used: 1.00 KiB\n\n\
         {SHOWN}"
    );
    assert_eq!(stdout(&output), expected);
}

#[test]
fn the_standard_input() {
    let mut lab = Command::new(env!("CARGO_BIN_EXE_lab"))
        .args(["geomean", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the lab starts");
    let mut input = lab.stdin.take().expect("a pipe");
    input.write_all(LINE.as_bytes()).expect("the lab reads");
    drop(input);
    let output = lab.wait_with_output().expect("it ends");
    assert_eq!(stdout(&output), SHOWN);
}

#[test]
fn bad_lines_are_named() {
    let after = |line: &str| format!("name: x\n{LINE}{line}\n").into_bytes();
    refused(&after("00:00:01.0"), &["line 3", "1 value", "three times"]);
    refused(
        &after("00:00:01.0,00:00:01.0,00:00:01.0,1,1,1"),
        &["line 3", "6 values"],
    );
    let memory = |memory: &str| after(&format!("00:00:01.0,00:00:01.0,00:00:01.0,1,1,1,{memory}"));
    refused(&memory(""), &["line 3", "found \"\"", "bytes"]);
    refused(&memory("1,0"), &["line 3", "found \"0\"", "from 1"]);
    refused(&memory("1.5"), &["line 3", "found \"1.5\"", "whole number"]);
    refused(&memory("-3"), &["line 3", "found \"-3\""]);
    refused(
        &memory("99999999999999999999"),
        &["line 3", "to 9223372036854775807"],
    );
    refused(
        &after("00:00:01.0,1,00:00:01.0,1,1,1,1"),
        &["line 3", "found \"1\"", "hh:mm:ss"],
    );
    refused(
        &after("00:00:01.0,00:00:01.0,00:00:01.0,1,many,1,1"),
        &["found \"many\"", "samples"],
    );
    refused(&after("surname: x"), &["line 3", "1 value"]);
    refused(b"name: x\n\xff\n", &["line 2", "UTF-8"]);
}

#[test]
fn files_without_values() {
    refused(b"", &["no line of values"]);
    refused(b"# only\n\nname: a heading\n", &["no line of values"]);
    let place = Place::empty();
    for name in ["missing.txt", ""] {
        let output = geomean(&place.path(name));
        assert_eq!(output.status.code(), Some(2));
        assert!(
            stderr(&output).contains("cannot read"),
            "{}",
            stderr(&output)
        );
    }
}
