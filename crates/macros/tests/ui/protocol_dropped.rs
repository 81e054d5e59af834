//! An endpoint that nobody uses closes the pipe: that is not said by accident.
#![deny(unused_must_use)]

gossamer::protocol! {
    protocol Sum between client and server {
        Question: client { add(u64, u64) -> Answer },
        Answer: server { result(u64) -> End },
    }
}

fn main() {
    let (client, _server) = sum::pipe();
    client.add(1, 2).unwrap();
}
