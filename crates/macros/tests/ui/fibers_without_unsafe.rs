//! The attributes make no promise for the user.

#[gossamer::main(fibers = gossamer::Fibers::contract())]
async fn main() {}
