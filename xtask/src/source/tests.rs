//! The splitter on the texts that fool simple ones.

use super::Source;

#[test]
fn comments_strings_and_code_are_told_apart() {
    let source = Source::new("a(\"// no\"); // yes \"\nb /* c /* d */ e */ f");
    assert!(source.code.contains("a(\"     \");"));
    assert!(source.comments.contains("// yes \""));
    assert!(source.code.ends_with(" f") && !source.code.contains('e'));
    assert!(source.uncommented.contains("// no"));
}

#[test]
fn raw_strings_end_at_their_own_hashes() {
    let source = Source::new("x(r#\"a \" b\"#, br\"c\\\", b\"\\\"\"); unsafe");
    assert!(source.code.contains("unsafe"));
    assert!(!source.code.contains(" b ") && !source.code.contains("a \""));
}

#[test]
fn lifetimes_are_no_characters() {
    let source = Source::new("fn f<'a>(x: &'a str) -> char { 'é'; '\\''; '\"'; b'\"' } // end");
    assert!(source.code.contains("&'a str"));
    assert_eq!(source.comments.trim(), "// end");
}

#[test]
fn an_identifier_that_ends_in_r_opens_no_raw_string() {
    let source = Source::new("bar\"x\" r#type unsafe");
    assert!(source.code.contains("unsafe"));
}

#[test]
fn test_modules_are_found_and_their_opposite_is_not() {
    let text = "fn a() {}\n#[cfg(all(test, loom))]\nmod tests { fn b() { 1 } }\n\
                #[cfg(not(test))]\nfn c() {}\n#[cfg(test)]\nmod tests;\nfn d() {}";
    let source = Source::new(text);
    let tested = |word: &str| source.in_test(text.find(word).unwrap());
    assert!(tested("fn b"));
    assert!(!tested("fn a") && !tested("fn c") && !tested("fn d"));
}

#[test]
fn lines_are_counted_from_one() {
    let source = Source::new("a\nb // c\nd");
    assert_eq!((source.line(0), source.line(2), source.line(9)), (1, 2, 3));
    assert_eq!(source.code_line(2), "b");
    assert_eq!(source.comment_line(2), "// c");
    assert_eq!(source.code_line(3), "d");
}
