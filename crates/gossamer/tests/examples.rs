//! Runs the examples and checks what they print.

use std::path::PathBuf;
use std::process::Command;

/// Its tests; what it prints is checked below.
#[allow(dead_code, reason = "its main is run as a program")]
#[path = "../../../examples/philosophers.rs"]
mod philosophers;

/// The arguments that choose a model, for examples that take one.
const MODELS: [&[&str]; 4] = [&[], &["single"], &["pool:2"], &["threads"]];

/// What the example `name` prints. Cargo builds the examples before it runs this test.
fn output_of(name: &str, arguments: &[&str]) -> String {
    let mut path = std::env::current_exe().expect("the path of this test");
    path.pop();
    path.pop();
    let path: PathBuf = path.join("examples").join(name);
    let output = Command::new(&path).args(arguments).output();
    let output = output.unwrap_or_else(|error| {
        panic!(
            "{}: {error}; `cargo build --examples` makes it",
            path.display()
        )
    });
    assert!(output.status.success(), "{name} failed: {output:?}");
    String::from_utf8(output.stdout).expect("examples print text")
}

#[test]
fn thread_ring_names_the_winner() {
    assert_eq!(output_of("thread_ring", &[]), "498\n");
    assert_eq!(output_of("thread_ring", &["0"]), "1\n");
    assert_eq!(output_of("thread_ring", &["502"]), "503\n");
    assert_eq!(output_of("thread_ring", &["503"]), "1\n");
}

#[test]
fn own_scheduler_runs_the_ring() {
    assert_eq!(output_of("own_scheduler", &[]), "498\n");
}

#[test]
fn fixed_ring_states_the_bytes_of_a_task() {
    assert_eq!(output_of("fixed_ring", &[]), "498\n6 bytes a task\n");
}

#[test]
fn chosen_model_gives_one_sum_under_every_model() {
    for arguments in MODELS {
        assert_eq!(output_of("chosen_model", arguments), "the sum is 55\n");
    }
}

#[test]
fn million_timers_cost_nothing_while_they_wait() {
    let expected = "1000000 timers are pending\nidle: true\n";
    assert_eq!(output_of("million_timers", &[]), expected);
}

#[test]
fn idle_channels_give_their_memory_back() {
    for (arguments, limit) in [(&[] as &[&str], 100), (&["drained-at-the-end"], 150)] {
        let expected = format!("300000 channels, 1485000000 in all\nat most {limit} MB: true\n");
        assert_eq!(output_of("idle_channels", arguments), expected);
    }
}

#[test]
fn ping_pong_counts_its_rounds() {
    assert_eq!(output_of("ping_pong", &[]), "1000 rounds\n");
    assert_eq!(output_of("ping_pong", &["0"]), "0 rounds\n");
}

#[test]
fn bank_account_pays_what_is_there() {
    let expected = "\
the task got 70
the fiber got 40
there is 0 left
the bank has 5
";
    assert_eq!(output_of("bank_account", &[]), expected);
}

#[test]
fn same_fringe_walks_no_further_than_the_first_difference() {
    let expected = "\
balanced and deep: true, leaves taken: [1000, 1000]
balanced and changed: false, leaves taken: [10, 10]
balanced and short: false, leaves taken: [501, 500]
";
    for arguments in MODELS {
        assert_eq!(output_of("same_fringe", arguments), expected);
    }
}

#[test]
fn c_callback_sorts_as_tasks_say() {
    let expected = "\
multiples of 99: [99, 198, 297, 396] ... [89892, 89991]
multiples of 100: [100, 1000, 10000, 100000] ... [99800, 99900]
multiples of 101: [101, 1010, 10100, 101000] ... [99788, 99889]
";
    for arguments in MODELS {
        assert_eq!(output_of("c_callback", arguments), expected);
    }
}

#[test]
fn websockets_of_all_pairs_are_open_at_once() {
    let expected = "\
1000 clients are connected
4000 messages came back, and 1000 pairs are done
";
    for arguments in MODELS {
        assert_eq!(output_of("websockets", arguments), expected);
    }
}

#[test]
fn echo_servers_echo() {
    let expected = "\
said \"hello\", heard \"hello\"
said \"and good-bye\", heard \"and good-bye\"
";
    for name in ["echo_task", "echo_fiber", "echo_thread"] {
        assert_eq!(output_of(name, &[]), expected, "{name}");
    }
    for name in ["tls_task", "tls_fiber"] {
        let by_tls = format!("{expected}by TLSv1_3\n");
        assert_eq!(output_of(name, &[]), by_tls, "{name}");
    }
}

#[test]
fn chat_tells_all_others() {
    let expected = "\
\"Ada\" hears \"welcome, Ada\"
\"Bob\" hears \"welcome, Bob\"
Ada hears \"Bob has come\"
Bob hears \"Ada: hello, Bob\"
Ada hears \"Bob: hello, Ada\"
Ada hears \"Bob has gone\"
\"\" hears \"good-bye: the name is empty; expected a line with one\"
";
    assert_eq!(output_of("chat", &[]), expected);
}

