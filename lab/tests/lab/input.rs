//! Bad input: a message that names what is valid, exit 2, nothing written.

use crate::support::{Place, RIGHT, stderr, stdout};

#[track_caller]
fn refused(words: &str, expected: &[&str]) {
    let place = Place::with_fakes(&[("good", RIGHT), ("fine", RIGHT)]);
    let output = place.run(words);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "lab {words}: {message}");
    for part in expected {
        assert!(
            message.contains(part),
            "lab {words}: no '{part}' in: {message}"
        );
    }
    assert_eq!(
        place.names(),
        ["contenders.toml"],
        "lab {words} wrote something"
    );
    assert_eq!(stdout(&output), "", "lab {words} printed something");
}

#[test]
fn numbers() {
    refused("run ring --threads 0", &["'0'", "--threads", "from 1 to"]);
    refused(
        "run ring --threads many",
        &["'many'", "--threads", "from 1 to"],
    );
    refused("run ring --threads -3", &["-3"]);
    refused("run ring --hops 1e6", &["'1e6'", "--hops", "from 1 to"]);
    refused(
        "run ring --hops 99999999999999999999",
        &["--hops", "from 1 to"],
    );
    refused("run ring --runs 0", &["'0'", "--runs", "from 1 to"]);
    refused("run ring --timeout 0", &["'0'", "--timeout", "from 1 to"]);
}

#[test]
fn numbers_of_other_workloads() {
    for (workload, option) in [
        ("spawn", "spawns"),
        ("spawn", "batch"),
        ("yield", "tasks"),
        ("pingpong", "pairs"),
        ("cpu", "rounds"),
        ("resize", "yields"),
        ("workers", "workers"),
        ("slot", "work"),
        ("park", "threads"),
        ("mutex", "sections"),
        ("timers", "live"),
        ("hostage", "stuck-ms"),
        ("crowd", "workers"),
        ("spsc", "capacity"),
        ("mpsc", "senders"),
        ("mpmc", "receivers"),
        ("rendezvous", "messages"),
        ("ports", "active"),
        ("pipe", "trips"),
        ("message-ring", "tasks"),
        ("msgsend", "interval"),
        ("bfs", "searches"),
        ("dice", "kept"),
        ("schedules", "ms"),
    ] {
        let words = format!("run {workload} --{option} 0");
        refused(&words, &["'0'", &format!("--{option}"), "from 1 to"]);
    }
    refused("run workers --workers 1025", &["'1025'", "1 to 1024"]);
    // More trees than a graph has roots would never come.
    refused("run bfs --scale 7", &["'7'", "--scale", "8 to 31"]);
    refused("run bfs --searches 65", &["'65'", "1 to 64"]);
    for leaves in ["0", "20", "10000000000"] {
        let words = format!("run skynet --leaves {leaves}");
        refused(&words, &[leaves, "--leaves", "power of ten from 1 to"]);
    }
    refused("run spawn --hops 3", &["--hops"]);
    refused("run slot --which both", &["'both'", "busy", "short"]);
}

#[test]
fn a_contender_without_the_workload() {
    refused("run spawn --only good", &["'good'", "for spawn"]);
}

#[test]
fn names() {
    refused("run ring --only good,bad", &["'bad'", "good, fine"]);
    refused("run ring --only good,", &["''", "good, fine"]);
    refused("run rong", &["'rong'", "ring, spawn, yield"]);
    refused("run rong --threads 3", &["'rong'", "ring"]);
    refused(
        "run ring --order sideways",
        &["'sideways'", "forward, reverse, shuffled"],
    );
    refused("walk", &["'walk'"]);
}

#[test]
fn an_output_that_cannot_be_written_is_refused_before_measuring() {
    refused(
        "run ring --json missing/folder/x.json",
        &["missing/folder/x.json", "--json"],
    );
    refused("run ring --json .", &["does not name a file", "--json"]);
    refused("run ring --json new/", &["does not name a file", "--json"]);
    refused("run ring --json /dev/null", &["not a plain file", "--json"]);
    refused(
        "run ring --json contenders.toml/x",
        &["cannot write", "--json"],
    );
}

#[test]
fn the_lists() {
    let place = Place::empty();
    for (words, parts) in [
        (
            "list",
            [
                "ring",
                "protothreads/optimum",
                "gossamer/single-local",
                "tokio-mvar-multi-2",
            ],
        ),
        ("doctor", ["cc", "cargo", "go", "libst"]),
    ] {
        let output = place.run(words);
        assert!(output.status.success(), "{}", stderr(&output));
        for part in parts {
            assert!(stdout(&output).contains(part), "lab {words}: no {part}");
        }
    }
    assert!(place.names().is_empty());
}

#[test]
fn the_help_of_a_workload_is_its_own() {
    let place = Place::empty();
    for workload in &gossamer_lab::workloads::WORKLOADS {
        let output = place.run(&format!("run {} --help", workload.name));
        assert!(output.status.success(), "{}", stderr(&output));
        let text = stdout(&output);
        assert!(text.starts_with(workload.about), "{text}");
        for option in workload.options {
            assert!(text.contains(&format!("--{}", option.name)), "{text}");
        }
    }
}

#[test]
fn every_contender_has_a_line_in_a_readme() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("contenders");
    let languages = std::fs::read_dir(&folder).expect("our own folder");
    let readmes: String = languages
        .map(|language| language.expect("listed").path().join("README.md"))
        .map(|file| std::fs::read_to_string(file).expect("each language has a README.md"))
        .collect();
    let catalogue = gossamer_lab::catalogue::Catalogue::load(&folder).expect("our own lists");
    for contender in catalogue.contenders {
        let name = format!("`{}`", contender.name);
        assert!(readmes.contains(&name), "no README explains {name}");
        let category = contender.category.as_str();
        let known = ["lightweight", "POSIX", "Ruby", "control"];
        assert!(known.contains(&category), "{name}: category {category:?}");
        for file in &contender.sources {
            assert!(file.is_file(), "{name}: there is no {}", file.display());
        }
        let has_ring = contender.workload.contains_key("ring");
        assert!(
            !has_ring || !contender.sources.is_empty(),
            "{name}: no sources"
        );
    }
}
