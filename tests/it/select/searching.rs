//! Searches by chance, polled by hand: selects, joins and plain operations over two rendezvous channels, each in any
//! order, and some given up. When nobody is woken any more, no two of those that wait could meet; what one side says took
//! place, the other side says too; and nobody wakes itself again and again.
//!
//! A failure names its seed: the same seed does the same again.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use gossamer::channel::join_pattern;
use gossamer::raw::channel::{Receiver, Sender};
use gossamer::{TimeoutExt, select};

use crate::flavour::both;
use crate::hand::Hand;
use crate::ports::Sets;

both! {
    selects_and_joins,
    by_reference_from_one_select_to_the_next,
}

/// A time limit that no test lives to see.
const FAR: Duration = Duration::from_secs(86_400);

/// More polls than all that wait need to come to rest.
const MANY: u32 = 300;

/// The ends of two rendezvous channels.
struct Ends<F: Sets> {
    a: Sender<u32, F::P>,
    b: Sender<u32, F::P>,
    from_a: Receiver<u32, F::P>,
    from_b: Receiver<u32, F::P>,
}

impl<F: Sets> Ends<F> {
    fn new() -> Self {
        let ((a, from_a), (b, from_b)) = (F::channel(0), F::channel(0));
        Self {
            a,
            b,
            from_a,
            from_b,
        }
    }

    /// Receives what can be had at once.
    fn try_recv(&self) -> impl Iterator<Item = u32> {
        [self.from_a.try_recv(), self.from_b.try_recv()]
            .into_iter()
            .flatten()
    }
}

/// What has been said to be sent, and received. Each number is sent once at most.
#[derive(Debug, Default)]
struct Books {
    sent: BTreeSet<u32>,
    got: BTreeSet<u32>,
}

impl Books {
    fn note(&mut self, did: Did) {
        let is_new = match did {
            Did::Sent(number) => self.sent.insert(number),
            Did::Got(number) => self.got.insert(number),
            Did::Joined(one, two) => {
                assert_ne!(one / 10, two / 10, "two messages of one select");
                self.got.insert(one) & self.got.insert(two)
            }
        };
        assert!(is_new, "{did:?} again");
    }

    /// What was received was sent; the rest is still there.
    #[track_caller]
    fn agree(&self, left: usize) {
        assert!(self.got.is_subset(&self.sent), "nobody sent: {self:?}");
        let lost = self.sent.len() - self.got.len();
        assert!(lost <= left, "{lost} lost: {self:?}");
    }
}

/// What an operation did.
#[derive(Debug, Clone, Copy)]
enum Did {
    Sent(u32),
    Got(u32),
    Joined(u32, u32),
}

/// The ways of an operation, as bits: to send on `a`, on `b`, to receive from one of them.
const SENDS_A: u32 = 1;
const SENDS_B: u32 = 2;
const FROM_A: u32 = 4;
const FROM_B: u32 = 8;
/// Shifted by that: with a time limit.
const TIMED: u32 = 4;
/// A `select::any` of two sends.
const ANY: u32 = 256;

/// Whether it could meet another one.
fn meets(ways: u32, others: u32) -> bool {
    let ways = ways & 15
        | ways >> TIMED & 15
        | if ways & ANY == 0 {
            0
        } else {
            SENDS_A | SENDS_B
        };
    let others = others & 15 | others >> TIMED & 15;
    (ways << 2) & others & (FROM_A | FROM_B) != 0
}

/// A select with these ways: those with a time limit, the others without.
async fn selects<F: Sets>(ways: u32, number: u32, ends: &Ends<F>) -> Did {
    let Ends {
        a,
        b,
        from_a,
        from_b,
    } = ends;
    let timed = |way: u32| ways & way << TIMED != 0;
    let plain = |way: u32| ways & way != 0 && !timed(way);
    select! {
        Ok(()) = a.send(number), if plain(SENDS_A) => Did::Sent(number),
        Ok(()) = b.send(number + 1), if plain(SENDS_B) => Did::Sent(number + 1),
        Ok(got) = from_a.recv(), if plain(FROM_A) => Did::Got(got),
        Ok(got) = from_b.recv(), if plain(FROM_B) => Did::Got(got),
        Ok(Ok(())) = a.send(number + 2).timeout(FAR), if timed(SENDS_A) => Did::Sent(number + 2),
        Ok(Ok(())) = b.send(number + 3).timeout(FAR), if timed(SENDS_B) => Did::Sent(number + 3),
        Ok(Ok(got)) = from_a.recv().timeout(FAR), if timed(FROM_A) => Did::Got(got),
        Ok(Ok(Ok(got))) = from_b.recv().timeout(FAR).timeout(2 * FAR), if timed(FROM_B) => Did::Got(got),
        (place, Ok(())) = select::any([a.send(number + 4), b.send(number + 5)]), if ways & ANY != 0 => {
            Did::Sent(number + 4 + place as u32)
        }
    }
}

