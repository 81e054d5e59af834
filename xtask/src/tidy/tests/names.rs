//! What is checked of names: retired words, and one meaning for each type of the facade.

use super::super::retired::TABLE;
use super::super::{Finding, retired, roles};
use crate::repo::Repo;

const WORDS: &str = "[names]\nClaim = \"ShardGuard\"\n[parts]\nhome = \"shard\"\n[prose]\nlend = \"loan\"\n[roles]\n";

fn words(path: &str, text: &str) -> Vec<Finding> {
    retired::no_retired_words(&Repo::of(&[(TABLE, WORDS), (path, text)]))
}

#[track_caller]
fn refused(path: &str, text: &str, line: usize, use_instead: &str) {
    let findings = words(path, text);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].line, line, "{findings:?}");
    assert!(findings[0].expected.contains(use_instead), "{findings:?}");
}

#[test]
fn retired_words() {
    let path = "crates/core/src/a.rs";
    refused(path, "//! A.\nfn f() -> Claim {}", 2, "`ShardGuard`");
    for name in ["open_home", "HomeOf", "HOME_MAX", "NoHome", "home"] {
        refused(path, &format!("//! A.\n\nfn {name}() {{}}"), 3, "`shard`");
    }
    refused("crates/core/src/home/a.rs", "//! A.", 1, "`shard`");
    refused("crates/core/home.md", "A.", 1, "`shard`");
    refused(path, "//! A.\n// We Lend it.", 2, "`loan`");
    for text in [
        "fn homely(at: Homes) {}",
        "fn claim() -> Claimed {}",
        "fn lend() {} // calendar",
        "let home_ = \"Claim home lend\";"
            .replace("home_", "x")
            .as_str(),
    ] {
        assert_eq!(words(path, text), []);
    }
    assert_eq!(
        words("tests/it/home.rs", "fn home() -> Claim {} // lend"),
        []
    );
    assert_eq!(words("docs/a.md", "home Claim lend"), []);
    let wrong = retired::no_retired_words(&Repo::of(&[(TABLE, "[names]\nClaim = 1")]));
    assert_eq!(wrong.len(), 1, "{wrong:?}");
}

fn facade(files: &[(&str, &str)], allowed: &str) -> Vec<String> {
    let table = format!("[names]\n[parts]\n[prose]\n[roles]\n{allowed}");
    let files: Vec<_> = files
        .iter()
        .copied()
        .chain([(TABLE, table.as_str())])
        .collect();
    let findings = roles::one_meaning_a_name(&Repo::of(&files));
    findings.into_iter().map(|finding| finding.found).collect()
}

#[test]
fn names_that_mean_two_things() {
    let lib = "pub use gossamer_sync::Place;\npub mod structure { pub use gossamer_structure::*; }";
    let sync = "mod deep;\npub use self::deep::{Place, Missed as Late};";
    let deep = "pub struct Place;\npub struct Missed;\npub struct Hidden;";
    let structure = "pub mod limit;\nmod raw { pub(crate) struct Hidden; }\npub type Late = u32;";
    let limit = "pin_project! { pub struct Place { a: u32 } }";
    let files = [
        ("crates/gossamer/src/lib.rs", lib),
        ("crates/sync/src/lib.rs", sync),
        ("crates/sync/src/deep.rs", deep),
        ("crates/structure/src/lib.rs", structure),
        ("crates/structure/src/limit.rs", limit),
    ];
    let found = facade(&files, "");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].contains("gossamer::Place (crates/sync/src/deep.rs)"),
        "{found:?}"
    );
    assert!(
        found[0].contains("gossamer::structure::limit::Place"),
        "{found:?}"
    );
    assert_eq!(facade(&files, "Place = \"both are places\""), [""; 0]);
    let needless = facade(&files, "Place = \"both are places\"\nMissed = \"no\"");
    assert_eq!(needless, ["`Missed` means one thing by now"]);
}

#[test]
fn flavours_of_one_type_mean_one_thing() {
    let lib = "pub mod sync { pub use gossamer_sync::sync::*; }\npub mod local { pub use gossamer_sync::local::*; }\n\
               pub mod raw { pub use gossamer_sync::raw::*; }";
    let sync = "mod mutex;\npub mod raw { pub use super::mutex::Mutex; }\n\
                pub mod sync { pub type Mutex<T> = crate::raw::Mutex<T, Shared>; }\n\
                pub mod local { pub type Mutex<T> = crate::raw::Mutex<T, Local>; }";
    let files = [
        ("crates/gossamer/src/lib.rs", lib),
        ("crates/sync/src/lib.rs", sync),
        ("crates/sync/src/mutex.rs", "pub struct Mutex<T, P>(T, P);"),
    ];
    assert_eq!(facade(&files, ""), [""; 0]);
}

#[test]
fn modules_inside_a_file_and_beside_it() {
    let ends = |name: &str| format!("mod ends;\npub mod raw {{ pub use super::ends::{name}; }}");
    let (one, two) = (ends("Sender"), ends("Sender"));
    let files = [
        (
            "crates/gossamer/src/lib.rs",
            "pub mod channel { pub use gossamer_channel::raw; }",
        ),
        (
            "crates/channel/src/lib.rs",
            "mod one;\nmod two;\npub mod raw { pub use crate::one::raw as one; pub use crate::two::raw as two; }",
        ),
        ("crates/channel/src/one.rs", one.as_str()),
        ("crates/channel/src/one/ends.rs", "pub struct Sender;"),
        ("crates/channel/src/two.rs", two.as_str()),
        ("crates/channel/src/two/ends.rs", "pub struct Sender;"),
    ];
    let found = facade(&files, "");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].contains("gossamer::channel::raw::two::Sender"),
        "{found:?}"
    );
}
