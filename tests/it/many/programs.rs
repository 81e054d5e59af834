//! What two hundred wait for: each primitive, by each of its operations that can wait.

/// A module of programs. For each, `$place` is made; one `$held`s it, and says so to `$crowd`, until all wait; each of
/// the others does `$wait`.
macro_rules! flavour {
    ($module:ident $run:ident { $($item:item)* }
        $($name:ident($crowd:ident, $place:ident = $make:expr) $held:block $wait:block)*
    ) => {
        mod $module {
            use crate::many::{$run, program};
            $($item)*

            $(#[test]
            fn $name() {
                $run(|crowd| {
                    let $crowd = crowd.clone();
                    program::<_, Op>(
                        Counted::new($make),
                        |$place| Box::pin(async move { $held }),
                        |$place| Box::pin(async move { $wait }),
                    )
                });
            })*
        }
    };
}

/// The programs that each flavour has.
macro_rules! programs {
    ($($flavour:tt)*) => {
        flavour! {
            $($flavour)*

            mutex(crowd, mvar = sync::Mutex::new(0)) {
                let held = mvar.lock().await;
                crowd.waits().await;
                drop(held);
            } {
                *mvar.lock().await += 1;
            }

            fair_mutex(crowd, mvar = sync::FairMutex::new(0)) {
                let held = mvar.lock().await;
                crowd.waits().await;
                drop(held);
            } {
                *mvar.lock().await += 1;
            }

            readers(crowd, mvar = sync::RwLock::new(0)) {
                let held = mvar.write().await;
                crowd.waits().await;
                drop(held);
            } {
                assert_eq!(*mvar.read().await, 0);
            }

            writers(crowd, mvar = sync::RwLock::new(0)) {
                let held = mvar.read().await;
                crowd.waits().await;
                drop(held);
            } {
                *mvar.write().await += 1;
            }

            semaphore(crowd, mvar = sync::Semaphore::new(0)) {
                crowd.waits().await;
                mvar.add_permits(MANY);
            } {
                mvar.acquire().await.expect("it is open").forget();
            }

            semaphore_of_many(crowd, mvar = sync::Semaphore::new(2)) {
                let held = mvar.acquire().await;
                crowd.waits().await;
                drop(held);
            } {
                drop(mvar.acquire_many(2).await);
            }

            condvar_for_all(crowd, mvar = (sync::Mutex::new(false), sync::Condvar::new())) {
                crowd.waits().await;
                *mvar.0.lock().await = true;
                mvar.1.notify_all();
            } {
                let mut seen = mvar.0.lock().await;
                while !*seen {
                    seen = mvar.1.notified(seen).await;
                }
            }

            condvar_for_one(crowd, mvar = (sync::Mutex::new(false), sync::Condvar::new())) {
                crowd.waits().await;
                *mvar.0.lock().await = true;
                for _ in 0..MANY {
                    mvar.1.notify_one();
                }
            } {
                let mut seen = mvar.0.lock().await;
                while !*seen {
                    seen = mvar.1.notified(seen).await;
                }
            }

            barrier(crowd, mvar = sync::Barrier::new(MANY + 1)) {
                crowd.waits().await;
                mvar.arrive().await;
            } {
                mvar.arrive().await;
            }

            event(crowd, mvar = sync::Event::new()) {
                crowd.waits().await;
                mvar.set();
            } {
                mvar.ready().await;
            }

            once_cell(crowd, mvar = sync::OnceCell::new()) {
                let make = || async {
                    crowd.waits().await;
                    1
                };
                mvar.get_or_init(make).await;
            } {
                assert_eq!(*mvar.get_or_init(|| async { 2 }).await, 1);
            }

            once_cell_whose_maker_gives_up(crowd, mvar = sync::OnceCell::new()) {
                let mut making = Box::pin(mvar.get_or_init(std::future::pending));
                // It may yield once, before it begins.
                for _ in 0..2 {
                    let poll = |cx: &mut Context<'_>| Poll::Ready(making.as_mut().poll(cx));
                    assert!(std::future::poll_fn(poll).await.is_pending());
                    gossamer::yield_now().await;
                }
                crowd.waits().await;
                drop(making);
            } {
                assert_eq!(*mvar.get_or_init(|| async { 2 }).await, 2);
            }

            ivar(crowd, mvar = sync::IVar::new()) {
                crowd.waits().await;
                assert!(mvar.put(1).is_ok());
            } {
                assert_eq!(*mvar.read().await, 1);
            }

            mvar_takers(crowd, mvar = sync::MVar::empty()) {
                crowd.waits().await;
                for number in 0..MANY {
                    mvar.put(number).await;
                }
            } {
                mvar.take().await;
            }

            mvar_putters(crowd, mvar = sync::MVar::new(0)) {
                crowd.waits().await;
                for _ in 0..=MANY {
                    mvar.take().await;
                }
            } {
                mvar.put(1).await;
            }

            mvar_readers(crowd, mvar = sync::MVar::empty()) {
                crowd.waits().await;
                mvar.put(1).await;
            } {
                assert_eq!(mvar.read().await, 1);
            }

            senders(crowd, mvar = channel::bounded(1)) {
                mvar.0.try_send(0).expect("room for one");
                crowd.waits().await;
                for _ in 0..=MANY {
                    mvar.1.recv().await.expect("a sender is left");
                }
            } {
                mvar.0.send(1).await.expect("a receiver is left");
            }

            senders_left_alone(crowd, mvar = on_the_left(channel::bounded(1))) {
                let receiver = taken(&mvar.1);
                mvar.0.try_send(0).expect("room for one");
                crowd.waits().await;
                drop(receiver);
            } {
                assert!(mvar.0.send(1).await.is_err());
            }

            receivers(crowd, mvar = channel::unbounded()) {
                crowd.waits().await;
                for number in 0..MANY {
                    mvar.0.send(number).await.expect("a receiver is left");
                }
            } {
                mvar.1.recv().await.expect("a sender is left");
            }

            receivers_left_alone(crowd, mvar = on_the_right(channel::bounded::<u32>(1))) {
                let sender = taken(&mvar.1);
                crowd.waits().await;
                drop(sender);
            } {
                assert!(mvar.0.recv().await.is_err());
            }

            rendezvous_senders(crowd, mvar = channel::rendezvous()) {
                crowd.waits().await;
                for _ in 0..MANY {
                    mvar.1.recv().await.expect("a sender is left");
                }
            } {
                mvar.0.send(1).await.expect("a receiver is left");
            }

            rendezvous_receivers(crowd, mvar = channel::rendezvous()) {
                crowd.waits().await;
                for number in 0..MANY {
                    mvar.0.send(number).await.expect("a receiver is left");
                }
            } {
                mvar.1.recv().await.expect("a sender is left");
            }

            broadcast(crowd, mvar = channel::broadcast(4).0) {
                crowd.waits().await;
                mvar.send(1).expect("receivers are left");
            } {
                let mut receiver = mvar.subscribe();
                assert_eq!(receiver.recv().await.expect("a message"), 1);
            }

            watch(crowd, mvar = channel::watch(0).0) {
                crowd.waits().await;
                mvar.send(1);
            } {
                let mut receiver = mvar.subscribe();
                receiver.changed().await.expect("a sender is left");
            }

            shared_sender(crowd, mvar = shared(channel::bounded(1))) {
                mvar.0.try_send(0).expect("room for one");
                crowd.waits().await;
                for _ in 0..=MANY {
                    mvar.1.recv().await.expect("a sender is left");
                }
            } {
                mvar.0.send(1).await.expect("a receiver is left");
            }

            port_set(crowd, mvar = port_set_of_one(channel::unbounded())) {
                crowd.waits().await;
                for number in 0..MANY {
                    mvar.0.send(number).await.expect("the set is left");
                }
            } {
                assert!(mvar.1.recv().await.is_some());
            }
        }
    };
}