/// One of them in no select.
async fn alone<F: Sets>(way: u32, number: u32, ends: &Ends<F>) -> Did {
    match way {
        SENDS_A => ends
            .a
            .send(number)
            .await
            .map(|()| Did::Sent(number))
            .unwrap(),
        SENDS_B => ends
            .b
            .send(number)
            .await
            .map(|()| Did::Sent(number))
            .unwrap(),
        FROM_A => Did::Got(ends.from_a.recv().await.unwrap()),
        _ => {
            let mut into = Vec::new();
            ends.from_b.recv_many(&mut into, 1).await.unwrap();
            Did::Got(into[0])
        }
    }
}

async fn joins<F: Sets>(ends: &Ends<F>) -> Did {
    let (one, two) = join_pattern((&ends.from_a, &ends.from_b)).await.unwrap();
    Did::Joined(one, two)
}

/// One that waits.
struct Waits<'a, O> {
    hand: Hand<Pin<Box<dyn Future<Output = O> + 'a>>>,
    /// Its wakes when it was polled last.
    seen: Option<usize>,
    /// Zero: it joins.
    ways: u32,
}

impl<'a, O> Waits<'a, O> {
    fn new(future: impl Future<Output = O> + 'a, ways: u32) -> Self {
        Self {
            hand: Hand::new(Box::pin(future)),
            seen: None,
            ways,
        }
    }

    fn is_woken(&self) -> bool {
        self.seen != Some(self.hand.wakes())
    }
}

/// Polls those that are woken, in any order; now and then only a few of them. Gives whether nobody is woken any more.
fn poll_woken<O>(
    random: &mut fastrand::Rng,
    all: &mut Vec<Waits<'_, O>>,
    mut note: impl FnMut(O),
) -> bool {
    let most = match random.u32(..3) {
        0 => random.u32(..3),
        _ => MANY,
    };
    for _ in 0..most {
        let woken = (0..all.len()).filter(|place| all[*place].is_woken());
        let Some(place) = random.choice(woken.collect::<Vec<_>>()) else {
            return true;
        };
        let waits = &mut all[place];
        waits.seen = Some(waits.hand.wakes());
        if let Poll::Ready(output) = waits.hand.poll() {
            drop(all.remove(place));
            note(output);
        }
    }
    assert!(most < MANY, "somebody wakes itself again and again");
    false
}

struct Search<'a, F: Sets> {
    random: fastrand::Rng,
    ends: &'a Ends<F>,
    waits: Vec<Waits<'a, Did>>,
    books: Books,
    number: u32,
}

impl<F: Sets> Search<'_, F> {
    fn begin(&mut self) {
        self.number += 10;
        let (number, ends) = (self.number, self.ends);
        let way = 1 << self.random.u32(..4);
        let waits = match self.random.u32(..6) {
            0 => Waits::new(joins(ends), 0),
            1 => Waits::new(alone(way, number, ends), way),
            _ => {
                let ways = way | self.random.u32(..512);
                Waits::new(selects(ways, number, ends), ways)
            }
        };
        self.waits.push(waits);
    }

    /// Does something to those that wait, or at once.
    fn act(&mut self) {
        let place = (!self.waits.is_empty()).then(|| self.random.usize(..self.waits.len()));
        match (self.random.u32(..8), place) {
            (0..4, _) if self.waits.len() < 5 => self.begin(),
            (4, Some(place)) => self.waits[place].seen = None,
            // One that was woken may have sent, and would not say so.
            (5, Some(place)) if !self.waits[place].is_woken() => drop(self.waits.remove(place)),
            (6, _) => self
                .ends
                .try_recv()
                .for_each(|got| self.books.note(Did::Got(got))),
            (7, _) => {
                self.number += 10;
                let to = if self.random.bool() {
                    &self.ends.a
                } else {
                    &self.ends.b
                };
                if to.try_send(self.number).is_ok() {
                    self.books.note(Did::Sent(self.number));
                }
            }
            _ => {}
        }
    }

    /// Nobody is woken: so there is nothing that they could do.
    fn check(&self) {
        let ways: Vec<_> = self.waits.iter().map(|waits| waits.ways).collect();
        let has_join = ways.contains(&0);
        for (place, one) in ways.iter().enumerate() {
            for other in ways[..place].iter().chain(&ways[place + 1..]) {
                assert!(!meets(*one, *other), "two could meet: {one:x} {other:x}");
                let joined = meets(*one, FROM_A) && meets(*other, FROM_B);
                assert!(!has_join || !joined, "a join could have: {one:x} {other:x}");
            }
        }
        self.books
            .agree(self.ends.from_a.len() + self.ends.from_b.len());
    }
}

/// Runs `search` with as many seeds.
fn with_seeds(seeds: u64, search: impl Fn(fastrand::Rng)) {
    let seeds = if cfg!(miri) { 20 } else { seeds };
    for seed in 0..seeds {
        let tells = TellsSeed(seed);
        search(fastrand::Rng::with_seed(seed));
        std::mem::forget(tells);
    }
}

