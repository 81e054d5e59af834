//! A set takes receivers of its messages.

use gossamer::channel::{PortSet, oneshot, unbounded};

fn main() {
    let set = PortSet::<u32>::new();
    let (texts, received) = unbounded::<String>();
    let _ = set.add(texts);
    let _ = set.add(received);
    let (_answer, answered) = oneshot::<u64>();
    let _ = set.add(answered);
}
