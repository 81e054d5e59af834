//! An endpoint is used once.

gossamer::protocol! {
    protocol Sum between client and server {
        Question: client { add(u64, u64) -> Answer },
        Answer: server { result(u64) -> End },
    }
}

fn main() {
    let (client, _server) = sum::pipe();
    let _first = client.add(1, 2);
    let _second = client.add(3, 4);
}