#[test]
fn files_are_sent_and_what_is_wrong_is_told() {
    let expected = "\
GET /bytes HTTP/1.1: HTTP/1.1 200 OK, the file: true
HEAD /bytes HTTP/1.1: HTTP/1.1 200 OK \"\"
GET /nothing HTTP/1.1: HTTP/1.1 404 Not Found \"\\\"/nothing\\\" cannot be had: No such file or directory (os error 2)\\n\"
GET /pipe HTTP/1.1: HTTP/1.1 404 Not Found \"\\\"/pipe\\\" cannot be had: it is no regular file; expected one\\n\"
GET /../text.txt HTTP/1.1: HTTP/1.1 400 Bad Request \"the path is \\\"/../text.txt\\\"; expected names below the folder, without `..` and `%`\\n\"
POST /text.txt HTTP/1.1: HTTP/1.1 405 Method Not Allowed \"the method is POST; expected GET or HEAD\\n\"
nonsense: HTTP/1.1 400 Bad Request \"\"
GET /text.txt HTTP/1.1: HTTP/1.1 431 Request Header Fields Too Large \"\"
GET /text.txt HTTP/1.1: HTTP/1.1 431 Request Header Fields Too Large \"\"
one after the other: HTTP/1.1 200 OK, the file: true
one after the other: HTTP/1.1 404 Not Found, 65 bytes
one after the other: HTTP/1.1 200 OK, 7 bytes
one after the other: HTTP/1.1 200 OK, the file: true
all connections have ended
";
    assert_eq!(output_of("files", &[]), expected);
}

#[test]
fn router_answers() {
    let expected = "\
GET /: HTTP/1.1 200 OK \"hello\\n\"
GET /wait/3: HTTP/1.1 200 OK \"waited 3 ms\\n\"
GET /wait/3000: HTTP/1.1 400 Bad Request \"3000 ms are too long; expected at most 1000\\n\"
POST /count: HTTP/1.1 200 OK \"7 bytes so far\\n\"
POST /count: HTTP/1.1 200 OK \"12 bytes so far\\n\"
GET /count: HTTP/1.1 405 Method Not Allowed \"\"
";
    assert_eq!(output_of("router", &[]), expected);
}

#[test]
fn a_server_says_what_an_address_is() {
    let mut path = std::env::current_exe().expect("the path of this test");
    path.pop();
    path.pop();
    let server = Command::new(path.join("examples/echo_thread"))
        .arg("nowhere")
        .output();
    let output = server.expect("cargo has built it");
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    let expected = "ADDRESS is \\\"nowhere\\\"; expected an IP address with a port";
    assert!(said.contains(expected), "{said}");
}

#[test]
fn outcomes_are_exact() {
    let expected = "\
2 philosophers:
Returned(()): 1/2 (50.0000 %), such as \"0/2 0/2\"
Deadlock: 1/2 (50.0000 %), such as \"0/2 1/2\"
4 schedules, of a scheduler that chooses uniformly among the tasks that can go on

3 philosophers:
Returned(()): 2/3 (66.6667 %), such as \"0/3 0/3 0/2 0/2 0/2 0/2\"
Deadlock: 1/3 (33.3333 %), such as \"0/3 2/3 1/2\"
396 schedules, of a scheduler that chooses uniformly among the tasks that can go on

two tasks that count:
Returned(1): 1/2 (50.0000 %), such as \"0/2 1/2 1/2\"
Returned(2): 1/2 (50.0000 %), such as \"0/2 0/2\"
6 schedules, of a scheduler that chooses uniformly among the tasks that can go on
that schedule again counts to 1

one shared channel:
Returned(\"one two because \"): 1 (100.0000 %), such as \"1/2 1/2 0/2 0/2\"
14 schedules, of a scheduler that chooses uniformly among the tasks that can go on

two ports of a set:
Returned(\"one because two \"): 1/16 (6.2500 %), such as \"1/2 1/2 1/2 1/2\"
Returned(\"one two because \"): 15/16 (93.7500 %), such as \"1/2 1/2 0/2 0/2 0/2\"
28 schedules, of a scheduler that chooses uniformly among the tasks that can go on

";
    assert_eq!(output_of("outcomes", &[]), expected);
}

#[test]
fn choice_tree_shows_each_path() {
    let expected = "\
1 of 2
    heads: 1/2
2 of 2
    1 of 4
        tails, then a 1: 1/8
    2 of 4
        tails, then a 2: 1/8
    3 of 4
        tails, then a 3: 1/8
    4 of 4
        tails, then a 4: 1/8
";
    assert_eq!(output_of("choice_tree", &[]), expected);
}

#[test]
fn philosophers_find_the_seed() {
    let printed = output_of("philosophers", &[]);
    for expected in [
        ": deadlock: nothing is enabled, and somebody waits\n",
        "task 1 `Hypatia`, spawned at ",
        "to run it again: sim::run(",
        "again: true\nmended: 1000 orders, and all have eaten in each\n",
    ] {
        assert!(printed.contains(expected), "{expected}: {printed}");
    }
}

#[test]
fn surface_shows_what_it_says() {
    let expected = "\
task and thread: 3
read 10, swap 10
replace Some(11), then Some(12)
try_take None, try_put Ok(())
the task panicked: a planned panic
aborted: true
local: 8
";
    assert_eq!(output_of("surface", &[]), expected);
}
