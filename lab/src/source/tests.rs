//! What counts as a line of code.

use super::*;

#[test]
fn comments_and_empty_lines_do_not_count() {
    let c = "/* one\n * two */\nint main(void) /* here */\n{\n\n    // three\n    return 0;\n}\n";
    assert_eq!(count(Path::new("x.c"), c), 4);
    let ocaml = "(* one *)\nlet x = 1\n(* two\n   three *)\nlet () = print_int x (* four *)\n";
    assert_eq!(count(Path::new("x.ml"), ocaml), 2);
    let haskell = "{-# LANGUAGE Strict #-}\n-- one\nmain :: IO ()\nmain = pure ()\n";
    assert_eq!(count(Path::new("x.hs"), haskell), 2);
    let python = "\"\"\"one\n\ntwo\"\"\"\n# three\nprint(1)\n";
    assert_eq!(count(Path::new("x.py"), python), 1);
    assert_eq!(
        count(Path::new("x.lisp"), "#| one |#\n; two\n(print 1)\n"),
        1
    );
}
