//! An option counts once.

#[gossamer::main(model = "pool", model = "single")]
async fn main() {}

#[gossamer::test(workers = 1, runtime = rt, workers = 2)]
async fn workers() {}

#[gossamer::test(runtime = one, runtime = two)]
async fn names() {}

#[gossamer::test(crate = gossamer, crate = gossamer)]
async fn crates() {}
