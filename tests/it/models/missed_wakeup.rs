//! The gate that watches parks can fail: a lost wake-up ends the process.

use std::future::poll_fn;
use std::process::Command;
use std::task::Poll;

use gossamer::Wait;

/// Set in the process that loses a wake-up.
const LOSES: &str = "GOSSAMER_LOSES";

#[test]
fn a_lost_wake_up_ends_the_process() {
    if std::env::var_os(LOSES).is_some() {
        gossamer_core::parker::watch_parks();
        let mut polled = false;
        // Ready at the second poll, for which nobody wakes it.
        poll_fn(|_| {
            if std::mem::replace(&mut polled, true) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .wait();
        return;
    }
    let this = std::env::current_exe().expect("a test is a program");
    let ran = Command::new(this)
        .args([
            "--exact",
            "models::missed_wakeup::a_lost_wake_up_ends_the_process",
        ])
        .args(["--nocapture", "--test-threads", "1"])
        .env(LOSES, "1")
        .output()
        .expect("it can run itself");
    let cried = String::from_utf8_lossy(&ran.stderr);
    assert!(!ran.status.success(), "{cried}");
    assert!(cried.contains("a lost wake-up"), "{cried}");
}
