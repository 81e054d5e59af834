//! The attributes go on a function.

#[gossamer::main]
struct Main;

#[gossamer::test]
mod tests {}

fn main() {}
