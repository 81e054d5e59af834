//! A text that names no model is found before the program runs.

#[gossamer::main(model = "pool:0")]
async fn main() {}

#[gossamer::test(model = "pool:1025")]
async fn too_many() {}

#[gossamer::test(model = "fibers")]
async fn unknown() {}

#[gossamer::test(model = "pool:four")]
async fn no_number() {}
