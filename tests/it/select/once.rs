//! Selects on both sides, under every model: each number goes over one of the channels, once.
//!
//! A million rounds under each model take minutes:
//! `GOSSAMER_ROUNDS=1000000 GOSSAMER_PATIENCE=3600 cargo test --release -p gossamer-tests --test it -- select::once`.

use std::time::Duration;

use gossamer::channel::{Closed, Receiver, Sender, TryRecvError, rendezvous};
use gossamer::{Model, Runtime, TimeoutExt, Wait, select, yield_now};

use super::channel;
use crate::models::{MODELS, rounds, runtime, watched};

/// How many rounds a program does under each model.
const ROUNDS: u32 = 6_000;
/// Of so many rounds threads do one with receivers that ask again and again, which leave the sender little time.
const ASKED_BY_THREADS: u32 = 8;

fn each_model(name: &'static str, body: fn(Model, &Runtime, u32)) {
    for model in MODELS {
        watched(&format!("{name}, {model}"), move || {
            body(model, &runtime(model), rounds(ROUNDS))
        });
    }
}

/// The capacities of the four channels.
const CAPACITIES: [[usize; 4]; 3] = [[0; 4], [1; 4], [0, 3, 0, 1]];

/// One sender of four sends a round, and a receiver for each channel: nothing is lost, and nothing is too many.
fn one_of_four(model: Model, rt: &Runtime, rounds: u32, by_any: bool) {
    let rounds = rounds.div_ceil(2 * CAPACITIES.len() as u32);
    for (capacities, asks) in CAPACITIES
        .into_iter()
        .flat_map(|all| [(all, false), (all, true)])
    {
        let rounds = match (model, asks) {
            (Model::Threads, true) => rounds.div_ceil(ASKED_BY_THREADS),
            _ => rounds,
        };
        let channels = capacities.map(channel);
        let receivers = channels
            .each_ref()
            .map(|(_, rx)| rt.spawn(received(rx.clone(), asks)));
        let senders = channels.map(|(tx, _)| tx);
        let sends = rt.spawn(async move {
            for number in 0..rounds {
                let sent = match by_any {
                    true => any_of(&senders, number).await,
                    false => one_of(&senders, number).await,
                };
                assert!(sent, "all receivers are there");
            }
        });
        sends.wait().unwrap();
        let got = receivers.map(|receiver| receiver.wait().unwrap());
        each_once(&got, rounds);
    }
}

/// All that comes. Receivers that ask again and again find a select that waits, all in its one wait.
async fn received(rx: Receiver<u32>, asks: bool) -> Vec<u32> {
    let mut got = Vec::new();
    loop {
        let number = match asks {
            true => rx.try_recv(),
            false => rx.recv().await.map_err(|Closed| TryRecvError::Closed),
        };
        match number {
            Ok(number) => got.push(number),
            Err(TryRecvError::Empty) => yield_now().await,
            Err(TryRecvError::Closed) => return got,
        }
    }
}

async fn one_of([a, b, c, d]: &[Sender<u32>; 4], number: u32) -> bool {
    select! {
        sent = a.send(number) => sent.is_ok(),
        sent = b.send(number) => sent.is_ok(),
        sent = c.send(number) => sent.is_ok(),
        sent = d.send(number) => sent.is_ok(),
    }
}

async fn any_of(senders: &[Sender<u32>; 4], number: u32) -> bool {
    let sends = senders.iter().map(|tx| tx.send(number));
    select::any(sends).await.1.is_ok()
}

/// The receivers have got each number once, and each of them in their order.
#[track_caller]
fn each_once(got: &[Vec<u32>], rounds: u32) {
    let mut times = vec![0_u8; rounds as usize];
    for numbers in got {
        assert!(numbers.is_sorted());
        for number in numbers {
            times[*number as usize] += 1;
        }
    }
    let count = |wanted: fn(&u8) -> bool| times.iter().filter(|times| wanted(times)).count();
    let (lost, twice) = (count(|times| *times == 0), count(|times| *times > 1));
    assert_eq!((lost, twice), (0, 0), "lost, and too many");
}

#[test]
fn a_select_of_four_sends() {
    each_model("select!", |model, rt, rounds| {
        one_of_four(model, rt, rounds, false)
    });
}

#[test]
fn any_of_four_sends() {
    each_model("select::any", |model, rt, rounds| {
        one_of_four(model, rt, rounds, true)
    });
}

/// Messages, and their sum.
type Book = (u64, u64);

/// Three tasks, each of which selects between sending to the next one and receiving from the one before, so that any two
/// of them may meet. Each has received what the one before has sent.
fn round_about(rt: &Runtime, rounds: u32, timed: bool) {
    let [(a, from_a), (b, from_b), (c, from_c)] = [(); 3].map(|()| rendezvous());
    let tasks = [(a, from_c), (b, from_a), (c, from_b)].map(|(tx, rx)| {
        rt.spawn(async move {
            let (mut sent, mut got) = (Book::default(), Book::default());
            for number in 0..u64::from(rounds) {
                let met = match timed {
                    true => to_or_from_in_time(&tx, &rx, number).await,
                    false => to_or_from(&tx, &rx, number).await,
                };
                match met {
                    Some(Met::Sent) => sent = (sent.0 + 1, sent.1 + number),
                    Some(Met::Got(number)) => got = (got.0 + 1, got.1 + number),
                    // One of the others has ended.
                    None => break,
                }
            }
            (sent, got)
        })
    });
    let books = tasks.map(|task| task.wait().unwrap());
    for at in 0..3 {
        let (sent, got) = (books[at].0, books[(at + 1) % 3].1);
        assert_eq!(sent, got, "sent, and received");
    }
}

/// What a round came to.
enum Met {
    Sent,
    Got(u64),
}

async fn to_or_from(tx: &Sender<u64>, rx: &Receiver<u64>, number: u64) -> Option<Met> {
    select! {
        sent = tx.send(number) => sent.ok().map(|()| Met::Sent),
        number = rx.recv() => number.ok().map(Met::Got),
    }
}

async fn to_or_from_in_time(tx: &Sender<u64>, rx: &Receiver<u64>, number: u64) -> Option<Met> {
    const LONG: Duration = Duration::from_secs(3_600);
    select! {
        Ok(sent) = tx.send(number).timeout(LONG) => sent.ok().map(|()| Met::Sent),
        Ok(number) = rx.recv().timeout(LONG) => number.ok().map(Met::Got),
    }
}

#[test]
fn three_that_meet() {
    each_model("three that meet", |_, rt, rounds| {
        round_about(rt, rounds, false)
    });
}

#[test]
fn three_that_meet_in_time() {
    each_model("three that meet in time", |_, rt, rounds| {
        round_about(rt, rounds, true)
    });
}
