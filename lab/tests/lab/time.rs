//! `lab time`: its line, memory of whole trees, energy from fake counters, records, exit codes, and
//! that nothing is left behind.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::{Event, Fifo, Place, stderr, stdout};

/// Holds 50 MB until somebody has read from the pipe `$1` and closed it.
const HOG: &str = "head -c 50000000 /dev/zero | tail -c 50000000 > $1";

fn command(place: &Place, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lab"));
    command.arg("--out").arg(place.path("out"));
    command.arg("time").args(words);
    command.current_dir(place.path("")).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn time(place: &Place, words: &[&str]) -> Output {
    command(place, words).output().expect("the lab starts")
}

fn object(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("one JSON object")
}

/// The parts of a line: name with its colon, size, time, energy.
fn parts(line: &str) -> [String; 4] {
    let (name, rest) = line.split_once("== ").expect("a line of xtime");
    let (size, rest) = rest.split_once(", ").expect("a size");
    let (time, rest) = rest.split_once(" (").expect("a time");
    let energy = rest.strip_suffix(" J energy) ==").expect("an energy");
    [name, size, time, energy].map(String::from)
}

#[test]
fn the_line() {
    let place = Place::empty();
    let output = time(&place, &["sh", "-c", "echo out; echo err >&2"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stdout(&output), "");
    let text = stderr(&output);
    assert!(!text.contains("err"), "{text}");
    let [name, size, time, _] = parts(text.lines().next().expect("a line"));
    assert_eq!(name, "sh: ");
    assert!(size.ends_with("MB") || size.ends_with("KB"), "{size}");
    let form: String = time
        .chars()
        .map(|c| if c.is_ascii_digit() { '0' } else { c })
        .collect();
    assert_eq!(form, "00:00:00.000000000");
    let quiet = self::time(&place, &["-q", "--", "true"]);
    assert!(stderr(&quiet).starts_with("== "), "{}", stderr(&quiet));
}

#[test]
fn output_and_errors_are_shown_on_demand() {
    let place = Place::empty();
    let program = ["sh", "-c", "cat; echo out; echo err >&2"];
    for (options, out, err) in [
        (&["-s"] as &[&str], true, false),
        (&["-e"], false, true),
        (&["-e", "-s"], true, true),
    ] {
        let output = time(&place, &[options, &program].concat());
        assert_eq!(stdout(&output), if out { "out\n" } else { "" });
        assert_eq!(stderr(&output).starts_with("err\n"), err);
    }
    // What stands after the program is the program's.
    let output = time(&place, &["-s", "echo", "-q", "--json", "--runs"]);
    assert_eq!(stdout(&output), "-q --json --runs\n");
}

#[test]
fn what_goes_wrong_has_words_and_a_code() {
    let place = Place::empty();
    for (words, code, said) in [
        (&[] as &[&str], 1, "ERROR: No program given\n"),
        (&["-q", "--"], 1, "ERROR: No program given\n"),
        (&["sh", "-c", "exit 3"], 3, "sh: failed: exit status 3"),
        (&["sh", "-c", "kill -SEGV $$"], 139, "killed by SIGSEGV"),
        (
            &["/no/such/program"],
            127,
            "cannot be started: No such file",
        ),
        (&["/"], 126, "cannot be started: Permission denied"),
        (
            &["sh", "-c", "exit 127"],
            127,
            "sh: failed: exit status 127",
        ),
        (
            &["sh", "-c", "kill -KILL 0"],
            1,
            "killed its whole process group",
        ),
        (&["--bogus", "true"], 2, "'--bogus'"),
        (&["--runs", "0", "true"], 2, "0 is not in 1..=1000"),
        (&["--pause", "-1", "true"], 2, "a number of seconds from 0"),
        (&["--pause", "nan", "true"], 2, "a number of seconds from 0"),
        (&["--json", "-s", "true"], 2, "cannot be used with"),
        (&["-o", "name", "lang"], 2, "3 values required"),
        (
            &["-o", "n", "l", "f", "-o", "n", "l", "g", "true"],
            2,
            "cannot be used multiple times",
        ),
    ] {
        let output = time(&place, words);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{words:?}: {message}");
        assert!(
            message.contains(said),
            "{words:?}: no '{said}' in {message}"
        );
        assert_eq!(stdout(&output), "", "{words:?}");
    }
}

#[test]
fn several_runs_stop_at_the_first_that_fails() {
    let place = Place::empty();
    let line = "test -e once && exit 4; touch once";
    let words = ["--runs", "3", "--pause", "0", "sh", "-c", line];
    let output = time(&place, &words);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(4), "{text}");
    assert_eq!(text.matches(" ==\n").count(), 2, "{text}");
    assert!(!text.contains("geometric mean"), "{text}");
}

#[test]
fn several_runs_have_a_summary_and_one_reason() {
    let place = Place::empty();
    let words = ["--sys", "/no/such", "--runs", "3", "--pause", "0", "true"];
    let output = time(&place, &words);
    let text = stderr(&output);
    assert_eq!(text.matches(" (? J energy) ==\n").count(), 3, "{text}");
    assert_eq!(
        text.matches("energy unknown: no /no/such").count(),
        1,
        "{text}"
    );
    assert!(text.contains("3 runs:\n  memory  min "), "{text}");
    assert_eq!(text.matches("geometric mean").count(), 2, "{text}");
}

/// Reads a byte of each of these pipes, when their writers have all their memory, and gives the lab
/// some time to look.
fn wait_for_hogs(pipes: &[&str]) -> String {
    let read: String = pipes
        .iter()
        .map(|pipe| format!("exec 3< {pipe}; head -c 1 <&3; "))
        .collect();
    format!("{read} sleep 0.5; exec 3<&-")
}

fn peak(place: &Place, line: &str) -> u64 {
    let made = Command::new("mkfifo")
        .args(["a", "b"])
        .current_dir(place.path(""))
        .status();
    assert!(made.expect("mkfifo starts").success());
    std::fs::write(place.path("hog"), HOG).expect("our own folder");
    let output = time(place, &["--json", "sh", "-c", line]);
    assert!(output.status.success(), "{}", stderr(&output));
    let bytes = &object(&output)["runs"][0]["peak_bytes"];
    bytes.as_u64().expect("a number")
}

#[test]
fn memory_is_that_of_all_processes_together() {
    let place = Place::empty();
    let bytes = peak(
        &place,
        "sh hog a & sh hog b & exec 3<a 4<b; head -c 1 <&3; head -c 1 <&4; sleep 0.5",
    );
    assert!((100_000_000..200_000_000).contains(&bytes), "{bytes}");
}

#[test]
fn who_lost_its_parent_counts() {
    let place = Place::empty();
    // It is its own session's, and its parent has ended.
    let line = format!("(setsid sh hog a &); {}", wait_for_hogs(&["a"]));
    let bytes = peak(&place, &line);
    assert!((50_000_000..100_000_000).contains(&bytes), "{bytes}");
}

#[test]
fn a_short_peak_is_seen_all_the_same() {
    let place = Place::empty();
    let bytes = peak(&place, "head -c 50000000 /dev/zero | tail -c 50000000");
    assert!((50_000_000..100_000_000).contains(&bytes), "{bytes}");
}

#[test]
fn what_outlives_the_program_is_ended() {
    let place = Place::empty();
    let fifo = Fifo::new(&place.path("pipe"));
    let line = "exec 3>pipe; setsid sleep 1000 & setsid sh -c 'sleep 1000 & wait' & exit 0";
    let output = time(&place, &["sh", "-c", line]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(fifo.next(), Event::Closed, "a process was left behind");
    let text = stderr(&output);
    assert!(text.contains("of its processes outlived it"), "{text}");
}

#[test]
fn who_was_there_before_is_neither_counted_nor_ended() {
    let place = Place::empty();
    let fifo = Fifo::new(&place.path("pipe"));
    let made = Command::new("mkfifo")
        .args(["a", "go"])
        .current_dir(place.path(""))
        .status();
    assert!(made.expect("mkfifo starts").success());
    std::fs::write(place.path("hog"), HOG).expect("our own folder");
    let mut go = std::fs::OpenOptions::new();
    let go = go.read(true).write(true).open(place.path("go"));
    let mut go = go.expect("our own pipe");
    // The shell's children become the lab's, which takes its place.
    let line = "{ exec 3>pipe; read word <go; echo $word >&3; } >/dev/null 2>&1 & \
                sh hog a 2>/dev/null >&2 & exec 4<a; head -c 1 <&4 >&2; exec \"$@\"";
    let lab = command(&place, &["--json", "true"]);
    let output = Command::new("sh")
        .args(["-c", line, "sh"])
        .arg(lab.get_program())
        .args(lab.get_args())
        .current_dir(place.path(""))
        .output()
        .expect("the shell starts");
    assert!(output.status.success(), "{}", stderr(&output));
    let run = &object(&output)["runs"][0];
    assert_eq!(run["outlived"], 0, "{run:#}");
    assert!(run["peak_bytes"].as_u64() < Some(50_000_000), "{run:#}");
    assert!(!stderr(&output).contains("outlived"), "{}", stderr(&output));
    go.write_all(b"there\n").expect("the pipe is open");
    assert_eq!(fifo.next(), Event::Line("there".into()), "it was ended");
}

#[test]
fn who_reads_no_more_does_not_end_the_lab() {
    let place = Place::empty();
    let closed = || std::io::pipe().expect("a pipe").1;
    for words in [&["true"] as &[&str], &["--json", "true"]] {
        let mut lab = command(&place, words);
        lab.stdout(closed()).stderr(closed());
        let status = lab.status().expect("the lab starts");
        assert_eq!(status.code(), Some(0), "{words:?}");
    }
}

#[test]
fn a_signal_ends_the_whole_tree() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let place = Place::empty();
        let fifo = Fifo::new(&place.path("pipe"));
        // One ignores signals, one has lost its parent, one is what was started.
        let line = "exec 3>pipe; (trap '' INT TERM; setsid sleep 1000 &); \
                    sh -c 'sleep 1000 & echo up >&3; wait'; exit 0";
        let words = [
            "--runs",
            "3",
            "-o",
            "n",
            "l",
            "records.csv",
            "sh",
            "-c",
            line,
        ];
        let lab = command(&place, &words).spawn().expect("the lab starts");
        assert_eq!(fifo.next(), Event::Line("up".into()));
        let pid = Pid::from_raw(i32::try_from(lab.id()).expect("a pid")).expect("not 0");
        kill_process(pid, signal).expect("the lab is there");
        let output = lab.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        assert_eq!(fifo.next(), Event::Closed, "a process was left behind");
        assert!(
            stderr(&output).contains("sh: interrupted"),
            "{}",
            stderr(&output)
        );
        assert!(!place.path("records.csv").exists());
    }
}

