//! An arrival at a barrier that is given up says whether it counted, and so whether one more has to come.

use std::cell::RefCell;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use gossamer::raw::{Arrive, Barrier, LockPolicy};
use gossamer::sync::NotArrived;
use gossamer::time::{self, sleep as rest};
use gossamer_sim::spawn;

use super::Locks;
use crate::bad_wakers::{may_fail, panics_in_drop};
use crate::exploring::{Cut, explore_seeded};
use crate::flavour::{Shared, both};
use crate::hand::{Hand, parked, ready};

both! {
    it_says_whether_it_counted,
    by_a_time_limit,
    by_a_time_limit_though_its_waker_panics,
    with_a_limit_by_reference_in_a_select,
    one_that_is_just_let_go_has_counted,
    members_that_retry_stay_balanced,
}

/// A time limit that no test lives to see.
const FAR: Duration = Duration::from_secs(86_400);
const SOON: Duration = Duration::from_millis(5);

#[track_caller]
fn come<P: LockPolicy>(barrier: &Barrier<P>, come: u32) {
    let shown = format!("{barrier:?}");
    assert!(shown.contains(&format!("come: {come}")), "{shown}");
}

/// One that waits.
fn arrived<P: LockPolicy>(barrier: &Barrier<P>) -> Pin<Box<Arrive<'_, P>>> {
    let mut arrives = Box::pin(barrier.arrive());
    let polled = arrives
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled.is_pending());
    arrives
}

fn it_says_whether_it_counted<F: Locks>() {
    let barrier = F::barrier(2);
    assert!(pin!(barrier.arrive()).take_back().is_none());
    let mut alone = arrived(&barrier);
    come(&barrier, 1);
    assert!(alone.as_mut().take_back().is_none());
    come(&barrier, 0);
    let mut met = arrived(&barrier);
    assert!(ready(Hand::new(barrier.arrive()).poll()).is_leader());
    assert!(!met.as_mut().take_back().expect("it counted").is_leader());
    come(&barrier, 0);
    assert!(catch_unwind(AssertUnwindSafe(|| met.as_mut().take_back())).is_err());
}

fn by_a_time_limit<F: Locks>() {
    let barrier = F::barrier(2);
    let mut alone = Hand::new(barrier.arrive().timeout(Duration::ZERO));
    assert_eq!(ready(alone.poll()), Err(NotArrived));
    come(&barrier, 0);
    let mut waits = Hand::new(barrier.arrive().timeout(FAR));
    assert!(waits.poll().is_pending());
    let mut last = Hand::new(barrier.arrive().timeout_at(time::now()));
    assert!(ready(last.poll()).expect("in time").is_leader());
    assert!(!ready(waits.poll()).expect("in time").is_leader());
}

/// Its waker panics when it is dropped, as another one takes its place when the time is over.
fn by_a_time_limit_though_its_waker_panics<F: Locks>() {
    let barrier = F::barrier(2);
    let mut late = Hand::new(barrier.arrive().timeout(SOON));
    let waker = panics_in_drop();
    assert!(late.poll_with(&waker).is_pending());
    may_fail(|| drop(waker));
    // Time enough, whoever else uses the machine: one that began later is over.
    let mut later = Hand::new(time::timeout(SOON, std::future::pending::<()>()));
    while later.poll().is_pending() {}
    may_fail(|| {
        assert!(
            !matches!(late.poll(), Poll::Ready(Ok(_))),
            "nobody else came"
        )
    });
    may_fail(|| drop(late));
    come(&barrier, 0);
    let mut waits = parked(barrier.arrive());
    assert!(ready(Hand::new(barrier.arrive()).poll()).is_leader());
    assert!(waits.poll().is_ready());
}

/// An arrival that has lost still counts, until it is taken back; that says whether the others have come meanwhile.
fn with_a_limit_by_reference_in_a_select<F: Locks>() {
    let barrier = F::barrier(2);
    for they_come in [false, true] {
        let (stop, stopped) = gossamer::channel::oneshot();
        let mut arrives = Box::pin(barrier.arrive().timeout(FAR));
        let mut waits = parked(async {
            gossamer::select! {
                _ = &mut arrives => panic!("nobody else came"),
                _ = stopped => {}
            }
        });
        stop.send(()).unwrap();
        ready(waits.poll());
        drop(waits);
        come(&barrier, 1);
        if they_come {
            assert!(ready(Hand::new(barrier.arrive()).poll()).is_leader());
        }
        let counted = arrives.as_mut().take_back();
        assert_eq!(
            counted.map(|result| result.is_leader()),
            they_come.then_some(false)
        );
        come(&barrier, 0);
    }
}

