//! What is wrong with a `select!`, each in a sentence.

use gossamer::select;

async fn nothing() {
    select! {}
}

async fn no_operation() {
    select! {
        number => drop(number),
    }
}

async fn no_body() {
    select! {
        number = async { 1 },
    }
}

async fn after_else() {
    select! {
        else => {}
        _ = async {} => {}
    }
}

async fn no_comma() {
    select! {
        _ = async {} => drop(1)
        _ = async {} => drop(2)
    }
}

async fn no_future() {
    select! {
        _ = 5 => {}
    }
}

fn not_async() {
    select! {
        _ = async {} => {}
    }
}

fn main() {}
