//! Options that there are not.

#[gossamer::main(threads = 4)]
async fn main() {}

#[gossamer::test(flavor = "multi_thread")]
async fn flavour() {}

#[gossamer::main("pool:4")]
async fn bare() {}
