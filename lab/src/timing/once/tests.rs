//! What is said where the launcher reports no figures.

use std::os::unix::process::ExitStatusExt;

use super::*;

fn of(report: &str, status: i32) -> String {
    let mut outcome = Outcome::unreported(String::new());
    let ran = no_figures(report, ExitStatus::from_raw(status), &mut outcome);
    format!("{ran:?}")
}

#[test]
fn no_program_no_process_and_no_word_are_told_apart() {
    let missing = of("unstarted 2\n1 2 3 4 5 exit 127\n", 0);
    assert!(
        missing.contains("NotStarted") && missing.contains("code: 2"),
        "{missing}"
    );
    let full = of("unforked 11\n", 125 << 8);
    assert!(
        full.contains("NoProcess") && full.contains("code: 11"),
        "{full}"
    );
    let killed = of("", 9);
    assert!(
        killed.contains("NoFigures") && killed.contains("9"),
        "{killed}"
    );
    assert_eq!(of("1 2 3 4 5 exit 0\n", 0), "None");
}
