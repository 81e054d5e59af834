//! The attributes go on an `async fn`.

#[gossamer::main]
fn main() {}

#[gossamer::test]
fn test() {}
