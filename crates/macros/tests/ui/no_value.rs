//! Options have values.

#[gossamer::main(model)]
async fn main() {}

#[gossamer::test(workers)]
async fn workers() {}

#[gossamer::test(model = )]
async fn nothing() {}

#[gossamer::test(model = "single" runtime = rt)]
async fn no_comma() {}

#[gossamer::test(runtime = 3)]
async fn no_name() {}

#[gossamer::test(crate = "gossamer")]
async fn no_path() {}
