//! Panics in the drop of a value and in a clone: the mvar stays sound, and the others are served.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::Duration;

use gossamer::time::sleep as pause;
use gossamer::yield_now;
use gossamer_sim::{Sim, spawn};

use crate::bad_wakers::{is_planned, planned};
use crate::exploring::{explore, explore_seeded};
use crate::flavour::{Flavour, SharedMVar, both};
use crate::hand::{Hand, parked};
use crate::tally::{Tally, Value};

both! {
    a_panic_in_a_clone_leaves_the_value,
    a_panic_in_a_clone_serves_the_next,
    a_panic_in_the_drop_of_a_value,
    a_mvar_is_dropped_with_its_value_once,
    tasks_whose_values_panic_in_drop,
}

/// A value whose clone panics as often as it is told.
struct Brittle {
    id: u32,
    panics_left: Rc<Cell<u32>>,
}

impl Clone for Brittle {
    fn clone(&self) -> Self {
        if self.panics_left.get() > 0 {
            self.panics_left.set(self.panics_left.get() - 1);
            planned();
        }
        Self {
            id: self.id,
            panics_left: self.panics_left.clone(),
        }
    }
}

fn a_panic_in_a_clone_leaves_the_value<F: Flavour>() {
    let panics_left = Rc::new(Cell::new(2));
    let mvar = F::full(Brittle {
        id: 7,
        panics_left: panics_left.clone(),
    });
    let mut read = Hand::new(mvar.read());
    assert!(is_planned(
        &*catch_unwind(AssertUnwindSafe(|| read.poll().is_ready())).unwrap_err()
    ));
    drop(read);
    let tried = catch_unwind(AssertUnwindSafe(|| mvar.try_read().is_some()));
    assert!(is_planned(&*tried.unwrap_err()));
    assert_eq!(mvar.try_read().map(|value| value.id), Some(7));
    assert_eq!(mvar.try_take().map(|value| value.id), Some(7));
}

fn a_panic_in_a_clone_serves_the_next<F: Flavour>() {
    explore_seeded(Sim::new().expect_panics(), |_| async {
        let (mvar, panics_left) = (F::mvar(), Rc::new(Cell::new(2)));
        let readers: Vec<_> = (0..4)
            .map(|_| {
                let mvar: SharedMVar<F, Brittle> = mvar.clone();
                spawn(async move { mvar.read().await.id })
            })
            .collect();
        mvar.put(Brittle { id: 7, panics_left }).await;
        let mut panics = 0;
        for reader in readers {
            match reader.await {
                Ok(id) => assert_eq!(id, 7),
                Err(error) => {
                    assert!(is_planned(&*error.try_into_panic().unwrap()));
                    panics += 1;
                }
            }
        }
        assert_eq!(panics, 2);
        assert_eq!(mvar.take().await.id, 7);
    });
}

/// A value whose drop panics, once it has counted.
struct Grumpy {
    _counted: Value,
    silent: bool,
}

impl Drop for Grumpy {
    fn drop(&mut self) {
        if !self.silent && !std::thread::panicking() {
            planned();
        }
    }
}

fn a_panic_in_the_drop_of_a_value<F: Flavour>() {
    let tally = Tally::default();
    let grumpy = |silent| Grumpy {
        _counted: tally.value(0),
        silent,
    };
    for woken in [false, true] {
        let mvar = F::full(grumpy(true));
        let (put, next) = (
            parked(mvar.put(grumpy(false))),
            parked(mvar.put(grumpy(true))),
        );
        if woken {
            assert!(mvar.try_take().is_some());
        }
        let dropped = catch_unwind(AssertUnwindSafe(|| drop(put)));
        assert!(is_planned(&*dropped.unwrap_err()));
        if !woken {
            assert_eq!(next.wakes(), 0);
            assert!(mvar.try_take().is_some());
        }
        assert_eq!(next.wakes(), 1, "woken before: {woken}");
        let mut next = next;
        assert!(next.poll().is_ready());
        assert!(mvar.try_take().is_some());
    }
    assert_eq!(tally.living(), 0);
}

fn a_mvar_is_dropped_with_its_value_once<F: Flavour>() {
    let tally = Tally::default();
    let mvar = F::full(Grumpy {
        _counted: tally.value(0),
        silent: false,
    });
    assert!(is_planned(
        &*catch_unwind(AssertUnwindSafe(|| drop(mvar))).unwrap_err()
    ));
    assert_eq!(tally.living(), 0);
    drop(F::empty::<Value>());
    drop(F::full(tally.value(1)));
    assert_eq!((tally.living(), tally.dropped()), (0, 2));
}

/// Puts that are aborted, with values that panic when they are dropped.
fn tasks_whose_values_panic_in_drop<F: Flavour>() {
    explore(|| async {
        let (mvar, tally) = (F::mvar(), Tally::default());
        let putters: Vec<_> = (0..4)
            .map(|id| {
                let (mvar, tally) = (mvar.clone(), tally.clone());
                spawn(async move {
                    let value = Grumpy {
                        _counted: tally.value(id),
                        silent: false,
                    };
                    mvar.put(value).await;
                })
            })
            .collect();
        for _ in 0..3 {
            yield_now().await;
        }
        putters[1].abort();
        putters[2].abort();
        let mut taken = 0;
        loop {
            pause(Duration::from_secs(1)).await;
            let Some(mut value) = mvar.try_take() else {
                break;
            };
            value.silent = true;
            taken += 1;
        }
        for (id, putter) in putters.into_iter().enumerate() {
            if let Err(error) = putter.await {
                assert!(id == 1 || id == 2, "putter {id}: {error}");
                // Aborted before its first poll, it had no value yet.
                assert!(error.is_cancelled() || is_planned(&*error.try_into_panic().unwrap()));
            }
        }
        assert!((2..=4).contains(&taken), "{taken} of the values were put");
        assert_eq!(tally.living(), 0);
    });
}
