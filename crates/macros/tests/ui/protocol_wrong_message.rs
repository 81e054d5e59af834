//! A message that the protocol does not have in this state, and one with other contents.

gossamer::protocol! {
    protocol Sum between client and server {
        Question: client { add(u64, u64) -> Answer },
        Answer: server { result(u64) -> End },
    }
}

fn main() {
    let (client, _server) = sum::pipe();
    let _ = client.result(4);

    let (client, _server) = sum::pipe();
    let _ = client.add(1, "2");
}
