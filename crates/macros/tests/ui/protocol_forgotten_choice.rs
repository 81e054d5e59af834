//! Whoever receives has to say what is to be done with each message.

use gossamer::Wait;

gossamer::protocol! {
    protocol Sum between client and server {
        Question: client { add(u64, u64) -> Answer, leave -> End },
        Answer: server { result(u64) -> Question },
    }
}

fn main() {
    let (_client, server) = sum::pipe();
    match server.recv().wait().unwrap() {
        sum::Question::Add(one, two, server) => drop(server.result(one + two)),
    }
}
