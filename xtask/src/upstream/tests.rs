//! The list's mistakes, the outputs of test programs, the manifest.

use std::path::Path;

use super::list::{self, Suite};
use super::output::{self, Summary};
use super::package;
use crate::mutants::gate::Outcome;

const SUITE: &str = "[[suite]]\nname = \"a\"\ncrate = \"a\"\nversion = \"1.0.0\"\nfacade = \"f\"\n\
    files = [\"one\", \"two\"]\ncases = 3\nwith = [\"rand\"]\nfeatures = [\"select\"]\none_by_one = [\"two\"]\n";

fn excluded(file: &str, case: &str, why: &str) -> String {
    format!("[[suite.excluded]]\nfile = \"{file}\"\ncases = [\"{case}\"]\nwhy = \"{why}\"\n")
}

fn suite(text: &str) -> Suite {
    list::parse(text).unwrap().remove(0)
}

fn mistake(text: &str) -> String {
    list::parse(text).unwrap_err().to_string()
}

#[test]
fn a_suite_says_what_is_not_run() {
    let suite = suite(&format!("{SUITE}{}", excluded("two", "x::y", "so")));
    assert_eq!(suite.excluded_from("two").collect::<Vec<_>>(), ["x::y"]);
    assert_eq!(suite.excluded_from("one").count(), 0);
    assert_eq!((suite.threads_of("one"), suite.threads_of("two")), (4, 1));
}

#[test]
fn mistakes_of_the_list_are_told() {
    assert!(mistake(&format!("{SUITE}{SUITE}")).contains("occurs twice"));
    let row = excluded("three", "x", "so");
    assert!(mistake(&format!("{SUITE}{row}")).contains("does not run the file `three`"));
    let row = excluded("one", "x", "so");
    assert!(mistake(&format!("{SUITE}{row}{row}")).contains("excluded twice"));
    let row = excluded("one", "x", " ");
    assert!(mistake(&format!("{SUITE}{row}")).contains("without a reason"));
}

#[test]
fn the_list_of_this_repository_is_read() {
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("upstream.toml");
    let suites = list::parse(&std::fs::read_to_string(list).unwrap()).unwrap();
    for suite in suites {
        let facade = Path::new("..").join(&suite.facade);
        assert!(facade.join("Cargo.toml").is_file(), "{}", suite.facade);
    }
}

const SAID: &str = "running 3 tests\ntest a ... ok\ntest b - should panic ... FAILED\ntest c ... ok\n\n\
    test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 1 filtered out; finished in 0.00s\n";
const WELL: &str =
    "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 1 filtered out; finished\n";

fn judge(excluded: &[&str], outcome: Outcome, said: &str) -> Summary {
    let names = output::names("a: test\nb: test\nc: test\nd: test\n\n4 tests, 0 benchmarks\n");
    assert_eq!(names, ["a", "b", "c", "d"]);
    output::judge("file", &names, excluded, outcome, said)
}

#[test]
fn a_file_that_is_well_has_no_problems() {
    let summary = judge(&["d"], Outcome::Passed, WELL);
    assert_eq!(
        (summary.passed, summary.excluded, summary.failed),
        (3, 1, 0)
    );
    assert_eq!(summary.problems, <[String; 0]>::default());
}

#[test]
fn each_way_to_fail_is_told() {
    let summary = judge(&["d"], Outcome::Failed, SAID);
    assert_eq!((summary.passed, summary.failed), (2, 1));
    assert_eq!(summary.problems, ["file::b failed"]);
    let summary = judge(&["e"], Outcome::Passed, WELL);
    assert_eq!(
        summary.problems,
        ["file::e is excluded, and there is no such case"]
    );
    let summary = judge(&["d"], Outcome::Failed, "test a ... ok\n");
    assert_eq!(summary.problems, ["file ended before its cases did"]);
    let summary = judge(&["d"], Outcome::TimedOut, "test a ... ok\n");
    assert_eq!(summary.problems, ["file was still running at its limit"]);
}

#[test]
fn too_few_of_a_file_are_told() {
    let mut summary = judge(&["d"], Outcome::Passed, WELL);
    summary.demand(75, "file", 4);
    assert_eq!(summary.problems, <[String; 0]>::default());
    summary.demand(76, "file", 4);
    assert_eq!(
        summary.problems,
        ["file: 3 of 4 cases passed, less than the 76 % that the list promises of each file"]
    );
}

#[test]
fn what_a_crate_uses_on_some_platforms_is_found() {
    let theirs = "[package]\nname = \"a\"\nedition = \"2021\"\n\
        [target.'cfg(unix)'.dependencies.libc]\nversion = \"1\"\n\
        [target.'cfg(not(windows))'.dev-dependencies.rand]\nversion = \"0.9\"\n";
    let facade = "[package]\nname = \"upstream-a\"\n";
    let (theirs, facade) = (theirs.parse().unwrap(), facade.parse().unwrap());
    let text = package::manifest(&suite(SUITE), &theirs, &facade, Path::new("facade")).unwrap();
    assert!(
        text.contains("[dependencies.rand]\nversion = \"0.9\""),
        "{text}"
    );
}

#[test]
fn the_manifest_has_the_facade_under_their_name() {
    let theirs = "[package]\nname = \"a\"\nedition = \"2021\"\n[dev-dependencies.rand]\nversion = \"0.8\"\noptional = true\n\
        [dev-dependencies.criterion]\nversion = \"1\"\n";
    let theirs = format!("{theirs}[features]\nselect = [\"rand/std\", \"b/std\", \"spin\"]\n");
    let facade = "[package]\nname = \"upstream-a\"\n";
    let text = package::manifest(
        &suite(SUITE),
        &theirs.parse().unwrap(),
        &facade.parse().unwrap(),
        Path::new("facade"),
    );
    let manifest: toml::Table = text.unwrap().parse().unwrap();
    let expected: toml::Table =
        "a = { package = \"upstream-a\", path = \"facade\" }\nrand = { version = \"0.8\" }"
            .parse()
            .unwrap();
    assert_eq!(manifest["dependencies"].as_table(), Some(&expected));
    assert_eq!(manifest["package"]["edition"].as_str(), Some("2021"));
    assert_eq!(
        manifest["features"]["select"].as_array(),
        Some(&vec!["rand/std".into()])
    );
}