/// A tree with one package, whose counter is as given.
fn rapl(place: &Place, energy: &str) {
    let zone = place.path("sys/class/powercap/intel-rapl:0");
    std::fs::create_dir_all(&zone).expect("our own folder");
    for (name, text) in [
        ("name", "package-0\n"),
        ("max_energy_range_uj", "262143328850\n"),
        ("energy_uj", energy),
    ] {
        std::fs::write(zone.join(name), text).expect("our own folder");
    }
}

/// Sets the counter in one step, as a reader of a real one sees it.
fn used(energy: &str) -> String {
    let zone = "sys/class/powercap/intel-rapl:0";
    format!("echo {energy} > {zone}/new; mv {zone}/new {zone}/energy_uj")
}

#[test]
fn energy_is_counted_where_there_is_a_counter() {
    for (before, after, shown) in [
        ("1000000\n", "13345000", "12.345"),
        ("262143328849", "12344999", "12.345"),
        ("5", "5", "0.000"),
    ] {
        let place = Place::empty();
        rapl(&place, before);
        let words = ["--sys", "sys", "sh", "-c", &used(after)];
        let output = time(&place, &words);
        let text = stderr(&output);
        let [_, _, _, energy] = parts(text.lines().next().expect("a line"));
        assert_eq!(energy, shown, "{before} to {after}: {text}");
        assert!(!text.contains("unknown"), "{text}");
    }
}

