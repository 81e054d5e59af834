//! What the compiler says to who uses the attributes wrongly. `TRYBUILD=overwrite` writes the `.stderr` files anew.

#[test]
fn wrong_uses_are_explained() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
