//! The seeds' tables: every one is printed, and what was measured stands beside it.

use crate::support::{Place, RIGHT, stderr, stdout};

const COLLECTS: &str = "echo 'gc: minor_words=42 minor_collections=7' >&2; ";

#[test]
fn every_table_is_printed_and_what_was_measured_stands_beside_it() {
    let collects = format!("{COLLECTS}{RIGHT}");
    let place = Place::with_fakes(&[
        ("ghc", RIGHT),
        ("lwt-1m-list", &collects),
        ("pthreads", "echo 0"),
        ("protothreads/optimum", RIGHT),
        ("protothreads/pessimum", RIGHT),
        ("nobody-asked", RIGHT),
    ]);
    let mut list = std::fs::read_to_string(place.path("contenders.toml")).expect("the fakes");
    list += "[[absent]]\nname = \"Mozart/Oz\"\nwhy = \"gone\"\n";
    list += "[[contender]]\nname = \"std-threads\"\nlanguage = \"-\"\nabout = \"-\"\nworkload.msgsend = { cost_ns = 1, \
             run = [\"/bin/sh\", \"-c\", \"echo $(( $2 * 100 ))\", \"-\"] }\n";
    std::fs::write(place.path("contenders.toml"), list).expect("our own folder");
    let output = place.run("seeds --runs 1");
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    for part in [
        "Haskell GHC 6.8.2                          2680KB      1.22",
        "GCC C (Protothreads, pessimum scheduling)  220KB   18.6s",
        "pthreads: failed: printed \"0\"",
        "erlang: it is not in these results",
        "not installable",
        "Rust port_set                         881,578      232.8%",
        "00:00:23:88967938 is 23.089 s",
        "repeat the first three rows, probably a slip",
        "not yet: there is no workload render, with which these rows come",
        "it is not in these results",
        "Mozart/Oz: not installable: gone\n",
    ] {
        assert!(text.contains(part), "no '{part}' in: {text}");
    }
    assert!(!text.contains("nobody-asked"), "{text}");
    let sent = text
        .lines()
        .find(|line| line.starts_with("std-threads "))
        .expect("a row");
    assert!(sent.ends_with(" 100.0%"), "{text}");
    assert_eq!(
        place.row("out/seeds.json", "std-threads")["workload"],
        "msgsend"
    );
    assert!(!place.path("out/seeds-channels.json").exists());
    let words = |line: &str| {
        line.split_whitespace()
            .map(String::from)
            .collect::<Vec<_>>()
    };
    assert!(
        text.lines()
            .any(|line| words(line) == ["minor_words", "42", "-"]),
        "{text}"
    );
    let page = std::fs::read_to_string(place.path("out/seeds.html")).expect("the page");
    assert!(page.contains("<svg") && page.contains("2680KB"));
    assert_eq!(place.json("out/seeds.json")["schema"], 1);
}

#[test]
fn results_of_an_earlier_run_will_do() {
    let place = Place::with_fakes(&[("ghc", RIGHT)]);
    let output = place.run("run ring --hops 10 --runs 1 --json x.json");
    assert!(output.status.success(), "{}", stderr(&output));
    let file = place.path("x.json");
    let before = std::fs::read(&file).expect("the results");
    let output = place.run("seeds --from x.json");
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(std::fs::read(&file).expect("still there"), before);

    std::fs::write(&file, &before[..before.len() / 2]).expect("ours");
    let output = place.run("seeds --from x.json");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("x.json"), "{}", stderr(&output));
    assert_eq!(stdout(&output), "");
}

#[test]
fn only_the_usual_ring_will_do() {
    let place = Place::with_fakes(&[("ghc", RIGHT)]);
    for words in ["--threads 10", "--order reverse"] {
        let output = place.run(&format!(
            "run ring {words} --hops 10 --runs 1 --json x.json"
        ));
        assert!(output.status.success(), "{}", stderr(&output));
        let output = place.run("seeds --from x.json");
        assert_eq!(output.status.code(), Some(2), "{words}");
        let message = stderr(&output);
        assert!(
            message.contains("x.json has no row of the ring with"),
            "{message}"
        );
    }
}