#[test]
fn a_counter_that_breaks_is_unknown() {
    let place = Place::empty();
    rapl(&place, "1");
    let output = time(&place, &["--sys", "sys", "sh", "-c", &used("many")]);
    assert_eq!(output.status.code(), Some(0));
    let text = stderr(&output);
    assert!(text.contains("(? J energy)"), "{text}");
    assert!(
        text.contains("energy unknown: sys/class") && text.contains("\"many\""),
        "{text}"
    );
}

#[test]
fn one_json_object() {
    let place = Place::empty();
    rapl(&place, "0");
    let program = ["sh", "-c", &used("2000000")];
    let options = ["--json", "--runs", "2", "--pause", "0", "--sys", "sys"];
    let output = time(&place, &[&options[..], &program].concat());
    assert_eq!(stderr(&output), "");
    let object = object(&output);
    assert_eq!(object["command"], json!(program));
    assert_eq!(
        (&object["failure"], &object["joules_unknown"]),
        (&json!(null), &json!(null))
    );
    let runs = object["runs"].as_array().expect("runs");
    assert_eq!(runs.len(), 2);
    let [first, second] = [&runs[0]["joules"], &runs[1]["joules"]];
    assert_eq!((first, second), (&json!(2.0), &json!(0.0)));
    assert_eq!(object["joules"]["max"], 2.0);
    for key in ["wall_s", "peak_bytes"] {
        let value = |name: &str| object[key][name].as_f64().expect("a number");
        assert!(
            0.0 < value("min") && value("min") <= value("median"),
            "{object:#}"
        );
        assert!(value("min") <= value("geometric_mean"), "{object:#}");
        assert!(value("geometric_mean") <= value("max"), "{object:#}");
        assert!(runs[0][key].as_f64().expect("a number") > 0.0);
    }
    let failed = time(&place, &["--json", "--sys", "none", "sh", "-c", "exit 3"]);
    assert_eq!(failed.status.code(), Some(3));
    let object = self::object(&failed);
    assert_eq!(object["failure"], "failed: exit status 3");
    assert_eq!(object["joules"], json!(null));
    assert!(
        object["joules_unknown"]
            .as_str()
            .is_some_and(|text| text.contains("none/class"))
    );
}

