//! Sending when it is the other side's turn, and receiving when it is one's own.

gossamer::protocol! {
    protocol Sum between client and server {
        Question: client { add(u64, u64) -> Answer },
        Answer: server { result(u64) -> Question },
    }
}

fn main() {
    let (client, server) = sum::pipe();
    let _ = server.add(1, 2);
    let waiting = client.add(1, 2).unwrap();
    let _ = waiting.add(3, 4);

    let (client, _server) = sum::pipe();
    let _ = client.recv();
}
