//! The runner against gates that are small shell scripts: each verdict is reached.

use super::choice::{SHARES, Touched, module, named, some};
use super::table::{Mutant, parse};
use super::{Runner, UnknownMutant, Verdict};

/// A gate that fails exactly when its mutant is planted: compiled in, and chosen.
const SEES_THE_BUG: &str = r#"case "$($RUSTC_WORKSPACE_WRAPPER echo rustc) $GOSSAMER_MUTANT" in
    'rustc --cfg mutants m') exit 1;; esac"#;

/// A build that fails exactly with the flag.
const SEES_THE_FLAG: &str =
    r#"case "$($RUSTC_WORKSPACE_WRAPPER echo rustc)" in 'rustc --cfg mutants') exit 1;; esac"#;

fn mutant(gate: &str, build: &str) -> Mutant {
    let text = format!(
        "[[mutant]]\nname = \"m\"\nbreaks = \"it\"\nlimit_s = 1\n\
         gate = [\"sh\", \"-c\", '''{gate}''']\nbuild = [\"sh\", \"-c\", '''{build}''']"
    );
    parse(&text).unwrap().remove(0)
}

fn verdict(mutant: &Mutant) -> Verdict {
    let folder = tempfile::tempdir().unwrap();
    let judged = Runner::new(folder.path())
        .unwrap()
        .judge(std::slice::from_ref(mutant));
    judged.unwrap().remove(0).verdict
}

#[test]
fn a_gate_that_fails_with_the_bug_only_has_caught_it() {
    assert_eq!(verdict(&mutant(SEES_THE_BUG, "true")), Verdict::Caught);
}

#[test]
fn a_gate_that_passes_has_missed_it() {
    assert_eq!(verdict(&mutant("true", "true")), Verdict::Missed);
    assert!(!Verdict::Missed.is_caught());
}

#[test]
fn a_gate_that_always_fails_catches_nothing() {
    assert_eq!(verdict(&mutant("false", "true")), Verdict::BrokenGate);
}

/// Passes twice: without the bug, and in the first attempt with it.
const FAILS_FROM_THE_THIRD_TIME: &str = "n=$(cat n || echo 0); echo $((n + 1)) > n; test $n -lt 2";

#[test]
fn a_gate_that_fails_now_and_then_catches_nothing() {
    let gate = FAILS_FROM_THE_THIRD_TIME;
    assert_eq!(verdict(&mutant(gate, "true")), Verdict::BrokenGate);
}

#[test]
fn a_gate_that_fails_now_and_then_with_the_bug_only_has_caught_it() {
    let gate = format!("test -z \"$GOSSAMER_MUTANT\" || {{ {FAILS_FROM_THE_THIRD_TIME}; }}");
    assert_eq!(verdict(&mutant(&gate, "true")), Verdict::Caught);
}

#[test]
fn a_gate_without_the_bug_is_told_that_none_is_planted() {
    let gate = r#"test "${GOSSAMER_MUTANT-unset}" = ''"#;
    assert_eq!(verdict(&mutant(gate, "true")), Verdict::Caught);
}

#[test]
fn a_build_that_fails_catches_nothing() {
    assert_eq!(
        verdict(&mutant(SEES_THE_BUG, SEES_THE_FLAG)),
        Verdict::BuildError
    );
}

#[test]
fn what_showed_the_verdict_is_known_also_of_a_gate_that_ran_before() {
    let folder = tempfile::tempdir().unwrap();
    let runner = Runner::new(folder.path()).unwrap();
    let first = mutant("echo why; false", "true");
    let mut second = first.clone();
    second.name = "second".to_string();
    for judged in runner.judge(&[first, second]).unwrap() {
        assert_eq!(judged.verdict, Verdict::BrokenGate);
        assert!(judged.shown_by.log.ends_with("log/m.control"));
        assert_eq!(
            std::fs::read_to_string(&judged.shown_by.log).unwrap(),
            "why\n"
        );
    }
}

#[test]
fn one_that_needs_a_build_of_its_own_gets_it() {
    let gate = r#"case "$($RUSTC_WORKSPACE_WRAPPER echo rustc)" in 'rustc --cfg mutant="m"') exit 1;; esac"#;
    let mut mutant = mutant(gate, "true");
    mutant.compiled = true;
    assert_eq!(verdict(&mutant), Verdict::Caught);
}

#[test]
fn a_hang_counts_only_where_the_table_says_so() {
    let hang = SEES_THE_BUG.replace("exit 1", "while :; do :; done");
    let mut mutant = mutant(&hang, "true");
    assert_eq!(verdict(&mutant), Verdict::TimedOut);
    mutant.hang_ok = true;
    assert_eq!(verdict(&mutant), Verdict::CaughtByHanging);
}

