//! A pipe of one thread stays there.

gossamer::protocol! {
    protocol Sum between client and server {
        Question: client { add(u64, u64) -> End },
    }
}

fn main() {
    let (client, _server) = sum::local_pipe();
    elsewhere(client);
}

fn elsewhere(_: impl Send) {}