/// Dropped by a panic alone.
struct TellsSeed(u64);

impl Drop for TellsSeed {
    fn drop(&mut self) {
        eprintln!("seed {} does it again", self.0);
    }
}

fn selects_and_joins<F: Sets>() {
    with_seeds(1_000, |random| {
        let ends = Ends::<F>::new();
        let mut search = Search {
            random,
            ends: &ends,
            waits: Vec::new(),
            books: Books::default(),
            number: 0,
        };
        for _ in 0..60 {
            search.act();
            let Search {
                random,
                waits,
                books,
                ..
            } = &mut search;
            if poll_woken(random, waits, |did| books.note(did)) {
                search.check();
            }
        }
    });
}

/// Goes from one select to the next with operations by reference, and says what it waits for.
struct Agent<'a, F: Sets> {
    ends: &'a Ends<F>,
    books: &'a RefCell<Books>,
    number: u32,
    ways: Cell<u32>,
    stop: Sender<(), F::P>,
    stopped: Receiver<(), F::P>,
}

impl<F: Sets> Agent<'_, F> {
    /// Each round ends by one of these ways, or by its being stopped. (Two ways are operations of that select alone.)
    async fn go(&self, rounds: Vec<u32>) {
        let (
            Ends {
                a,
                b,
                from_a,
                from_b,
            },
            number,
        ) = (self.ends, self.number);
        let mut to_a = Box::pin(a.send(number));
        let mut to_b = pin!(b.send(number + 1));
        let mut at_a = Box::pin(from_a.recv());
        let mut at_b = pin!(from_b.recv());
        let mut in_time = Box::pin(a.send(number + 2).timeout(FAR));
        let mut done = 0;
        for ways in rounds {
            let ways = ways & !done;
            self.ways.set(ways);
            let (way, did) = select! {
                _ = self.stopped.recv() => continue,
                sent = &mut to_a, if ways & 1 != 0 => (1, sent.map(|()| Did::Sent(number))),
                sent = to_b.as_mut(), if ways & 2 != 0 => (2, sent.map(|()| Did::Sent(number + 1))),
                got = at_a.as_mut(), if ways & 4 != 0 => (4, Ok(Did::Got(got.unwrap()))),
                got = &mut at_b, if ways & 8 != 0 => (8, Ok(Did::Got(got.unwrap()))),
                sent = &mut in_time, if ways & 16 != 0 => {
                    (16, sent.unwrap().map(|()| Did::Sent(number + 2)))
                }
                sent = a.send(number + 3), if ways & 32 != 0 => (32, sent.map(|()| Did::Sent(number + 3))),
                got = from_a.recv().timeout(FAR), if ways & 64 != 0 => (64, Ok(Did::Got(got.unwrap().unwrap()))),
            };
            done |= way;
            self.books.borrow_mut().note(did.unwrap());
        }
        self.ways.set(0);
    }

    fn could_meet(&self, other: &Self) -> bool {
        let (ways, others) = (self.ways.get(), other.ways.get());
        ways & (1 | 16 | 32) != 0 && others & (4 | 64) != 0 || ways & 2 != 0 && others & 8 != 0
    }
}

fn by_reference_from_one_select_to_the_next<F: Sets>() {
    with_seeds(1_000, |mut random| {
        let (ends, books) = (Ends::<F>::new(), RefCell::default());
        let agents: Vec<_> = (1..=2 + random.u32(..3))
            .map(|number| {
                let (stop, stopped) = F::channel(usize::MAX);
                let (ways, number) = (Cell::new(0), 10 * number);
                Agent {
                    ends: &ends,
                    books: &books,
                    number,
                    ways,
                    stop,
                    stopped,
                }
            })
            .collect();
        let mut hands: Vec<_> = agents
            .iter()
            .map(|agent| {
                let rounds = (0..2 + random.u32(..5))
                    .map(|_| random.u32(..128))
                    .collect();
                Waits::new(agent.go(rounds), 0)
            })
            .collect();
        for step in 0..40 {
            match random.u32(..3) {
                0 => {
                    let agent = &agents[random.usize(..agents.len())];
                    agent.stop.try_send(()).unwrap();
                }
                1 => {
                    if let Some(waits) = random.choice(&mut hands) {
                        waits.seen = None;
                    }
                }
                _ if step > 10 && random.u32(..3) == 0 => {
                    ends.try_recv()
                        .for_each(|got| books.borrow_mut().note(Did::Got(got)));
                }
                _ => {}
            }
            if poll_woken(&mut random, &mut hands, |()| ()) {
                for (place, one) in agents.iter().enumerate() {
                    let mut others = agents[..place].iter().chain(&agents[place + 1..]);
                    assert!(!others.any(|other| one.could_meet(other)), "two could meet");
                }
                books.borrow().agree(0);
            }
        }
    });
}