#[test]
fn a_gate_sees_its_flags_and_environment() {
    let gate = r#"test "$RUSTFLAGS/$K" = "--cfg loom/v" && test -z "$GOSSAMER_MUTANT""#;
    let mut mutant = mutant(gate, "true");
    mutant.rustflags = "--cfg loom".to_string();
    mutant.env.insert("K".to_string(), "v".to_string());
    assert_eq!(verdict(&mutant), Verdict::Caught);
}

#[test]
fn the_build_command_is_the_gate_without_its_run() {
    let row = "[[mutant]]\nname = \"m\"\nbreaks = \"it\"\n";
    let gate = r#"gate = ["cargo", "test", "-p", "a", "--", "--exact", "b"]"#;
    let mutant = parse(&format!("{row}{gate}")).unwrap().remove(0);
    assert_eq!(
        mutant.build_command().unwrap(),
        ["cargo", "test", "--no-run", "-p", "a"]
    );
    assert_eq!(mutant.limit_s, 300);
    let error = parse(&format!("{row}gate = [\"make\", \"check\"]"))
        .unwrap_err()
        .to_string();
    assert!(error.contains("give `build`"), "{error}");
}

#[test]
fn wrong_tables_are_refused() {
    let row = "[[mutant]]\nname = \"m\"\nbreaks = \"it\"\ngate = [\"cargo\", \"test\"]\n";
    assert_eq!(parse("# nothing yet\n").unwrap().len(), 0);
    assert!(
        parse(&row.repeat(2))
            .unwrap_err()
            .to_string()
            .contains("twice")
    );
    assert!(
        parse(&format!("{row}hang = true"))
            .unwrap_err()
            .to_string()
            .contains("hang")
    );
    assert!(parse(&row.replace("\"m\"", "\"a b\"")).is_err());
}

#[test]
fn verdicts_come_in_the_order_of_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let gates = [SEES_THE_BUG, "true", "false", SEES_THE_BUG];
    let mut mutants: Vec<Mutant> = gates.iter().map(|gate| mutant(gate, "true")).collect();
    mutants[1].name = "second".to_string();
    mutants[2].name = "third".to_string();
    mutants[3].build = Some(vec!["false".to_string()]);
    let judged = Runner::new(folder.path()).unwrap().judge(&mutants).unwrap();
    let verdicts: Vec<Verdict> = judged.iter().map(|judged| judged.verdict).collect();
    let expected = [
        Verdict::Caught,
        Verdict::Missed,
        Verdict::BrokenGate,
        Verdict::BuildError,
    ];
    assert_eq!(verdicts, expected);
}

#[test]
fn an_unknown_name_is_answered_with_the_known_ones() {
    let known = vec![mutant("true", "true")];
    let error = named(known.clone(), &["m", "x"]).unwrap_err();
    assert!(
        error.is::<UnknownMutant>() && error.to_string().contains("(m)"),
        "{error}"
    );
    assert_eq!(named(known, &["m"]).unwrap().len(), 1);
}

/// Numbered ones, each with a test of its own.
fn numbered(count: usize) -> Vec<Mutant> {
    let row = |at| {
        format!(
            "[[mutant]]\nname = \"m{at}\"\nbreaks = \"it\"\ngate = [\"cargo\", \"test\", \"a::t{at}::it\"]\n"
        )
    };
    parse(&(0..count).map(row).collect::<String>()).unwrap()
}

fn names(mutants: &[Mutant]) -> Vec<&str> {
    mutants.iter().map(|mutant| mutant.name.as_str()).collect()
}

#[test]
fn the_shares_together_are_the_table() {
    let nothing = Touched::default();
    let mut planted = Vec::new();
    let all = 2 * SHARES as usize + 1;
    for number in 7..7 + SHARES {
        let share = some(numbered(all), number, &nothing);
        assert!((2..=3).contains(&share.len()));
        planted.extend(names(&share).into_iter().map(str::to_owned));
    }
    planted.sort();
    let table = numbered(all);
    let mut expected = names(&table);
    expected.sort_unstable();
    assert_eq!(planted, expected);
}

#[test]
fn what_a_change_touches_is_planted_beside_the_share() {
    let touched = Touched {
        names: vec!["m1".to_string()],
        modules: vec!["a::t2".to_string(), "t3".to_string(), "a::t".to_string()],
    };
    let of_share = format!("m{SHARES}");
    assert_eq!(
        names(&some(numbered(SHARES as usize + 2), 0, &touched)),
        ["m0", "m1", "m2", &of_share]
    );
}

#[test]
fn a_file_names_its_tests() {
    let of = |path| module(path).unwrap_or_default();
    assert_eq!(of("tests/it/models/pool.rs"), "models::pool");
    assert_eq!(of("tests/whole/histories.rs"), "histories");
    assert_eq!(of("crates/a/tests/loom_b.rs"), "loom_b");
    assert_eq!(
        of("crates/a/src/pool/tests/ending.rs"),
        "pool::tests::ending"
    );
    assert_eq!(of("README.md"), "");
}
