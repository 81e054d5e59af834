//! Operations that no test does beside a sleeper, or that the page of what ends early does not name.

use super::super::Finding;
use super::super::operations::{all_are_on_the_page, all_are_tested};
use crate::repo::Repo;

const TEST: &str = "tests/it/models/always_ready/locks.rs";
const LOCK: &str = "pub struct Lock;\nimpl Future for Lock {}";

fn on(operations: &str, test: &str) -> Vec<Finding> {
    all_are_tested(&Repo::of(&[
        ("crates/sync/src/mutex.rs", operations),
        (TEST, test),
    ]))
}

#[track_caller]
fn finds(operations: &str, test: &str, line: usize, words: &str) {
    let findings = on(operations, test);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].line, line, "{findings:?}");
    assert!(findings[0].to_string().contains(words), "{}", findings[0]);
}

#[test]
fn a_future_that_is_not_in_the_test() {
    finds(LOCK, "// \"sync::mutex::Lock\"", 2, "`sync::mutex::Lock`");
    finds(
        LOCK,
        "\"sync::rwlock::Lock\"; \"sync::mutex::Lock\"",
        1,
        "no operation",
    );
    assert_eq!(on(LOCK, "\"sync::mutex::Lock\""), []);
    assert_eq!(on(LOCK, "\"sync::mutex::Lock, fair\""), []);
    let generic = "pub struct Lock<T>(T);\nimpl<'a, T>\n    std::future::Future for Lock<T> {}";
    finds(generic, "", 3, "`sync::mutex::Lock`");
    let stream = LOCK.replace("Future", "Stream");
    finds(&stream, "", 2, "`sync::mutex::Lock`");
}

#[test]
fn futures_that_macros_make() {
    let makes = "macro_rules! all { ($($n:ident,)*) => {$(\nimpl Future for $n {}\n)*} }\n";
    finds(
        &format!("{makes}all! {{\n    /// A lock.\n    Lock,\n}}"),
        "",
        6,
        "`sync::mutex::Lock`",
    );
    finds(makes, "", 2, "without a name");
    let made_in = |path: &str, own: &str| {
        let call = format!("{own}super::all! {{\n    Read,\n}}");
        let files = [("crates/sync/src/mutex.rs", makes), (path, &call)];
        let found = all_are_tested(&Repo::of(&files));
        found[0].to_string()
    };
    assert!(made_in("crates/sync/src/rwlock.rs", "").contains("`sync::rwlock::Read`"));
    assert!(made_in("crates/time/src/sleep.rs", "").contains("without a name"));
    let another = "macro_rules! all { () => {} }\n";
    assert!(made_in("crates/sync/src/rwlock.rs", another).contains("without a name"));
}

#[test]
fn futures_without_a_name() {
    finds("pub async fn lock() {}", "", 1, "without a name");
    finds(
        "pub fn lock()\n    -> impl Future<Output = ()> {}",
        "",
        1,
        "without a name",
    );
}

#[test]
fn what_is_no_operation_of_the_facade() {
    assert_eq!(on("struct Lock;\nimpl Future for Lock {}", ""), []);
    assert_eq!(
        on("pub(crate) struct Lock;\nimpl Future for Lock {}", ""),
        []
    );
    assert_eq!(on(&format!("#[cfg(test)] mod tests {{ {LOCK} }}"), ""), []);
    let elsewhere = [("crates/sim/src/lib.rs", LOCK), ("examples/a.rs", LOCK)];
    assert_eq!(all_are_tested(&Repo::of(&elsewhere)), []);
}

#[test]
fn an_operation_that_is_in_no_row() {
    let on = |page: &str| {
        let files = [
            ("crates/sync/src/mutex.rs", LOCK),
            ("docs/CANCELLATION.md", page),
        ];
        let findings = all_are_on_the_page(&Repo::of(&files));
        findings.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let row = "| `Mutex::lock` | no effect <!-- sync::mutex::Lock --> |";
    assert!(on(row).is_empty());
    assert!(
        on("| `sync::mutex::Lock` | no effect |")[0]
            .starts_with("crates/sync/src/mutex.rs:2: `sync::mutex::Lock`")
    );
    let more = format!("\n{row}<!-- sync::mutex::Gone -->");
    assert!(
        on(&more)[0].starts_with("docs/CANCELLATION.md:2: `sync::mutex::Gone` is no operation")
    );
}
