//! Locks and cells, in both flavours.

use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use super::{Case, Turn, cases};

macro_rules! flavour {
    ($name:ident, $pointer:ident) => {
        pub(super) fn $name(turn: &Turn) -> Vec<Case> {
            use gossamer::$name::{
                Barrier, Condvar, Event, FairMutex, IVar, MVar, Mutex, OnceCell, RwLock, Semaphore,
            };
            cases! { turn;
                "sync::barrier::Arrive": { let one = Barrier::new(1); } one.arrive().await;
                "sync::barrier::timeout::ArriveInTime": { let one = Barrier::new(1); } {
                    one.arrive().timeout(Duration::MAX).await
                };
                "sync::condvar::Notified": {
                    let (lock, changed) = (Mutex::new(0), Condvar::new());
                } {
                    let mut waits = pin!(changed.notified(lock.lock().await));
                    let guard = poll_fn(|cx| {
                        let polled = waits.as_mut().poll(cx);
                        changed.notify_one();
                        polled
                    });
                    drop(guard.await);
                };
                "sync::event::Ready": { let set = Event::new(); set.set(); } set.ready().await;
                "sync::mutex::Lock": { let lock = Mutex::new(0); } *lock.lock().await += 1;
                "sync::mutex::Lock, fair": { let lock = FairMutex::new(0); } *lock.lock().await += 1;
                "sync::mutex::LockOwned": { let lock = $pointer::new(Mutex::new(0)); }
                    *lock.clone().lock_owned().await += 1;
                "sync::mvar::Put": { let mvar = MVar::empty(); } {
                    mvar.put(1).await;
                    mvar.try_take()
                };
                "sync::mvar::Read": { let mvar = MVar::new(1); } mvar.read().await;
                "sync::mvar::Replace": { let mvar = MVar::new(1); } mvar.replace(2).await;
                "sync::mvar::Swap": { let mvar = MVar::new(1); } mvar.swap(2).await;
                "sync::mvar::Take": { let mvar = MVar::empty(); } {
                    assert!(mvar.try_put(1).is_ok());
                    mvar.take().await
                };
                "sync::once::cell::GetOrInit": { let cell = OnceCell::with(1); }
                    *cell.get_or_init(async || 2).await;
                "sync::once::cell::GetOrInit, to be made": {}
                    *OnceCell::new().get_or_init(async || 2).await;
                "sync::once::cell::GetOrTryInit": { let cell = OnceCell::with(1); }
                    assert!(cell.get_or_try_init(async || Ok::<_, ()>(2)).await.is_ok());
                "sync::once::cell::GetOrTryInit, that fails": { let cell = OnceCell::<u32>::new(); }
                    assert!(cell.get_or_try_init(async || Err(())).await.is_err());
                "sync::once::ivar::ReadIVar": { let cell = IVar::assigned(1); } *cell.read().await;
                "sync::rwlock::ReadLock": { let lock = RwLock::new(0); } *lock.read().await;
                "sync::rwlock::WriteLock": { let lock = RwLock::new(0); } *lock.write().await += 1;
                "sync::rwlock::ReadLockOwned": { let lock = $pointer::new(RwLock::new(0)); }
                    *lock.clone().read_owned().await;
                "sync::rwlock::WriteLockOwned": { let lock = $pointer::new(RwLock::new(0)); }
                    *lock.clone().write_owned().await += 1;
                "sync::semaphore::Acquire": { let permits = Semaphore::new(1); }
                    drop(permits.acquire().await);
                "sync::semaphore::Acquire, of none": { let permits = Semaphore::new(1); }
                    drop(permits.acquire_many(0).await);
                "sync::semaphore::Acquire, of a closed one": {
                    let permits = Semaphore::new(1);
                    permits.close();
                } drop(permits.acquire().await);
                "sync::semaphore::AcquireOwned": { let permits = $pointer::new(Semaphore::new(1)); }
                    drop(permits.clone().acquire_owned().await);
            }
        }
    };
}

flavour!(sync, Arc);
flavour!(local, Rc);
