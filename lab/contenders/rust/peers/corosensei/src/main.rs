//! corosensei's contender, the ring on one thread: `corosensei-contender ring …`.
//!
//! It has coroutines with stacks and no scheduler, so the queue and the links are ours: the least that would do. A link
//! holds one value and knows one waiter, as each has one taker and one putter, of which one waits at most.
#![forbid(unsafe_code)]

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::hint::black_box;
use std::process::ExitCode;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, Yielder};
use peer_ring::{Failure, Ring};

/// As the other contenders with stacks have it; a guard page comes to it.
const STACK_BYTES: usize = 16 * 1024;

fn main() -> ExitCode {
    peer_ring::main(run)
}

/// Stacks begin at the edge of a page, so that what is on top of them would meet in the same few sets of a cache. So a
/// coroutine begins so many frames deeper than the one before, up to a page.
const DEPTHS: usize = 16;

/// Calls so many frames deeper, each of at least a quarter of a kilobyte.
#[inline(never)]
fn deeper(frames: usize, call: &mut dyn FnMut()) {
    let frame = black_box([0_u8; 256]);
    match frames {
        0 => call(),
        more => deeper(more - 1, call),
    }
    black_box(&frame);
}

/// A coroutine, by the order in which they were made.
type Number = usize;
type Waits<'a> = &'a Yielder<(), ()>;

#[derive(Default)]
struct Link {
    value: Cell<Option<u64>>,
    waiter: Cell<Option<Number>>,
}

#[derive(Default)]
struct World {
    links: Vec<Link>,
    runnable: RefCell<VecDeque<Number>>,
    answer: Cell<Option<usize>>,
}

impl World {
    fn wake(&self, link: &Link) {
        if let Some(waiter) = link.waiter.take() {
            self.runnable.borrow_mut().push_back(waiter);
        }
    }

    fn wait(link: &Link, own: Number, waits: Waits<'_>) {
        link.waiter.set(Some(own));
        waits.suspend(());
    }

    fn take(&self, link: &Link, own: Number, waits: Waits<'_>) -> u64 {
        loop {
            if let Some(value) = link.value.take() {
                self.wake(link);
                return value;
            }
            Self::wait(link, own, waits);
        }
    }

    fn put(&self, link: &Link, value: u64, own: Number, waits: Waits<'_>) {
        while link.value.get().is_some() {
            Self::wait(link, own, waits);
        }
        link.value.set(Some(value));
        self.wake(link);
    }

    fn next(&self) -> Option<Number> {
        self.runnable.borrow_mut().pop_front()
    }
}

fn run(ring: Ring) -> Result<usize, Failure> {
    // Coroutines ask for what lives as long as they may.
    let world: &World = Box::leak(Box::new(World {
        links: (0..ring.threads).map(|_| Link::default()).collect(),
        ..World::default()
    }));
    let mut members = Vec::with_capacity(ring.threads);
    for (own, &member) in ring.order.iter().enumerate() {
        let (input, output) = (
            &world.links[member],
            &world.links[(member + 1) % ring.threads],
        );
        let stack = DefaultStack::new(STACK_BYTES)?;
        members.push(Coroutine::with_stack(
            stack,
            move |waits: &Yielder<(), ()>, ()| {
                deeper(own % DEPTHS, &mut || {
                    loop {
                        match world.take(input, own, waits) {
                            0 => break world.answer.set(Some(member + 1)),
                            token => world.put(output, token - 1, own, waits),
                        }
                    }
                });
            },
        ));
    }
    world.links[0].value.set(Some(ring.hops));
    world.runnable.borrow_mut().extend(0..ring.threads);
    while let Some(number) = world.next() {
        members[number].resume(());
    }
    // The others wait for ever; dropping them would unwind each stack.
    std::mem::forget(members);
    let answer = world.answer.get();
    answer.ok_or_else(|| Failure::Ran("the token was lost".into()))
}
