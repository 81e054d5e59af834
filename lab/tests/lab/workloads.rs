//! Workloads other than the ring, on fakes: the options a contender gets, the answer that is
//! expected, and what the row says.

use serde_json::json;

use crate::support::{Place, stderr, stdout};

#[test]
fn an_answer_is_that_of_the_workload() {
    // The options are `--spawns 10 --batch 3`: 0 + 1 + … + 9.
    let place = Place::with_fakes_of(
        "spawn",
        &[
            ("right", "echo $(( $2 * ($2 - 1) / 2 ))"),
            ("wrong", "echo 44"),
            ("named", "test $0 = spawn && test $4 = 3 && echo 45"),
        ],
    );
    let output = place.run("run spawn --spawns 10 --batch 3 --runs 2 --json x.json");
    assert!(output.status.success(), "{}", stderr(&output));
    for name in ["right", "named"] {
        let row = place.row("x.json", name);
        assert_eq!(row["status"], "ok", "{row:#}");
        assert_eq!(row["workload"], "spawn");
        assert_eq!(row["params"], json!({"spawns": 10, "batch": 3}));
        assert_eq!((&row["ops"], &row["runs"]), (&json!(10), &json!(2)));
    }
    let wrong = place.row("x.json", "wrong");
    let reason = "printed \"44\", expected \"45\"";
    assert_eq!(
        (&wrong["status"], &wrong["reason"]),
        (&json!("failed"), &json!(reason))
    );
    let text = stdout(&output);
    assert!(
        text.contains("ns/spawn") && text.contains("3 at a time"),
        "{text}"
    );
    assert_eq!(place.names(), ["contenders.toml", "out", "x.json"]);
    assert!(place.path("out/spawn.html").exists());
}

#[test]
fn what_a_contender_says_is_kept() {
    let place = Place::with_fakes_of(
        "resize",
        &[
            ("talks", "echo first >&2; echo '7 resizes' >&2; echo $2"),
            ("silent", "echo $2"),
        ],
    );
    let output = place.run("run resize --yields 5 --runs 1 --json x.json");
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(place.row("x.json", "talks")["said"], "7 resizes");
    assert_eq!(place.row("x.json", "silent")["said"], json!(null));
    assert!(stdout(&output).contains("talks said: 7 resizes"));
    let switches = &place.row("x.json", "talks")["switches"];
    assert!(switches.is_u64(), "{switches}");
}

#[test]
fn what_a_collector_did_is_kept_under_its_own_names() {
    let line = "echo talks >&2; echo 'gc: minor_words=369560098 share=0.3 odd=n/a' >&2; echo 1";
    let place = Place::with_fakes(&[("managed", line), ("bare", "echo 1")]);
    let output = place.run("run ring --threads 5 --hops 5 --runs 1 --json x.json");
    assert!(output.status.success(), "{}", stderr(&output));
    let row = place.row("x.json", "managed");
    let gc = json!({"minor_words": 369_560_098, "share": 0.3, "odd": "n/a"});
    assert_eq!((&row["gc"], &row["said"]), (&gc, &json!("talks")));
    assert_eq!(place.row("x.json", "bare")["gc"], json!(null));
}

#[test]
fn a_contender_says_up_to_where_it_can_be_run() {
    let place = Place::empty();
    let list = r#"
        [[contender]]
        name = "small"
        language = "sh"
        about = "a fake"
        [contender.workload.ring]
        run = ["/bin/sh", "-c", "echo 1"]
        cost_ns = 1
        at_least = { threads = 4 }
        at_most = { threads = 5 }
        beyond = "it has five stacks"
    "#;
    std::fs::write(place.path("contenders.toml"), list).expect("ours");
    for (threads, status) in [(3, "skipped"), (5, "ok"), (6, "skipped")] {
        let words = format!("run ring --threads {threads} --hops 30 --runs 1 --json x.json");
        let output = place.run(&words);
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(place.row("x.json", "small")["status"], status);
    }
    let reason = &place.row("x.json", "small")["reason"];
    assert_eq!(
        reason,
        "not run with more than --threads 5: it has five stacks"
    );
}

/// A terabyte a thread: nobody has that for five.
#[test]
fn what_does_not_fit_into_memory_is_not_started() {
    let place = Place::empty();
    let list = [("large", 1_000_000_000_000_u64), ("small", 1)].map(|(name, bytes)| {
        format!(
            "[[contender]]\nname = \"{name}\"\nlanguage = \"sh\"\nabout = \"a fake\"\n\
             run = [\"/bin/sh\", \"-c\", \"echo 1\"]\n\
             workload.ring = {{ cost_ns = 1, bytes_each = {{ threads = {bytes} }} }}\n"
        )
    });
    std::fs::write(place.path("contenders.toml"), list.concat()).expect("ours");
    let output = place.run("run ring --threads 5 --hops 30 --runs 1 --json x.json");
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(place.row("x.json", "small")["status"], "ok");
    let row = place.row("x.json", "large");
    let reason = row["reason"].as_str().expect("a reason");
    assert_eq!(row["status"], "skipped");
    assert!(
        reason.starts_with("needs about 5000.0 GB, ") && reason.ends_with(" GB are available"),
        "{reason}"
    );
}

