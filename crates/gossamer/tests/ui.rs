//! What the compiler says to who loans more than a scope allows, or promises nothing. `TRYBUILD=overwrite` writes the
//! `.stderr` files anew.

#[test]
fn wrong_uses_are_explained() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
