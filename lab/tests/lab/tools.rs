//! Tools that are there and do not do their work: `lab doctor` and the rows say so, nothing waits for
//! them, and what they leave behind is ended.

use serde_json::{Value, json};

use crate::support::{Event, Fifo, Place, RIGHT, stderr, stdout};

/// A list of needs, and of builds, each with a contender of its name that would give the right
/// answer; beside them one that needs nothing.
fn listed(needs: &[(&str, &str)], builds: &[(&str, &str)]) -> Place {
    let place = Place::with_fakes(&[("good", RIGHT)]);
    let mut list = std::fs::read_to_string(place.path("contenders.toml")).expect("the fakes");
    for (name, line) in needs {
        list += &format!(
            "[[need]]\nname = \"{name}\"\ninstall = \"mine it\"\ndebian = [\"lib{name}-dev\"]\n\
             check = [\"/bin/sh\", \"-c\", \'\'\'{line}\'\'\']\n"
        );
    }
    let needy = needs.iter().map(|(name, _)| (*name, *name, "true"));
    let built = builds.iter().map(|(name, line)| (*name, "", *line));
    for (name, need, line) in needy.chain(built) {
        let needs = if need.is_empty() {
            String::new()
        } else {
            format!("{need:?}")
        };
        list += &format!(
            "[[build]]\nname = \"{name}\"\nneeds = [{needs}]\n\
             argv = [\"/bin/sh\", \"-c\", \'\'\'{line}\'\'\']\n\
             [[contender]]\nname = \"{name}\"\nlanguage = \"-\"\nabout = \"-\"\nbuild = \"{name}\"\n\
             run = [\"/bin/sh\", \"-c\", \'\'\'{RIGHT}\'\'\', \"-\"]\nworkload.ring = {{ cost_ns = 1 }}\n"
        );
    }
    std::fs::write(place.path("contenders.toml"), list).expect("our own folder");
    place
}

/// Runs the ring; the status and the reason of each of these rows.
fn rows<const N: usize>(place: &Place, words: &str, names: [&str; N]) -> [(Value, Value); N] {
    let output = place.run(&format!(
        "run ring --hops 10 --runs 1 --json x.json {words}"
    ));
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(place.row("x.json", "good")["status"], "ok");
    names.map(|name| {
        let row = place.row("x.json", name);
        (row["status"].clone(), row["reason"].clone())
    })
}

fn skipped(reason: &str) -> (Value, Value) {
    (json!("skipped"), json!(reason))
}

#[test]
fn a_tool_that_never_answers_is_named_and_passed_over() {
    let pipes = Place::empty();
    let pipe = pipes.path("pipe");
    let line = format!("exec 3>'{}'; sleep 1000 & sleep 1000", pipe.display());
    let place = listed(&[("asleep", &line), ("sound", "echo 1.0")], &[]);
    let fifo = Fifo::new(&pipe);
    let said = "asleep did not answer within 3 s";
    let found = rows(&place, "--patience 3", ["asleep", "sound"]);
    assert_eq!(found, [skipped(said), (json!("ok"), json!(null))]);
    assert_eq!(fifo.next(), Event::Closed, "a tool was left behind");
    assert_eq!(
        place.json("x.json")["machine"]["versions"],
        json!({"sound": "1.0"})
    );

    let fifo = Fifo::new(&pipes.path("another"));
    let list = std::fs::read_to_string(place.path("contenders.toml")).expect("the list");
    let list = list.replace(
        &*pipe.to_string_lossy(),
        &pipes.path("another").to_string_lossy(),
    );
    std::fs::write(place.path("contenders.toml"), list).expect("our own folder");
    let output = place.run("doctor --patience 3");
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    for part in [
        "broken   asleep         did not answer within 3 s\n",
        "found    sound          1.0\n",
        "will be skipped: asleep (asleep)",
    ] {
        assert!(text.contains(part), "no '{part}' in {text}");
    }
    assert_eq!(fifo.next(), Event::Closed, "a tool was left behind");
}

