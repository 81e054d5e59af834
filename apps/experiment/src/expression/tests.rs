//! What expressions mean, and where the faults of bad ones are.

use super::{Bounds, Fault, bounds, parse_condition, parse_value};

/// As the program understands it.
#[track_caller]
fn read(text: &str) -> String {
    parse_value(text).expect("it is an expression").to_string()
}

#[test]
fn texts_are_understood() {
    for (text, meaning) in [
        ("3d6", "3d6"),
        (" 3 D 6 ", "3d6"),
        ("d%", "1d100"),
        ("4d6 drop lowest", "4d6 drop lowest 1"),
        ("4d6Drop Highest2", "4d6 drop highest 2"),
        ("4d6kh3", "4d6 keep highest 3"),
        ("4d6 kl", "4d6 keep lowest 1"),
        ("4d6dl", "4d6 drop lowest 1"),
        ("4d6dh4", "4d6 drop highest 4"),
        ("2d6!", "2d6 explode 5"),
        ("2d6 ! 3", "2d6 explode 3"),
        ("2d6 explode", "2d6 explode 5"),
        ("2d6 reroll", "2d6 reroll 1"),
        ("2d6 reroll 2+1", "2d6 reroll 2 + 1"),
        ("0d6", "0d6"),
        ("1+2*3", "1 + 2 * 3"),
        ("(1+2)*3", "(1 + 2) * 3"),
        ("1-2-3", "1 - 2 - 3"),
        ("1-(2-3)", "1 - (2 - 3)"),
        ("((1))", "1"),
        ("-d6*-2", "-1d6 * -2"),
        ("-(d6+1)", "-(1d6 + 1)"),
        ("--1", "--1"),
    ] {
        assert_eq!(read(text), meaning, "{text:?}");
        assert_eq!(read(meaning), meaning);
    }
    for (text, meaning) in [
        ("3d6>=15", "3d6 >= 15"),
        ("3d6!=5", "3d6 != 5"),
        ("3d6! = 5", "3d6 explode 5 = 5"),
        ("d6 == d6", "1d6 = 1d6"),
        ("d6<2*3", "1d6 < 2 * 3"),
    ] {
        let condition = parse_condition(text).expect("it is a comparison");
        assert_eq!(condition.to_string(), meaning, "{text:?}");
    }
}

/// The fault has this part, and its place is these letters, of which there is a mark.
#[track_caller]
fn refused(found: Result<String, Fault>, text: &str, part: &str, marks: &str) {
    let fault = found.expect_err(text);
    assert!(fault.message.contains(part), "{text:?}: {fault:?}");
    let shown = fault.in_text(text);
    let last = shown.lines().last().expect("there are three");
    assert_eq!(last, format!("  {marks} here"), "{text:?}: {shown}");
}

#[test]
fn faults_point_at_their_letters() {
    for (text, part, marks) in [
        ("3d + 2", "expected the number of sides after `d`", "  ^"),
        ("3d0", "at least one side", "  ^"),
        ("", "is empty", "^"),
        ("  \t", "is empty", "^"),
        ("3d6 & 2", "unexpected character '&'", "    ^"),
        ("\u{e9}\u{e9} 3", "unexpected character '\u{e9}'", "^"),
        ("1 +\n\u{d7}", "unexpected character '\u{d7}'", "    ^"),
        ("(3d6 + 1", "never closed", "^"),
        ("2 * (3d6 1)", "expected `)`", "         ^"),
        ("3d6)", "closes nothing", "   ^"),
        ("3d6 7", "or the end here", "    ^"),
        ("3d6 + ", "expected a number", "     ^"),
        ("* 3", "expected a number", "^"),
        ("3d6 +* 2", "expected a number", "     ^"),
        ("keep", "expected a number", "^^^^"),
        (
            "4d6 keep 3",
            "expected `highest` or `lowest` after `keep`",
            "        ^",
        ),
        ("4d6 kh 2 dl", "unexpected rule", "         ^^"),
        ("5 kh", "unexpected rule", "  ^^"),
        ("99999999999999999999", "too large", "^^^^^^^^^^^^^^^^^^^^"),
        ("d6 reroll 4294967296", "too large", "          ^^^^^^^^^^"),
        ("d4294967296", "too many sides", " ^^^^^^^^^^"),
        ("1 + 10001d6", "too many dice", "    ^^^^^"),
        (
            "4d6 keep highest 5",
            "of 4: keep at most 4",
            "    ^^^^^^^^^^^^^^",
        ),
        ("4d6 dl5", "of 4: drop at most 4", "    ^^^"),
        ("2d1!", "explode for ever", "   ^"),
        ("3d6 >= 2", "use `p`", "    ^^"),
        ("(3d6 >= 2)", "outside of parentheses", "     ^^"),
    ] {
        let found = parse_value(text).map(|found| found.to_string());
        refused(found, text, part, marks);
    }
    for (text, part, marks) in [
        ("3d6", "add one, such as `>= 15`", "   ^"),
        ("3d6 15", "or the end here", "    ^^"),
        ("1 < d6 < 3", "unexpected second comparison", "       ^"),
        ("3d6 >=", "expected a number", "      ^"),
    ] {
        let found = parse_condition(text).map(|found| found.to_string());
        refused(found, text, part, marks);
    }
}

#[test]
fn bounds_are_found_without_rolling() {
    let of = |text: &str| bounds(&parse_value(text).expect("it is an expression"));
    for (text, lowest, highest, rolls) in [
        ("3d6", 3, 18, 3),
        ("4d6 dl", 3, 18, 4),
        ("4d6 kl0", 0, 0, 4),
        ("2d6!3", 2, 48, 8),
        ("2d6 reroll", 2, 12, 4),
        ("-d6 * (d4 - 2)", -12, 6, 2),
        ("d6 - d6", -5, 5, 2),
        ("9223372036854775807 * -1", -i64::MAX, -i64::MAX, 0),
    ] {
        let expected = Bounds {
            lowest,
            highest,
            rolls,
        };
        assert_eq!(of(text), Ok(expected), "{text}");
    }
    for (text, part, marks) in [
        (
            "1 + (9223372036854775807 + d6)",
            "outcomes are from",
            "    ^^^^^^^^^^^^^^^^^^^^^^^^^^",
        ),
        (
            "4294967296 * 4294967296 * 0",
            "outcomes are from",
            "^^^^^^^^^^^^^^^^^^^^^^^",
        ),
        ("6000d6 + 6000d6", "up to 12000 dice", "^^^^^^^^^^^^^^^"),
        ("5000d6!", "up to 30000 dice", "^^^^^^^"),
    ] {
        let found = of(text).map(|found| format!("{found:?}"));
        refused(found, text, part, marks);
    }
}

#[test]
fn the_longest_expression_needs_no_more_stack_than_there_is() {
    let deep = |open: &str, inner: &str, close: &str, times: usize| {
        open.repeat(times) + inner + &close.repeat(times)
    };
    for text in [
        deep("(", "d6", ")", 99),
        deep("-", "d6", "", 198),
        deep("", "d6", "+1", 99),
        deep("1-(", "d6", ")", 49),
    ] {
        let found = parse_value(&text).expect("it is short enough");
        assert!(bounds(&found).is_ok());
        assert!(crate::values::distribution(&found).is_ok());
        assert!(!found.to_string().is_empty());
    }
    let fault = parse_value(&deep("(", "d6", ")", 100_000)).expect_err("it is too long");
    assert!(fault.message.contains("make it shorter"), "{fault:?}");
}