#[test]
fn a_choice_decides_what_is_usual() {
    let line = "test $2 = short && test $4 = 3 && test $6 = 2000 && echo 1";
    let place = Place::with_fakes_of("slot", &[("choosy", line)]);
    let output = place.run("run slot --which short --wakes 3 --runs 1 --json x.json");
    assert!(output.status.success(), "{}", stderr(&output));
    let row = place.row("x.json", "choosy");
    // It got the right options, and gave a wrong answer.
    assert_eq!(row["status"], "failed");
    assert!(
        row["reason"]
            .as_str()
            .is_some_and(|text| text.contains("printed \"1\""))
    );
    assert_eq!(row["params"]["work"], 2_000);
}

#[test]
fn who_has_the_hundred_percent_can_be_chosen() {
    let serves = "echo $(( $2 * 100 ))";
    let place = Place::with_fakes_of("msgsend", &[("quick", serves), ("other", serves)]);
    let output = place.run("run msgsend --requests 5 --runs 1 --against other");
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    let compared = text
        .split("Messages per second  Comparison")
        .nth(1)
        .expect("a table");
    let line = compared
        .lines()
        .find(|line| line.starts_with("other"))
        .expect("a row");
    assert!(line.ends_with(" 100.0%"), "{text}");
    let page = std::fs::read_to_string(place.path("out/msgsend.html")).expect("the page");
    assert!(page.contains("Comparison") && page.contains("100.0%"));
    assert!(page.contains("data-rate="), "whose row is clicked has it");
    let place = Place::with_fakes_of("msgsend", &[("quick", serves)]);
    let output = place.run("run msgsend --requests 5 --runs 1 --against nobody");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("quick"), "{}", stderr(&output));
    assert_eq!(place.names(), ["contenders.toml"]);
    let output = place.run("run ring --against quick");
    assert_eq!(output.status.code(), Some(2), "a ring has no such column");
}

#[test]
fn a_list_with_an_unknown_workload_is_refused() {
    let place = Place::with_fakes_of("rong", &[("lost", "echo 1")]);
    let output = place.run("list");
    assert_eq!(output.status.code(), Some(1));
    let message = stderr(&output);
    assert!(
        message.contains("lost") && message.contains("rong"),
        "{message}"
    );
}

#[test]
fn what_is_looked_at_beside_time_is_said_and_shown() {
    let say = "echo figures: late_ms_max=$(( $4 / 2 )).5 late_ms_p99=2 late_ms_p50=0.25 ticks=7";
    let late = format!("{say} os_threads_max=4 >&2; echo $4");
    let later = format!("echo talks >&2; {say} late_ms_max=99 >&2; echo $4");
    let place = Place::with_fakes_of(
        "hostage",
        &[
            ("later", &later),
            ("late", &late),
            ("silent", "echo $4"),
            ("half", "echo figures: ticks=1 late_ms_p99=1 >&2; echo $4"),
        ],
    );
    let output = place.run("run hostage --hostages 3 --runs 2 --json x.json");
    assert!(output.status.success(), "{}", stderr(&output));
    let row = place.row("x.json", "late");
    let figures = json!({
        "late_ms_max": 1.5, "late_ms_p99": 2.0, "late_ms_p50": 0.25, "ticks": 7.0, "os_threads_max": 4.0
    });
    assert_eq!((&row["status"], &row["figures"]), (&json!("ok"), &figures));
    assert_eq!(row["said"], json!(null), "figures are not words");
    let row = place.row("x.json", "later");
    assert_eq!(
        (&row["figures"]["late_ms_max"], &row["said"]),
        (&json!(99.0), &json!("talks"))
    );
    for (name, missed) in [("silent", "late_ms_max"), ("half", "late_ms_max")] {
        let row = place.row("x.json", name);
        let reason = row["reason"].as_str().expect("a reason");
        assert_eq!(row["status"], "failed");
        assert!(
            reason.starts_with(&format!("did not say {missed}")),
            "{reason}"
        );
    }
    let text = stdout(&output);
    let line = |name: &str| {
        let mut lines = text.lines();
        let begins = |line: &&str| line.split_whitespace().next() == Some(name);
        let last = lines.by_ref().filter(begins).last();
        last.map(|line| {
            line.split_whitespace()
                .map(String::from)
                .collect::<Vec<_>>()
        })
    };
    // In order of the first figure: below the times, and the quickest is no winner.
    let below = text.split("max ms").nth(1).expect("a table of figures");
    assert!(
        below.find("late ").expect("a row") < below.find("later ").expect("a row"),
        "{text}"
    );
    assert_eq!(
        line("late").expect("a row")[1..],
        ["1.50", "2.00", "0.250", "7.00", "4.00"]
    );
    let page = std::fs::read_to_string(place.path("out/hostage.html")).expect("the page");
    assert!(page.contains("most OS threads"));
}

