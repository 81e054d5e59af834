//! Sending again before it is known that the first message was taken.

gossamer::protocol! {
    protocol Stream between from and to {
        Item: from { item(u64) -> Item, last -> End },
    }
}

fn main() {
    let (from, _to) = stream::pipe();
    let from = from.item(1).unwrap();
    let _ = from.item(2);
}