/// What the programs of a flavour use, by names that are the same in each.
macro_rules! ends {
    () => {
        use std::sync::Mutex;
        use std::task::{Context, Poll};

        fn taken<T>(end: &Mutex<Option<T>>) -> Option<T> {
            end.lock().expect("nobody panics").take()
        }

        fn on_the_left<T, U>((left, right): (T, U)) -> (T, Mutex<Option<U>>) {
            (left, Mutex::new(Some(right)))
        }

        fn on_the_right<T, U>((left, right): (T, U)) -> (U, Mutex<Option<T>>) {
            (right, Mutex::new(Some(left)))
        }

        fn shared<T>(
            (tx, rx): (channel::Sender<T>, channel::Receiver<T>),
        ) -> (channel::SharedSender<T>, channel::Receiver<T>) {
            (channel::SharedSender::new(tx), rx)
        }

        fn port_set_of_one<T>(
            (tx, rx): (channel::Sender<T>, channel::Receiver<T>),
        ) -> (channel::Sender<T>, channel::PortSet<T>) {
            let set = channel::PortSet::new();
            assert!(set.add(rx).is_ok(), "it is the only receiver");
            (tx, set)
        }
    };
}

programs! {
    shared in_models {
        use std::sync::Arc as Counted;
        use crate::many::MANY;
        use gossamer::{channel, sync};
        type Op = super::super::Sent;
        ends!();
    }
}

programs! {
    local on_sim {
        use std::rc::Rc as Counted;
        use crate::many::MANY;
        use gossamer::local::{self as sync, channel};
        type Op = super::super::Local;
        ends!();
    }
}

flavour! {
    any in_models {
        use std::sync::Arc as Counted;
        use gossamer::{limit::ConcurrencyLimit, CancellationToken};
        type Op = super::super::Sent;
    }

    children_of_a_token(crowd, mvar = CancellationToken::new()) {
        crowd.waits().await;
        mvar.cancel();
    } {
        let child = mvar.child();
        child.cancelled().await;
    }

    mvars(crowd, mvar = ConcurrencyLimit::new(1)) {
        let held = mvar.acquire().await;
        crowd.waits().await;
        drop(held);
    } {
        drop(mvar.acquire().await);
    }
}
