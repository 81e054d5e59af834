//! Libraries of others on our sockets.
#![forbid(unsafe_code)]

fn main() {}
