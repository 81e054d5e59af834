//! Workers where there are none, or too many.

#[gossamer::main(model = "single", workers = 2)]
async fn main() {}

#[gossamer::test(workers = 2, model = "threads")]
async fn threads() {}

#[gossamer::test(workers = 0)]
async fn none() {}

#[gossamer::main(workers = 1025)]
async fn too_many() {}
