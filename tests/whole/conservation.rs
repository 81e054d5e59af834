//! Conservation: operations of tasks on real runtimes are dropped after any number of polls, and each message is
//! accounted for, once.
//!
//! Every operation is dropped before or after its *k*-th poll, for each *k* from one to four in turn (a quarter is left
//! alone), also when nobody has woken it: those dropped then are in line, or have just been let go. A message that was
//! not sent is sent again. Rounds end in each of three ways: the senders are done; the senders are aborted, and what is
//! left is counted; the receivers go first.
//!
//! `cargo xtask whole` has ten million messages, and the tests a fiftieth of them.

mod ends;
mod ledger;
mod ports;

use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;
use gossamer::{Model, Runtime};

use self::ends::{Ends, Mpmc, SharedMpmc, SharedSpsc, Spsc};
use self::ledger::{Books, Ledger};
use self::ports::Ports;
use crate::cutting::cut_off;
use crate::part;
use crate::patience::Patience;

/// Messages of each sender in a round.
const EACH: u32 = 1_000;

/// The models, and how many of fifty messages are for each. (One that passes between threads takes longest.)
const MODELS: [(Model, u64); 3] = [
    (Model::Single, 20),
    (Model::Pool { workers: 2 }, 25),
    (Model::Threads, 5),
];

const KINDS: u64 = 9;

/// Longer than this takes on a slow machine.
const PATIENCE: Duration = Duration::from_secs(600);

#[test]
fn ten_million_messages_with_cancellation() {
    let messages: u64 = if part().is_some() {
        10_000_000
    } else {
        200_000
    };
    let (ended, end) = mpsc::channel();
    let running = thread::spawn(move || {
        let share = messages / KINDS;
        println!("{:<27} {}", "", Books::HEADER);
        let all = [
            of::<Mpmc<0>>(share),
            of::<Mpmc<1>>(share),
            of::<Mpmc<64>>(share),
            of::<Mpmc<{ usize::MAX }>>(share),
            of::<Spsc<1>>(share),
            of::<Spsc<64>>(share),
            of::<SharedMpmc<0>>(share),
            of::<SharedSpsc<64>>(share),
            of::<Ports>(share),
        ];
        assert_eq!(all.len() as u64, KINDS);
        let all = all.into_iter().sum::<Books>();
        println!("{:<27} {all}", "all");
        assert!(all.made >= messages, "{} messages", all.made);
        // Nobody listens only if the test has failed already.
        ended.send(()).unwrap_or_default();
    });
    let ended = Patience::new(PATIENCE).recv(&end);
    assert_ne!(ended, Err(mpsc::RecvTimeoutError::Timeout), "it hangs");
    running.join().expect("see above");
}

/// So many messages through ends of this kind, under each model.
fn of<E: Ends>(messages: u64) -> Books {
    let mut all = Books::default();
    for (model, of_fifty) in MODELS {
        let rt = Runtime::builder().model(model).build().expect("a runtime");
        let mut books = Books::default();
        let start = Instant::now();
        for number in 0.. {
            if number >= ENDS.len() && books.made * 50 >= messages * of_fifty {
                break;
            }
            books += round::<E>(&rt, number);
        }
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{:<18} {:<8} {books} {seconds:>6.1} s",
            E::name(),
            model.to_string()
        );
        all += books;
    }
    all
}

const ENDS: [End; 3] = [End::Done, End::Aborted, End::Closed];

/// How a round ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// The senders have sent everything.
    Done,
    /// The receivers stop, and the senders are aborted.
    Aborted,
    /// The receivers go.
    Closed,
}

fn round<E: Ends>(rt: &Runtime, number: usize) -> Books {
    let (senders, receivers) = E::ends();
    let end = ENDS[number % ENDS.len()];
    let ledger = Ledger::new(senders.len(), EACH);
    let mut rng = Rng::with_seed(number as u64);
    let most = EACH * (senders.len() / receivers.len()) as u32;
    let tasks: Vec<_> = (0..)
        .zip(senders)
        .map(|(sender, tx)| rt.spawn(sends::<E>(tx, ledger.clone(), sender * EACH, rng.fork())))
        .collect();
    let receivers: Vec<_> = receivers
        .into_iter()
        .map(|rx| {
            let most = if end == End::Done {
                u32::MAX
            } else {
                rng.u32(..most)
            };
            rt.spawn(receives::<E>(rx, ledger.clone(), most, end, rng.fork()))
        })
        .collect();
    rt.block_on(async {
        let mut left = Vec::new();
        for receiver in receivers {
            left.extend(receiver.await.expect("no panic"));
        }
        for task in tasks {
            if end == End::Aborted {
                task.abort();
            }
            if let Err(error) = task.await {
                let was_aborted = end == End::Aborted && error.is_cancelled();
                assert!(was_aborted, "a sender: {error}");
            }
        }
        for mut rx in left {
            while let Some(message) = E::try_recv(&mut rx) {
                message.left();
            }
        }
    });
    ledger.close(end == End::Closed, end == End::Aborted)
}

/// As [`cut_off`], counted.
async fn cut<O: Future>(rng: &mut Rng, ledger: &Ledger, operation: O) -> Option<O::Output> {
    let output = cut_off(rng, operation).await;
    if output.is_none() {
        ledger.count_cut();
    }
    output
}

async fn sends<E: Ends>(mut tx: E::Tx, ledger: Arc<Ledger>, first: u32, mut rng: Rng) {
    for id in first..first + EACH {
        let mut message = Some(ledger.make(id));
        while message.is_some() {
            let keeps = E::KEEPS && rng.bool();
            let send = E::send(&mut tx, &mut message, keeps);
            match cut(&mut rng, &ledger, send).await {
                Some(true) => ledger.accept(id),
                Some(false) => {
                    message.take().expect("given back").given_back();
                    return;
                }
                None if message.is_some() => {}
                None if keeps => ledger.accept(id),
                None => ledger.unknown(id),
            }
        }
    }
}

/// At most so many; gives the end back, unless it is to go.
async fn receives<E: Ends>(
    mut rx: E::Rx,
    ledger: Arc<Ledger>,
    most: u32,
    end: End,
    mut rng: Rng,
) -> Option<E::Rx> {
    let (mut last, mut count) = (vec![None; 8], 0);
    let mut is_open = true;
    while is_open && count < most {
        let mut got = Vec::new();
        let receive = E::recv(&mut rx, &mut got, rng.bool());
        is_open = cut(&mut rng, &ledger, receive).await != Some(false);
        for message in got {
            let sender = message.id() / EACH;
            let before = last[sender as usize].replace(message.id());
            assert!(
                before < Some(message.id()) || sender < E::UNORDERED,
                "{before:?}, then {}",
                message.id()
            );
            message.received();
            count += 1;
        }
    }
    (end != End::Closed).then_some(rx)
}