#[test]
fn one_json_object_whatever_comes_of_it() {
    let place = Place::empty();
    for (program, code, said) in [
        (&["/no/such/program"] as &[&str], 127, "cannot be started"),
        (&["/"], 126, "cannot be started: Permission denied"),
        (&["sh", "-c", "kill -KILL 0"], 1, "its whole process group"),
        (
            &[
                "sh",
                "-c",
                "kill -TERM $(ps -o ppid= $PPID); exec sleep 1000",
            ],
            143,
            "interrupted",
        ),
        (&[], 1, "no program given"),
    ] {
        let output = time(&place, &[&["--json"], program].concat());
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        let object = object(&output);
        let failure = object["failure"].as_str().expect("words");
        assert!(failure.contains(said), "{object:#}");
        assert_eq!(object["command"], json!(program));
        assert_eq!(
            (&object["runs"], &object["wall_s"]),
            (&json!([]), &json!(null))
        );
        assert_eq!(object["joules"], json!(null));
    }
}

fn lines(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).expect("the lab wrote it");
    text.lines().map(String::from).collect()
}

#[test]
fn records_are_appended() {
    let place = Place::empty();
    rapl(&place, "7");
    let file = place.path("records.csv");
    let with = |name: &str, words: &[&str]| {
        let output = time(&place, &[&["-o", name, "C", "records.csv"], words].concat());
        output.status.code()
    };
    assert_eq!(
        with(
            "ring, 503 \"x\"",
            &["--sys", "none", "--runs", "2", "--pause", "0", "true"]
        ),
        Some(0)
    );
    assert_eq!(with("plain", &["--sys", "sys", "true"]), Some(0));
    // What failed is no record.
    assert_eq!(with("failed", &["false"]), Some(1));
    let lines = lines(&file);
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert_eq!(lines[0], "name,lang,bytes,seconds,joules");
    for line in &lines[1..3] {
        assert!(line.starts_with("\"ring, 503 \"\"x\"\"\",C,"), "{line}");
        assert!(line.ends_with(','), "no energy was measured: {line}");
    }
    assert!(
        lines[3].starts_with("plain,C,") && lines[3].ends_with(",0.000000"),
        "{lines:?}"
    );
    let seconds: f64 = lines[3]
        .split(',')
        .nth(3)
        .and_then(|s| s.parse().ok())
        .expect("seconds");
    assert!(seconds > 0.0);
}

#[test]
fn records_that_cannot_be_written_are_refused_first() {
    let place = Place::empty();
    std::fs::write(place.path("other.txt"), "something\n").expect("our own folder");
    for (file, said) in [
        ("missing/x.csv", "cannot write"),
        (".", "does not name a file"),
        ("/dev/null", "not a plain file"),
        ("other.txt", "does not begin with a line name,lang,bytes"),
    ] {
        let output = time(&place, &["-o", "n", "l", file, "touch", "started"]);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{file}: {message}");
        assert!(
            message.contains(said) && message.contains("-o: "),
            "{file}: {message}"
        );
        assert!(!place.path("started").exists());
    }
    assert_eq!(lines(&place.path("other.txt")), ["something"]);
}