/// Calls this when it is woken.
struct Calls(Box<dyn Fn() + Send + Sync>);

impl Wake for Calls {
    fn wake(self: Arc<Self>) {
        (self.0)();
    }
}

thread_local! {
    static ON_WAKE: RefCell<Option<Box<dyn FnOnce()>>> = const { RefCell::new(None) };
}

/// The last one to come wakes the others one by one: so the second gives up after its round is over, while it is still
/// in line.
fn one_that_is_just_let_go_has_counted<F: Locks>() {
    let barrier: &'static Barrier<F::P> = Box::leak(Box::new(F::barrier(3)));
    let calls = Calls(Box::new(|| {
        let act = ON_WAKE.take();
        act.into_iter().for_each(|act| act());
    }));
    let mut first = Box::pin(barrier.arrive());
    let waker = Waker::from(Arc::new(calls));
    assert!(
        first
            .as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_pending()
    );
    let mut second = arrived(barrier);
    let counted = Rc::new(RefCell::new(None));
    let result = counted.clone();
    ON_WAKE.set(Some(Box::new(move || {
        result.replace(second.as_mut().take_back());
    })));
    assert!(ready(Hand::new(barrier.arrive()).poll()).is_leader());
    assert!(counted.take().is_some_and(|result| !result.is_leader()));
    come(barrier, 0);
}

/// Three rounds, each of whose members comes again only if its arrival has not counted; one is dropped at a cut, and
/// taken back.
fn members_that_retry_stay_balanced<F: Locks>() {
    explore_seeded(gossamer_sim::Sim::new(), |seed| async move {
        let barrier = Rc::new(F::barrier(3));
        let rounds = Rc::new(RefCell::new([0; 3]));
        let members: Vec<_> = (0..3_usize)
            .map(|member| {
                let (barrier, rounds) = (barrier.clone(), rounds.clone());
                let cut = if member == 0 {
                    Cut::nth(seed)
                } else {
                    Cut::NEVER
                };
                spawn(async move {
                    for round in 0..3 {
                        rest(SOON * ((seed >> (2 * member)) % 4) as u32).await;
                        let mut cut = Some(cut).filter(|_| round == 1);
                        loop {
                            let has_counted = match cut.take() {
                                Some(cut) => {
                                    let mut arrives = pin!(barrier.arrive());
                                    let met = cut.apply(arrives.as_mut()).await;
                                    met.or_else(|| arrives.take_back()).is_some()
                                }
                                None => barrier.arrive().timeout(SOON).await.is_ok(),
                            };
                            if has_counted {
                                break;
                            }
                        }
                        rounds.borrow_mut()[member] += 1;
                        let all = *rounds.borrow();
                        let spread = all.iter().max().unwrap() - all.iter().min().unwrap();
                        assert!(spread <= 1, "{all:?}");
                    }
                })
            })
            .collect();
        for member in members {
            member.await.expect("no panic");
        }
        come(&barrier, 0);
    });
}

/// Threads whose limits end as the others come: each round has all of its members, or it is not over.
#[test]
fn threads_stay_balanced() {
    const ROUNDS: usize = 2_000;
    let barrier = Shared::barrier(2);
    let late = std::thread::scope(|scope| {
        let members = [0, 1].map(|_| {
            scope.spawn(|| {
                let mut late = 0;
                for round in 0..ROUNDS {
                    let limit = Duration::from_nanos(100 * (round % 64) as u64);
                    while gossamer::Wait::wait(barrier.arrive().timeout(limit)).is_err() {
                        late += 1;
                    }
                }
                late
            })
        });
        members.map(|member| member.join().expect("no panic"))
    });
    come(&barrier, 0);
    assert!(late[0] + late[1] > 0, "no limit was over");
}
