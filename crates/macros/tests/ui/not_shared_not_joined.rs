//! What a shared sender shares, and what a join pattern joins.

use gossamer::channel::{SharedSender, join_pattern, unbounded};

fn main() {
    let (tx, rx) = unbounded::<u32>();
    let _ = SharedSender::<u64, _>::new(tx);
    let _ = join_pattern((&rx, rx.clone()));
}
