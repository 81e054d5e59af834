//! What is checked in the text of files: words, sizes, links.

use super::super::{Check, links, sizes, words};
use super::{finds, passes};
use crate::repo::Repo;

#[test]
fn first_line() {
    finds(
        words::first_line_says_what,
        "a.rs",
        "// what\n",
        1,
        "starts with `// what`",
    );
    finds(words::first_line_says_what, "a.rs", "", 1, "`//!`");
    passes(words::first_line_says_what, "a.rs", "//! What.\n");
}

#[test]
fn unfinished_code() {
    for word in ["todo!()", "unimplemented!(\"x\")", "dbg! (x)", "todo![]"] {
        let text = format!("//! A.\nfn f() {{ {word}; }}");
        finds(words::no_unfinished_code, "a.rs", &text, 2, &word[..4]);
    }
    for attribute in [
        "#[ignore]",
        "#[ignore = \"slow\"]",
        "#[cfg_attr(loom, ignore)]",
    ] {
        let text = format!("{attribute}\nfn f() {{}}");
        finds(words::no_unfinished_code, "tests/a.rs", &text, 1, "ignore");
    }
    passes(
        words::no_unfinished_code,
        "a.rs",
        "// todo!()\nlet x = \"dbg!(\"; my_todo!();",
    );
}

#[test]
fn sleeping_tests() {
    let text = "//! A.\nfn f() { std::thread::sleep (d) }";
    for path in [
        "tests/a.rs",
        "crates/a/src/b/tests.rs",
        "crates/a/src/b_tests.rs",
    ] {
        finds(words::no_sleep_in_tests, path, text, 2, "sleeps");
    }
    passes(words::no_sleep_in_tests, "src/a.rs", text);
    passes(
        words::no_sleep_in_tests,
        "tests/a.rs",
        "fn f() { sleepy(1); \"sleep(1)\" }",
    );
    let text = "fn f() {}\n#[cfg(test)]\nmod tests {\n fn f() { sleep(d) }\n}";
    finds(words::no_sleep_in_tests, "src/a.rs", text, 4, "sleeps");
}

#[test]
fn machine_paths() {
    for root in ["work", "farm", "root", "home"] {
        let text = format!("ok\nsee `/{root}/x`");
        finds(words::no_machine_paths, "a.md", &text, 2, root);
        finds(
            words::no_machine_paths,
            "a.json",
            &format!("/{root}/x"),
            1,
            root,
        );
    }
    passes(
        words::no_machine_paths,
        "a.md",
        "https://a.example/work/x, src/home/x, ../root/x",
    );
}

#[test]
fn long_files_and_functions() {
    let lines = |count: usize| format!("//! A.\n{}", "// x\n".repeat(count - 1));
    finds(
        sizes::sizes,
        "a.rs",
        &lines(501),
        1,
        "501 lines; at most 500",
    );
    passes(sizes::sizes, "a.rs", &lines(500));
    let function = |count: usize| {
        format!(
            "struct S;\nimpl S {{\nfn f() {{\n{}}}\n}}",
            "();\n".repeat(count - 2)
        )
    };
    finds(
        sizes::sizes,
        "a.rs",
        &function(71),
        3,
        "`a.rs#f` has 71 lines; at most 70",
    );
    passes(sizes::sizes, "a.rs", &function(70));
    finds(sizes::sizes, "a.rs", "fn f( {", 1, "cannot be parsed");
}

#[test]
fn the_allow_list_only_shrinks() {
    let text = "// x\n".repeat(510);
    let with =
        |allow: &str| sizes::sizes(&Repo::of(&[("a.rs", &text), ("xtask/allow.txt", allow)]));
    assert_eq!(with("# why\na.rs 510\n"), []);
    let finds = |allow: &str, words: &str| {
        let findings = with(allow);
        assert!(
            findings.iter().any(|f| f.to_string().contains(words)),
            "{findings:?}"
        );
    };
    finds(
        "a.rs 520\n",
        "xtask/allow.txt:1: `a.rs` is allowed 520 lines; shrink it to 510",
    );
    finds("a.rs 505\n", "a.rs:1: `a.rs` has 510 lines; at most 505");
    finds(
        "\nb.rs 600\n",
        "xtask/allow.txt:2: `b.rs` is allowed 600 lines; delete",
    );
    finds(
        "a.rs many\n",
        "xtask/allow.txt:1: `a.rs many`; `PATH LINES`",
    );
    let small = Repo::of(&[("a.rs", "fn f() {}"), ("xtask/allow.txt", "a.rs#f 80")]);
    assert!(
        sizes::sizes(&small)[0]
            .to_string()
            .contains("not needed any more")
    );
}

#[test]
fn links_to_nowhere() {
    let check: Check = links::resolve;
    finds(
        check,
        "docs/a.md",
        "ok\n[x](b.md)",
        2,
        "`b.md`; `docs/b.md` to exist",
    );
    finds(
        check,
        "docs/a.md",
        "![x](../../b.png)",
        1,
        "inside the repository",
    );
    finds(check, "docs/a.md", "[x]: b.md", 1, "`docs/b.md`");
    finds(
        check,
        "a.md",
        "# One\n[x](#two)",
        2,
        "a heading `#two` in `a.md`",
    );
    let others = [("docs/b.md", "# It's `new` here\n"), ("src/lib.rs", "")];
    let text = "[a](b.md#its-new-here) [b](../src/lib.rs#L3) [c](../src/) [d](https://x.example) \
                [e](<b.md> \"title\") `[f](gone.md)` [g](mailto:a@b)\n```\n[h](gone.md)\n```\n";
    let mut files = others.to_vec();
    files.push(("docs/a.md", text));
    assert_eq!(check(&Repo::of(&files)), []);
}

#[test]
fn files_that_are_not_there() {
    let check: Check = links::named_files_exist;
    finds(
        check,
        "a.md",
        "ok\n`gone.rs`",
        2,
        "`gone.rs`; a file that exists",
    );
    finds(check, "a.md", "`crates/gone`", 1, "`crates/gone`");
    let text = "`crates/x/src/pool.rs` `src/pool.rs` `crates/x/src` `crates/NAME/tests`\n```\n`gone.rs`\n```\n";
    let mut files = vec![("crates/x/src/pool.rs", ""), ("docs/a.md", text)];
    files.push(("CHANGELOG.md", "`gone.rs`"));
    assert_eq!(check(&Repo::of(&files)), []);
}
