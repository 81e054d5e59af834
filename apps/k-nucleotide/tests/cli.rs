//! The program itself: what it prints, what it refuses, and with which exit code.

use std::path::Path;
use std::process::{Command, Output, Stdio};

fn run(words: &str, input: Option<&Path>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_k-nucleotide"));
    command.args(words.split_whitespace());
    command.stdin(match input {
        Some(file) => Stdio::from(std::fs::File::open(file).expect("our own file")),
        None => Stdio::null(),
    });
    command.output().expect("the program starts")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("text")
}

/// A folder with these files, in which the generator's for N = 1000 is `game.fa`.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        let folder = Folder(tempfile::tempdir().expect("a folder"));
        let generated = run("generate 1000", None);
        assert!(generated.status.success());
        std::fs::write(folder.path("game.fa"), generated.stdout).expect("our own folder");
        folder
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn with(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        std::fs::write(&path, text).expect("our own folder");
        path.display().to_string()
    }
}

#[test]
fn a_file_and_the_standard_input_are_counted_in_every_way() {
    let folder = Folder::new();
    let game = folder.path("game.fa");
    let expected = run(&format!("--how serial {}", game.display()), None);
    assert!(text(&expected.stdout).starts_with("T 31.520\nA 29.600\n"));
    assert!(text(&expected.stdout).ends_with("\n0\tGGTATTTTAATTTATAGT\n"));
    for words in [
        "",
        "-",
        "--how par --model single",
        "--how par --workers 2",
        "--model pool:2 --workers 2",
        "--how messages",
        "--how messages --over channel --model threads",
        "--how messages --over pipe --model pool --workers 2",
        "--how messages --over pipe --capacity 1 --model pool:2",
    ] {
        let output = run(words, Some(&game));
        assert_eq!(
            text(&output.stdout),
            text(&expected.stdout),
            "{words}: {}",
            text(&output.stderr)
        );
        assert!(output.status.success(), "{words}");
    }
}

#[test]
fn json_has_the_same_figures() {
    let folder = Folder::new();
    let output = run(
        "--json --how messages --over pipe --workers 2",
        Some(&folder.path("game.fa")),
    );
    let object: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(object["nucleotides"], 5_000);
    assert_eq!(object["how"], "messages");
    assert_eq!(
        (&object["over"], &object["model"]),
        (&"pipe".into(), &"pool:2".into())
    );
    assert_eq!(object["frequencies"][0][0]["name"], "T");
    assert_eq!(object["frequencies"][1][0]["count"], 496);
    assert_eq!(object["counts"][0]["count"], 54);
}

/// Status 2, nothing printed, and an error that has this part.
#[track_caller]
fn refused(words: &str, part: &str) {
    let output = run(words, None);
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{words}: {error}");
    assert_eq!(text(&output.stdout), "", "{words}");
    assert!(error.contains(part), "{words}: {error}");
}

#[test]
fn bad_input_is_refused_with_file_and_line() {
    let folder = Folder::new();
    let no_fasta = folder.with("no-fasta", "hello\n");
    let other = folder.with("other.fa", ">ONE\nACGT\n");
    let odd = folder.with("odd.fa", ">THREE\nACGT\nACNT\n");
    let bare = folder.with("bare.fa", ">THREE\n");
    for how in ["serial", "par", "messages", "messages --over pipe"] {
        for (file, part) in [
            (&no_fasta, "no-fasta:1: \"hello\" is no FASTA header"),
            (
                &other,
                "other.fa:2: the input ends without a sequence >THREE; it has >ONE: choose",
            ),
            (&odd, "odd.fa:3: 'N' in column 3"),
            (&bare, "bare.fa:1: the sequence >THREE is empty"),
        ] {
            refused(&format!("--how {how} {file}"), part);
        }
    }
    refused(&format!("--sequence FOUR {other}"), "a sequence >FOUR");
    refused("", "standard input:1: the input is empty");
    let missing = folder.path("missing.fa");
    refused(&missing.display().to_string(), "missing.fa: No such file");
    // A folder can be opened, and not read.
    let itself = folder.path("");
    refused(&itself.display().to_string(), "Is a directory");
}

#[test]
fn nonsense_on_the_command_line_is_refused() {
    for (words, part) in [
        ("--how quickly", "serial, par, messages"),
        ("--model triple", "is no threading model"),
        ("--workers 0", "1..=1024"),
        ("--how serial --workers 2", "--workers is for the pool"),
        ("--model single --workers 2", "--workers is for the pool"),
        (
            "--model pool:4 --workers 2",
            "--model pool:4 and --workers 2 contradict each other",
        ),
        ("--how serial --model pool", "--model is for"),
        ("--how par --over pipe", "--over is for --how messages"),
        ("--capacity 5", "--capacity is for --how messages"),
        ("--how messages --capacity 0", "1..=65536"),
        ("generate 0", "1..=1000000000"),
        ("generate", "<N>"),
        ("one two", "two"),
    ] {
        refused(words, part);
    }
}
