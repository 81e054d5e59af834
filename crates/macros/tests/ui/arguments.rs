//! No arguments, no generics, no qualifiers.

#[gossamer::main]
async fn main(runtime: &gossamer::Runtime) {}

#[gossamer::test]
async fn takes(number: i32, text: &str) {}

#[gossamer::main]
async fn generic<T>() {}

#[gossamer::main]
async extern "C" fn foreign() {}
