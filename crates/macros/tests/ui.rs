//! What the compiler says to who uses the attributes wrongly, loans more than a scope allows, or promises nothing.
//! `TRYBUILD=overwrite` writes the `.stderr` files anew.
//!
//! All are here, as these are the only tests that build the library as a user does, for which few dependencies are soon
//! built.

#[test]
fn wrong_uses_are_explained() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
