//! rtrb between two threads. It waits for nobody, so waiting is ours: who finds the ring full or empty looks again every
//! few microseconds, and then parks.
//!
//! Who passes a message looks at the other side's flag without a fence, which would cost more than all the rest. So it
//! may miss a side that is just about to park; the next message wakes that, or the time that it parks for at most.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

use channels::Blocking;
use rtrb::{Consumer, Producer, PushError, RingBuffer};

/// So often the ring is looked at before parking: for some 20 µs.
const LOOKS: u32 = 8;
/// So many pauses are between two looks, which is some microseconds. Who looks all the time takes each message as it
/// comes, and then the two sides fetch the ring's counters from each other for every one of them: up to five times as
/// long a message.
const PAUSES: u32 = 64;
/// For so long a missed wake-up is missed.
const PARKED_MOST: Duration = Duration::from_millis(1);

/// One sender and one receiver.
pub struct Rtrb;

/// One side, as far as it waits.
#[derive(Default)]
struct Side {
    is_parked: AtomicBool,
    thread: Mutex<Option<Thread>>,
}

impl Side {
    /// Tries until there is something.
    fn wait<T>(&self, mut attempt: impl FnMut() -> Option<T>) -> T {
        loop {
            for _ in 0..LOOKS {
                if let Some(found) = attempt() {
                    return found;
                }
                for _ in 0..PAUSES {
                    spin_loop();
                }
            }
            *self.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread::current());
            self.is_parked.store(true, Ordering::SeqCst);
            fence(Ordering::SeqCst);
            let found = attempt();
            if found.is_none() {
                thread::park_timeout(PARKED_MOST);
            }
            self.is_parked.store(false, Ordering::SeqCst);
            if let Some(found) = found {
                return found;
            }
        }
    }

    fn wake(&self) {
        if self.is_parked.load(Ordering::Relaxed) {
            self.unpark();
        }
    }

    #[cold]
    fn unpark(&self) {
        if self.is_parked.swap(false, Ordering::SeqCst)
            && let Some(thread) = &*self.thread.lock().unwrap_or_else(PoisonError::into_inner)
        {
            thread.unpark();
        }
    }
}

/// Both sides.
#[derive(Default)]
struct Sides {
    sends: Side,
    receives: Side,
}

/// The other side sees that this end is gone when it has parked for its time at the latest.
pub struct Tx {
    ring: Producer<u64>,
    sides: Arc<Sides>,
}

pub struct Rx {
    ring: Consumer<u64>,
    sides: Arc<Sides>,
}

impl Blocking for Rtrb {
    type Tx = Tx;
    type Rx = Rx;

    fn pair(capacity: Option<usize>) -> (Tx, Rx) {
        let (sends, receives) = RingBuffer::new(capacity.unwrap_or(1_024));
        let sides = Arc::new(Sides::default());
        let tx = Tx {
            ring: sends,
            sides: sides.clone(),
        };
        let rx = Rx {
            ring: receives,
            sides,
        };
        (tx, rx)
    }

    fn send(tx: &mut Tx, message: u64) -> bool {
        if let Err(PushError::Full(message)) = tx.ring.push(message) {
            let ring = &mut tx.ring;
            let went = tx.sides.sends.wait(|| match ring.push(message) {
                Ok(()) => Some(true),
                Err(PushError::Full(_)) => ring.is_abandoned().then_some(false),
            });
            if !went {
                return false;
            }
        }
        tx.sides.receives.wake();
        true
    }

    fn recv(rx: &mut Rx) -> Option<u64> {
        let message = match rx.ring.pop() {
            Ok(message) => message,
            Err(_) => {
                let ring = &mut rx.ring;
                rx.sides.receives.wait(|| match ring.pop() {
                    Ok(message) => Some(Some(message)),
                    // What was sent before the end went is there now, if anything is.
                    Err(_) => ring.is_abandoned().then(|| ring.pop().ok()),
                })?
            }
        };
        rx.sides.sends.wake();
        Some(message)
    }
}