#[test]
fn a_tool_that_floods_is_named_and_passed_over() {
    let needs = [("talker", "yes"), ("grumbler", "yes >&2")];
    let place = listed(&needs, &[]);
    let found = rows(&place, "", ["talker", "grumbler"]);
    let said = ["talker", "grumbler"].map(|name| format!("{name} printed more than 1 MiB"));
    assert_eq!(found, said.each_ref().map(|said| skipped(said)));
    let output = place.run("doctor");
    assert!(output.status.success(), "{}", stderr(&output));
    let said = "broken   talker         printed more than 1 MiB\n";
    assert!(stdout(&output).contains(said), "{}", stdout(&output));
}

/// The first line is the version, however it came, and nobody is waited for who holds the pipe.
#[test]
fn a_tool_that_leaves_a_child_is_heard_and_the_child_is_ended() {
    let pipes = Place::empty();
    let pipe = pipes.path("pipe");
    let line = format!(
        "exec 3>'{}'; setsid sleep 1000 & echo 2.0 >&2",
        pipe.display()
    );
    let place = listed(&[("parent", &line)], &[]);
    let fifo = Fifo::new(&pipe);
    assert_eq!(rows(&place, "", ["parent"]), [(json!("ok"), json!(null))]);
    assert_eq!(fifo.next(), Event::Closed, "a child was left behind");
    assert_eq!(place.json("x.json")["machine"]["versions"]["parent"], "2.0");
}

#[test]
fn a_build_that_floods_or_never_ends_skips_its_row() {
    let place = listed(&[], &[("flood", "yes")]);
    let said = skipped("build failed: printed more than 64 MiB");
    assert_eq!(rows(&place, "", ["flood"]), [said]);
    let pipes = Place::empty();
    let pipe = pipes.path("pipe");
    let line = format!(
        "exec 3>'{}'; setsid sleep 1000 & sleep 1000",
        pipe.display()
    );
    let place = listed(&[], &[("endless", &line)]);
    let fifo = Fifo::new(&pipe);
    let said = skipped("build failed: stopped after 3 s");
    assert_eq!(rows(&place, "--patience 3", ["endless"]), [said]);
    assert_eq!(fifo.next(), Event::Closed, "a build was left behind");
}

#[test]
fn a_build_that_leaves_a_child_is_done_when_it_ends() {
    let pipes = Place::empty();
    let pipe = pipes.path("pipe");
    let line = format!("exec 3>'{}'; setsid sleep 1000 & true", pipe.display());
    let place = listed(&[], &[("parent", &line)]);
    let fifo = Fifo::new(&pipe);
    assert_eq!(rows(&place, "", ["parent"]), [(json!("ok"), json!(null))]);
    assert_eq!(fifo.next(), Event::Closed, "a child was left behind");
}

/// Only what is missing, each once and in order; what is there and broken is said beside.
#[test]
fn the_packages_of_what_is_missing() {
    let needs = [
        ("zinc", "exit 1"),
        ("iron", "exit 1"),
        ("sound", "echo 1"),
        ("loud", "yes"),
    ];
    let place = listed(&needs, &[]);
    let output = place.run("doctor --packages");
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stdout(&output), "libiron-dev\nlibzinc-dev\n");
    assert_eq!(stderr(&output), "loud printed more than 1 MiB\n");
}

/// The real lists: who follows the advice gets all that Debian has.
#[test]
fn every_need_names_its_packages_or_says_why_not() {
    let lists = gossamer_lab::paths::Paths::new(None, None).contenders;
    let catalogue = gossamer_lab::catalogue::Catalogue::load(&lists).expect("our own lists");
    for need in &catalogue.needs {
        let why = need.install.contains("Debian");
        assert!(
            !need.debian.is_empty() || why,
            "{}: {}",
            need.name,
            need.install
        );
    }
    let needs = |build: &str| catalogue.build(build).map(|build| build.needs.as_slice());
    assert_eq!(
        needs("pekko"),
        Some(["jdk-17".into(), "maven".into()].as_slice())
    );
    for (need, package) in [
        ("jdk-17", "default-jdk-headless"),
        ("jdk", "openjdk-21-jdk-headless"),
    ] {
        let need = catalogue.need(need).expect("it is listed");
        assert_eq!(need.debian, [package]);
    }
}
