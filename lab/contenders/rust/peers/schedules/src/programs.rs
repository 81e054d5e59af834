//! The programs that are explored, written once over the locks, atomics and threads of either library.
//!
//! Neither library has an `MVar`, so a cell is made of what it has:
//! * `Locked`: a mutex and a condition variable, as anybody would write it. A take locks, perhaps waits, and unlocks; a put
//!   locks, unlocks and notifies. So an operation is several points at which another thread may go on.
//! * `Flag`: an atomic flag that is swapped, for cells that nobody waits for. An operation is a single access to memory.
//!
//! What the threads share is in an `Arc` of the standard library, which is no such point.

/// A cell that is full at first.
pub(crate) trait Cell: Send + Sync + 'static {
    fn full() -> Self;
    fn take(&self);
    fn put(&self);
}

macro_rules! programs {
    ($library:ident) => {
        use std::sync::Arc;

        use $library::sync::atomic::{AtomicBool, Ordering};
        use $library::sync::{Condvar, Mutex};
        use $library::thread;

        use crate::programs::Cell;

        /// Holds a number, or nothing.
        pub(crate) struct Locked {
            number: Mutex<Option<u32>>,
            filled: Condvar,
        }

        impl Locked {
            fn of(number: u32) -> Self {
                Locked {
                    number: Mutex::new(Some(number)),
                    filled: Condvar::new(),
                }
            }

            fn take_number(&self) -> u32 {
                let mut guard = self.number.lock().expect("nobody panics");
                loop {
                    match guard.take() {
                        Some(number) => return number,
                        None => guard = self.filled.wait(guard).expect("nobody panics"),
                    }
                }
            }

            /// Nobody puts into a full cell here, so nobody waits.
            fn put_number(&self, number: u32) {
                let before = self.number.lock().expect("nobody panics").replace(number);
                assert_eq!(before, None, "it was empty");
                self.filled.notify_one();
            }
        }

        impl Cell for Locked {
            fn full() -> Self {
                Locked::of(0)
            }

            fn take(&self) {
                self.take_number();
            }

            fn put(&self) {
                self.put_number(0);
            }
        }

        /// Whether it is full.
        pub(crate) struct Flag(AtomicBool);

        impl Cell for Flag {
            fn full() -> Self {
                Flag(AtomicBool::new(true))
            }

            fn take(&self) {
                assert!(self.0.swap(false, Ordering::SeqCst), "it was full");
            }

            fn put(&self) {
                assert!(!self.0.swap(true, Ordering::SeqCst), "it was empty");
            }
        }

        /// Each thread takes and puts by turns, `operations` times together, a cell of its own.
        pub(crate) fn own<C: Cell>(threads: usize, operations: u32) -> u32 {
            let cells: Arc<Vec<C>> = Arc::new((0..threads).map(|_| C::full()).collect());
            let threads: Vec<_> = (0..threads)
                .map(|thread| {
                    let cells = cells.clone();
                    thread::spawn(move || {
                        for operation in 0..operations {
                            match operation % 2 {
                                0 => cells[thread].take(),
                                _ => cells[thread].put(),
                            }
                        }
                        operations
                    })
                })
                .collect();
            let ended = threads.into_iter().map(|thread| thread.join());
            ended.map(|done| done.expect("nobody panics")).sum()
        }

        /// Each thread takes the number out of one cell and puts it back with its own digit behind it.
        pub(crate) fn shared(threads: u32) -> u32 {
            let cell = Arc::new(Locked::of(0));
            let threads: Vec<_> = (1..=threads)
                .map(|digit| {
                    let cell = cell.clone();
                    thread::spawn(move || {
                        let number = cell.take_number();
                        cell.put_number(number * 10 + digit);
                    })
                })
                .collect();
            for thread in threads {
                thread.join().expect("nobody panics");
            }
            cell.take_number()
        }
    };
}

pub(crate) mod on_loom {
    //! Of loom.
    programs!(loom);
}

pub(crate) mod on_shuttle {
    //! Of shuttle.
    programs!(shuttle);
}
