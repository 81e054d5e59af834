//! One attribute makes it a test.

#[gossamer::test]
#[test]
async fn twice() {}

fn main() {}
