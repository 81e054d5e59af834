//! The workloads about sockets: real servers, and servers that misbehave.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::thread;

use crate::support::{Place, stderr, stdout};

const REPLY: &str =
    "HTTP/1.1 200 OK\r\nContent-Length: 32\r\n\r\nThe same 32 bytes for everybody\n";

fn has(tool: &str) -> bool {
    let asked = Command::new(tool).arg("--version").output();
    asked.is_ok()
}

/// Answers each request on each connection with this; the port.
fn answering(reply: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = listener.local_addr().expect("it is bound").port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.expect("somebody connects");
            thread::spawn(move || answer(stream, reply));
        }
    });
    port
}

fn answer(mut stream: TcpStream, reply: &str) {
    let mut buffer = [0; 4096];
    while let Ok(1..) = stream.read(&mut buffer) {
        if stream.write_all(reply.as_bytes()).is_err() {
            return;
        }
    }
}

/// Fake servers of a workload: a name and a line for the shell each.
fn listed(workload: &str, servers: &[(&str, String)]) -> Place {
    let place = Place::empty();
    let list: Vec<String> = servers
        .iter()
        .map(|(name, line)| {
            format!(
                "[[contender]]\nname = \"{name}\"\nlanguage = \"sh\"\nabout = \"a fake\"\n\
                 run = [\"{{lab}}\", \"client\", \"{workload}\", \"/bin/sh\", \"-c\", \"{line}\", \"-\"]\n\
                 workload.{workload} = {{ cost_ns = 1 }}\n"
            )
        })
        .collect();
    std::fs::write(place.path("contenders.toml"), list.concat()).expect("our own folder");
    place
}

/// A process that stays, and says that it listens at this port.
fn at(port: u16) -> String {
    format!("echo port {port}; exec sleep 1000")
}

#[test]
fn real_servers_are_measured() {
    // At the same time: most of it is waiting.
    thread::scope(|scope| {
        for (words, wanted) in [
            (
                "connect --ms 50 --connections 2 --calls counted",
                "us_per_request",
            ),
            (
                "echo --trips 300 --connections 20 --at-once 3",
                "bytes_connection",
            ),
            ("idle --connections 20 --idle-ms 1", "idle_switches"),
            ("http --ms 1 --connections 2", "p99_us wrk_p99_us"),
        ] {
            scope.spawn(move || real_servers_say(words, wanted));
        }
    });
}

/// Each real server has a row of a run with these words, and in it this figure.
fn real_servers_say(words: &str, wanted: &str) {
    let place = Place::empty();
    let only = "control-epoll,pthreads";
    let output = place.run(&format!("run {words} --runs 1 --only {only} --json x.json"));
    assert!(output.status.success(), "{}", stderr(&output));
    for name in only.split(',') {
        let row = place.row("x.json", name);
        assert_eq!(row["status"], "ok", "{row:#}");
        for wanted in wanted.split(' ') {
            let is_said = row["figures"][wanted].is_number();
            if wanted.starts_with("wrk") && !has("wrk") {
                let said = row["said"].as_str().expect("why there is no figure");
                assert!(!is_said && said.contains("not installed"), "{row:#}");
            } else {
                assert!(is_said, "{row:#}");
            }
        }
        if words.contains("counted") && has("strace") {
            let calls = row["figures"]["calls_per_request"].as_f64();
            // It accepts, reads, writes and closes.
            assert!(calls.is_some_and(|calls| calls > 3.5), "{row:#}");
        }
    }
}

#[test]
fn an_open_loop_ends_when_every_request_has_its_reply() {
    let place = listed("stuck", &[("prompt", at(answering(REPLY)))]);
    let words =
        "run stuck --times 1 --connections 3 --workers 2 --stuck-ms 1 --runs 1 --json x.json";
    let output = place.run(words);
    assert!(output.status.success(), "{}", stderr(&output));
    let row = place.row("x.json", "prompt");
    assert_eq!(row["status"], "ok", "{row:#}");
    assert!(stdout(&output).contains("longest block ms"));
}

#[test]
fn servers_that_misbehave_have_their_rows() {
    let wrong = answering("HTTP/1.1 404 Not Found\r\n\r\n");
    let other = answering("HTTP/1.1 200 OK\r\n\r\nThe same 32 bytes for nobody");
    let place = listed(
        "stuck",
        &[
            ("silent", "exec true".into()),
            ("fails", "echo no more ports >&2; exit 3".into()),
            ("talks", "echo hello; exec sleep 1000".into()),
            ("nowhere", at(1)),
            ("wrong", at(wrong)),
            ("other", at(other)),
            ("short-lived", format!("echo port {}", answering(REPLY))),
        ],
    );
    let words =
        "run stuck --times 1 --connections 1 --workers 1 --stuck-ms 1 --runs 1 --json x.json";
    let output = place.run(words);
    assert!(output.status.success(), "{}", stderr(&output));
    for (name, reason) in [
        ("silent", "expected the server to print 'port N', got \"\""),
        ("fails", "expected the server to print 'port N', got \"\""),
        ("talks", "got \"hello\""),
        ("nowhere", "cannot connect"),
        ("wrong", "got 'HTTP/1.1 404 Not Found'"),
        ("other", "a reply's body is not the expected one"),
        ("short-lived", "ended before it was told to"),
    ] {
        let row = place.row("x.json", name);
        let told = row["reason"].as_str().expect("a reason");
        assert_eq!(row["status"], "failed", "{name}");
        assert!(told.contains(reason), "{name}: {told}");
        assert!(row["left_behind"].is_null(), "{row:#}");
    }
}

#[test]
fn too_few_descriptors_are_said_before_anything_is_started() {
    let place = listed("echo", &[("never", "exec touch started".into())]);
    let lab = env!("CARGO_BIN_EXE_lab");
    let line = format!(
        "ulimit -n 500; exec {lab} --out out --contenders contenders.toml run echo --runs 1 --json x.json"
    );
    let mut shell = Command::new("/bin/sh");
    let output = shell
        .args(["-c", &line])
        .current_dir(place.path(""))
        .output();
    assert!(output.expect("a shell").status.success());
    let reason = place.row("x.json", "never")["reason"].to_string();
    assert!(
        reason.contains("may have 500 descriptors, and 10,100 are needed"),
        "{reason}"
    );
}

#[test]
fn a_client_that_is_asked_for_something_else_says_what_it_expects() {
    let place = Place::empty();
    for (words, expected) in [
        (
            "client ring true",
            "expected one of http, connect, echo, idle, stuck",
        ),
        ("client connect", "expected SERVER"),
        (
            "client connect true --connections 2 --calls counted --ms 2",
            "expected SERVER",
        ),
        (
            "client connect true --connections x --ms 2 --calls counted",
            "expected SERVER",
        ),
    ] {
        let output = place.tool(words);
        assert_eq!(output.status.code(), Some(2), "{words}");
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    }
}