#[test]
fn the_memory_of_one_more_is_the_labs_own_figure() {
    // Twenty bytes a thread: what a shell takes that reads so much into a variable.
    let weighs =
        "x=$(head -c $(( $2 * 20 )) /dev/zero | tr '\\0' x); echo $(( $2 * ($2 - 1) / 2 ))";
    let place = Place::with_fakes_of(
        "park",
        &[
            ("weighs", weighs),
            ("alone", "test $2 = 1 && echo 0"),
            (
                "many",
                "test $2 = 1 && exit 3; echo $(( $2 * ($2 - 1) / 2 ))",
            ),
        ],
    );
    let output = place.run("run park --threads 1000000 --runs 2 --json x.json");
    assert!(output.status.success(), "{}", stderr(&output));
    let row = place.row("x.json", "weighs");
    assert_eq!(
        (&row["status"], &row["runs"]),
        (&json!("ok"), &json!(2)),
        "{row:#}"
    );
    let each = row["figures"]["bytes_each"].as_f64().expect("a number");
    assert!((15.0..120.0).contains(&each), "{each} bytes a thread");
    let reason = &place.row("x.json", "many")["reason"];
    assert_eq!(reason, "with one operation: exit status 3");
    assert_eq!(place.row("x.json", "alone")["status"], "failed");
    assert!(
        stdout(&output).contains("bytes/thread"),
        "{}",
        stdout(&output)
    );
}

#[test]
fn a_contender_says_which_choices_it_has() {
    let place = Place::empty();
    let list = r#"
        [[contender]]
        name = "picky"
        language = "sh"
        about = "a fake"
        [contender.workload.mutex]
        run = ["/bin/sh", "-c", "echo $4", "-"]
        cost_ns = 1
        choices = { section = ["yield"] }
        beyond = "it never hurries"
    "#;
    std::fs::write(place.path("contenders.toml"), list).expect("ours");
    for (section, status) in [("short", "skipped"), ("yield", "ok")] {
        let words = format!("run mutex --section {section} --sections 3 --runs 1 --json x.json");
        let output = place.run(&words);
        assert!(output.status.success(), "{}", stderr(&output));
        let row = place.row("x.json", "picky");
        assert_eq!(row["status"], status, "{row:#}");
        if status == "skipped" {
            let reason = "not run with --section short: it never hurries";
            assert_eq!(row["reason"], reason);
        }
    }
}

/// A sequence of one nucleotide: its letter is the last but the newline.
#[test]
fn an_input_is_made_once_and_takes_the_place_of_the_options() {
    let answer = "printf '%s 100.000\\n\\n\\n' $(tail -n 1 \"{input}\" | tr a-z A-Z); \
                  printf '0\\t%s\\n' GGT GGTA GGTATT GGTATTTTAATT GGTATTTTAATTTATAGT";
    let place = Place::with_fakes_of(
        "k-nucleotide",
        &[
            ("right", answer),
            ("without-options", "echo $# \"{input}\""),
        ],
    );
    let output = place.run("run k-nucleotide --nucleotides 1 --runs 2 --json x.json");
    assert!(output.status.success(), "{}", stderr(&output));
    let row = place.row("x.json", "right");
    assert_eq!((&row["status"], &row["runs"]), (&json!("ok"), &json!(2)));
    assert_eq!(row["params"], json!({"nucleotides": 1}));
    let file = place.path("out/inputs/k-nucleotide-nucleotides1.fa");
    let text = std::fs::read_to_string(&file).expect("the input stays");
    assert!(
        text.starts_with(">ONE Homo sapiens alu\n>TWO IUB ambiguity codes\n"),
        "{text}"
    );
    let reason = &place.row("x.json", "without-options")["reason"];
    let told = format!("printed \"0 {}\", expected ", file.display());
    assert!(
        reason.as_str().is_some_and(|text| text.starts_with(&told)),
        "{reason}"
    );
    assert_eq!(stderr(&output).matches("wrote the input").count(), 1);
}

/// Each fake adds its letter to a file when it runs.
#[test]
fn the_order_of_the_contenders_changes_each_round() {
    let letters = ["a", "b", "c", "d", "e", "f"];
    let lines = letters.map(|letter| {
        let line = format!("printf {letter} >> \"$LAB_ORDER\"; echo 1");
        (letter, line)
    });
    let fakes = lines.each_ref().map(|(name, line)| (*name, line.as_str()));
    let place = Place::with_fakes(&fakes);
    let log = place.path("order");
    let output = place
        .lab("run ring --threads 5 --hops 5 --runs 4 --json x.json")
        .env("LAB_ORDER", &log)
        .output()
        .expect("the lab starts");
    assert!(output.status.success(), "{}", stderr(&output));
    let order = std::fs::read_to_string(log).expect("ours");
    let rounds: Vec<&str> = order
        .as_bytes()
        .chunks(letters.len())
        .map(|round| std::str::from_utf8(round).expect("letters"))
        .collect();
    assert_eq!((rounds.len(), rounds[0]), (4, "abcdef"));
    for (index, round) in rounds.iter().enumerate() {
        assert!(
            letters.iter().all(|letter| round.contains(letter)),
            "{order}"
        );
        assert!(!rounds[..index].contains(round), "{order}");
    }
}
