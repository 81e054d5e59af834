//! The programs, once for fibers that stay on one thread and once for those that any worker may begin.
//!
//! Each is straight-line code in a fiber, which spawns the others. `MVar`s live as long as the process, so a fiber holds
//! plain references.

/// One module of programs: by which function it spawns, and which `MVar`s it has.
macro_rules! programs {
    ($name:ident, $spawn:ident, $flavour:ident, $channels:ident, $rings:ident) => {
        pub(crate) mod $name {
            use std::sync::LazyLock;

            use channels::{Asked, Came, Channel, Messages, Went};
            use gossamer::channel::oneshot;
            use gossamer::{JoinHandle, Wait, sync, yield_now, $flavour::MVar, $spawn as spawn};
            use waiting::park::{self, AT_ONCE};

            use gossamer_contender::flavours::{$channels, $rings};
            use gossamer_contender::mvars::leak;

            /// A full put, which waits only if it must.
            fn put(place: &MVar<u64>, value: u64) {
                if let Err(value) = place.try_put(value) {
                    put_later(place, value);
                }
            }

            #[cold]
            #[inline(never)]
            fn put_later(place: &MVar<u64>, value: u64) {
                place.put(value).wait();
            }

            /// The sum of what fibers return. One that got lost would make it wrong, which the lab sees; so everywhere here.
            fn sum(fibers: impl IntoIterator<Item = JoinHandle<u64>>) -> u64 {
                let results = fibers.into_iter().map(|fiber| fiber.wait().unwrap_or(0));
                results.fold(0, u64::wrapping_add)
            }

            /// The thread ring, spawned in this order: who got the zero.
            pub(crate) fn ring(hops: u64, order: &[usize]) -> u64 {
                let ring = leak(order.iter().map(|_| MVar::empty()));
                let winner = &leak([MVar::empty()])[0];
                for &id in order {
                    drop(spawn(move || pass_on(ring, id, winner)));
                }
                ring[0].put(hops).wait();
                winner.take().wait()
            }

            pub(crate) fn pass_on(ring: &[MVar<u64>], id: usize, winner: &MVar<u64>) {
                let (own, next) = (&ring[id], &ring[(id + 1) % ring.len()]);
                loop {
                    let token = own.take().wait();
                    if token == 0 {
                        return winner.put(id as u64 + 1).wait();
                    }
                    put(next, token - 1);
                }
            }

            /// Fibers that return a number, so many at a time: the sum, in 32 bits.
            pub(crate) fn spawns(spawns: u64, batch: usize) -> u64 {
                let (mut total, mut next) = (0_u64, 0);
                let mut fibers = Vec::with_capacity(batch);
                while next < spawns {
                    let end = spawns.min(next + batch as u64);
                    fibers.extend((next..end).map(|number| spawn(move || number)));
                    total = total.wrapping_add(sum(fibers.drain(..)));
                    next = end;
                }
                total & u64::from(u32::MAX)
            }

            /// How many yields there were.
            pub(crate) fn yields(total: u64, fibers: u64) -> u64 {
                let yields = |times| {
                    for _ in 0..times {
                        yield_now().wait();
                    }
                    times
                };
                let parts = (0..fibers).map(|fiber| waiting::part(total, fibers, fiber));
                sum(parts
                    .map(|times| spawn(move || yields(times)))
                    .collect::<Vec<_>>())
            }

            /// Fibers that wait for a message each: the sum of what all are sent.
            pub(crate) fn park(fibers: u64) -> u64 {
                park::expect(fibers);
                let [parked, woken] = &*ALL;
                let mut senders = Vec::with_capacity(fibers as usize);
                for number in 0..fibers {
                    let (sender, receiver) = oneshot();
                    senders.push(sender);
                    drop(spawn(move || parking(receiver)));
                    if number % AT_ONCE == 0 {
                        yield_now().wait();
                    }
                }
                parked.take().wait();
                for (number, sender) in (0..).zip(senders) {
                    let _ = sender.send(number);
                    if number % AT_ONCE == 0 {
                        yield_now().wait();
                    }
                }
                woken.take().wait();
                park::sum()
            }

            /// Full when all fibers have parked, and when all were woken.
            static ALL: LazyLock<[sync::MVar<()>; 2]> =
                LazyLock::new(|| [sync::MVar::empty(), sync::MVar::empty()]);

            fn parking(receiver: oneshot::Receiver<u64>) {
                if park::parks() {
                    ALL[0].put(()).wait();
                }
                if park::woke(receiver.wait().unwrap_or(0)) {
                    ALL[1].put(()).wait();
                }
            }

            /// Pairs that send a number to and fro: the sum of what all end with.
            pub(crate) fn ping_pong(trips: u64, pairs: u64) -> u64 {
                let first = |[ping, pong]: &[MVar<u64>; 2], trips| {
                    let mut number = 0;
                    for _ in 0..trips {
                        put(ping, number);
                        number = pong.take().wait() + 1;
                    }
                    number
                };
                let second = |[ping, pong]: &[MVar<u64>; 2], trips| {
                    for _ in 0..trips {
                        put(pong, ping.take().wait() + 1);
                    }
                };
                let places = leak((0..pairs).map(|_| [MVar::empty(), MVar::empty()]));
                let firsts = places.iter().zip(0..).map(|(place, pair)| {
                    let own = waiting::part(trips, pairs, pair);
                    drop(spawn(move || second(place, own)));
                    spawn(move || first(place, own))
                });
                sum(firsts.collect::<Vec<_>>())
            }

            /// A tree of fibers with ten children each: the sum of all leaves' numbers.
            pub(crate) fn skynet(first: u64, leaves: u64) -> u64 {
                if leaves == 1 {
                    return first;
                }
                let each = leaves / 10;
                let children = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
                sum(children.map(|child| spawn(move || skynet(first + child * each, each))))
            }

            /// One sender and one receiver, over the channel that is for such: the sum.
            pub(crate) fn one_to_one(asked: &Asked) -> u64 {
                let (tx, rx) = $rings::pair(asked.capacity);
                let messages = asked.of_sender(0);
                drop(spawn(move || sender::<$rings>(tx, messages)));
                sum([spawn(move || receiver::<$rings>(rx))])
            }

            /// Some senders and one receiver, over any channel: the sum.
            pub(crate) fn to_one(asked: &Asked) -> u64 {
                let (tx, rx) = $channels::pair(asked.capacity);
                for index in 0..asked.senders {
                    let (tx, messages) = (tx.clone(), asked.of_sender(index));
                    drop(spawn(move || sender::<$channels>(tx, messages)));
                }
                drop(tx);
                sum([spawn(move || receiver::<$channels>(rx))])
            }

            fn sender<C: Channel>(mut tx: C::Tx, messages: Messages) {
                for message in messages {
                    if !C::send(&mut tx, message).wait().went() {
                        break;
                    }
                }
            }

            fn receiver<C: Channel>(mut rx: C::Rx) -> u64 {
                let mut sum = 0_u64;
                while let Some(message) = C::recv(&mut rx).wait().message() {
                    sum = sum.wrapping_add(message);
                }
                sum
            }
        }
    };
}

programs!(anywhere, spawn_fiber, sync, Shared, Spsc);
programs!(here, spawn_local_fiber, local, Local, LocalSpsc);
