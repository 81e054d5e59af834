//! Every operation in every state of the table, polled by hand: who may go, who waits, what is left.

use std::cell::RefCell;
use std::fmt::Debug;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use gossamer::raw::MVar;

use crate::flavour::{Flavour, SharedMVar, both};
use crate::hand::{Hand, parked};

both! {
    each_operation_in_each_state,
    what_waits_is_served_when_its_time_comes,
    while_a_reader_clones_everybody_waits,
    replace_after_a_reader_goes_before_all_takers,
    a_dropped_replace_lets_the_takers_go,
    debug_shows_what_it_is,
}

const OPERATIONS: [&str; 10] = [
    "take",
    "put",
    "read",
    "swap",
    "replace",
    "try_take",
    "try_put",
    "try_read",
    "try_swap",
    "try_replace",
];

/// What each operation does in each state: `wait`, `no`, or what it gives. The value inside is 0, the new
/// one is 9; the columns are empty, full, promised to a putter, promised to a taker.
const TABLE: [[&str; 4]; 10] = [
    ["wait", "0", "wait", "wait"],
    ["ok", "wait", "wait", "wait"],
    ["wait", "0", "wait", "wait"],
    ["wait", "0", "wait", "wait"],
    ["None", "Some(0)", "None", "Some(0)"],
    ["no", "0", "no", "no"],
    ["ok", "no", "no", "no"],
    ["no", "0", "no", "no"],
    ["no", "0", "no", "no"],
    ["None", "Some(0)", "None", "Some(0)"],
];

/// What is inside afterwards (`-`: nothing).
const AFTERWARDS: [[&str; 4]; 10] = [
    ["-", "-", "-", "0"],
    ["9", "0", "-", "0"],
    ["-", "0", "-", "0"],
    ["-", "9", "-", "0"],
    ["9", "9", "9", "9"],
    ["-", "-", "-", "0"],
    ["9", "0", "-", "0"],
    ["-", "0", "-", "0"],
    ["-", "9", "-", "0"],
    ["9", "9", "9", "9"],
];

/// Polls an operation once and drops it.
fn once<T: Debug>(operation: impl Future<Output = T>) -> String {
    match pin!(operation).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => format!("{output:?}"),
        Poll::Pending => "wait".to_owned(),
    }
}

fn no<T: Debug>(output: Option<T>) -> String {
    output.map_or("no".to_owned(), |output| format!("{output:?}"))
}

fn apply<F: Flavour>(name: &str, mvar: &MVar<u32, F::P>) -> String {
    let given_back = |value| assert_eq!(value, 9, "the value given back");
    match name {
        "take" => once(mvar.take()),
        "put" => once(mvar.put(9)).replace("()", "ok"),
        "read" => once(mvar.read()),
        "swap" => once(mvar.swap(9)),
        "replace" => once(mvar.replace(9)),
        "try_take" => no(mvar.try_take()),
        "try_put" => no(mvar.try_put(9).map_err(given_back).ok()).replace("()", "ok"),
        "try_read" => no(mvar.try_read()),
        "try_swap" => no(mvar.try_swap(9).map_err(given_back).ok()),
        "try_replace" => no(mvar.try_replace(9).map_err(given_back).ok()),
        other => panic!("no operation {other}"),
    }
}

/// What is inside, promised or not: only `replace` looks past a promise.
fn inside<F: Flavour>(mvar: &MVar<u32, F::P>) -> String {
    match mvar.try_replace(77).expect("no reader is busy") {
        None => "-".to_owned(),
        Some(value) => value.to_string(),
    }
}

fn each_operation_in_each_state<F: Flavour>() {
    for (row, name) in OPERATIONS.iter().enumerate() {
        let check = |column: usize, mvar: &MVar<u32, F::P>| {
            assert_eq!(
                apply::<F>(name, mvar),
                TABLE[row][column],
                "{name} in state {column}"
            );
            let left = inside::<F>(mvar);
            assert_eq!(
                left, AFTERWARDS[row][column],
                "left by {name} in state {column}"
            );
        };
        check(0, &F::empty());
        check(1, &F::full(0));

        let mvar = F::full(0);
        let mut putter = parked(mvar.put(5));
        assert_eq!(mvar.try_take(), Some(0));
        assert_eq!(putter.wakes(), 1);
        check(2, &mvar);
        // `inside` has put 77 there, so the promise was taken back; the putter is still first.
        assert!(putter.poll().is_pending());
        let mut second = parked(mvar.put(6));
        assert_eq!(mvar.try_take(), Some(77));
        assert!(second.poll().is_pending(), "the second putter overtook");
        assert!(putter.poll().is_ready());
        assert_eq!(mvar.try_read(), Some(5));

        let mvar = F::empty();
        let mut taker = parked(mvar.take());
        assert_eq!(mvar.try_put(0), Ok(()));
        assert_eq!(taker.wakes(), 1);
        check(3, &mvar);
        assert_eq!(taker.poll(), Poll::Ready(77));
        assert!(mvar.is_empty());
    }
}

fn what_waits_is_served_when_its_time_comes<F: Flavour>() {
    let mvar = F::empty();
    let (mut take, mut read, mut swap) = (
        parked(mvar.take()),
        parked(mvar.read()),
        parked(mvar.swap(3)),
    );
    assert_eq!(mvar.try_put(1), Ok(()));
    assert_eq!([take.wakes(), read.wakes(), swap.wakes()], [1, 0, 0]);
    assert!(read.poll().is_pending() && swap.poll().is_pending());
    assert_eq!(take.poll(), Poll::Ready(1));
    assert_eq!(mvar.try_put(2), Ok(()));
    assert_eq!([read.wakes(), swap.wakes()], [1, 0]);
    assert_eq!(read.poll(), Poll::Ready(2));
    assert_eq!(swap.wakes(), 1);
    assert_eq!(swap.poll(), Poll::Ready(2));
    assert_eq!(mvar.try_read(), Some(3));

    let (mut first, mut second) = (parked(mvar.put(4)), parked(mvar.put(5)));
    assert_eq!(mvar.try_take(), Some(3));
    assert_eq!([first.wakes(), second.wakes()], [1, 0]);
    assert!(second.poll().is_pending());
    assert_eq!(first.poll(), Poll::Ready(()));
    assert_eq!(mvar.try_take(), Some(4));
    assert_eq!(second.poll(), Poll::Ready(()));
    assert_eq!(mvar.try_take(), Some(5));
}

type Action = Box<dyn FnOnce()>;

/// A value whose clone does what the test says: that is how to be there while a reader is busy.
struct Nosy {
    during_clone: Rc<RefCell<Vec<Action>>>,
    id: u32,
}

impl Clone for Nosy {
    fn clone(&self) -> Self {
        let action = self.during_clone.borrow_mut().pop();
        if let Some(action) = action {
            action();
        }
        Self {
            during_clone: self.during_clone.clone(),
            id: self.id,
        }
    }
}

type Boxed<T> = Pin<Box<dyn Future<Output = T>>>;

/// Operations that came while a reader was busy, to be polled after it.
type Held<T> = Rc<RefCell<Vec<Hand<Boxed<T>>>>>;

fn nosy_mvar<F: Flavour>(
    action: impl FnOnce(&SharedMVar<F, Nosy>) + 'static,
) -> SharedMVar<F, Nosy> {
    let during_clone = Rc::new(RefCell::new(Vec::new()));
    let mvar = F::mvar_with(Nosy {
        during_clone: during_clone.clone(),
        id: 0,
    });
    let again = mvar.clone();
    during_clone
        .borrow_mut()
        .push(Box::new(move || action(&again)));
    mvar
}

fn new_nosy(id: u32) -> Nosy {
    Nosy {
        during_clone: Rc::default(),
        id,
    }
}

fn while_a_reader_clones_everybody_waits<F: Flavour>() {
    let looked = Rc::new(RefCell::new(false));
    let mvar = nosy_mvar::<F>({
        let looked = looked.clone();
        move |mvar| {
            assert!(mvar.try_take().is_none());
            assert!(mvar.try_put(new_nosy(1)).is_err());
            assert!(mvar.try_read().is_none());
            assert!(mvar.try_swap(new_nosy(1)).is_err());
            assert!(mvar.try_replace(new_nosy(1)).is_err());
            assert!(!mvar.is_empty());
            assert!(Hand::new(mvar.take()).poll().is_pending());
            assert!(Hand::new(mvar.put(new_nosy(1))).poll().is_pending());
            assert!(Hand::new(mvar.read()).poll().is_pending());
            assert!(Hand::new(mvar.swap(new_nosy(1))).poll().is_pending());
            assert!(Hand::new(mvar.replace(new_nosy(1))).poll().is_pending());
            looked.replace(true);
        }
    });
    let Poll::Ready(read) = Hand::new(mvar.read()).poll() else {
        panic!("it waits")
    };
    assert_eq!(read.id, 0);
    assert!(looked.take(), "the value was not cloned");
    // All who waited are gone again: the mvar is as it was.
    assert_eq!(mvar.try_take().map(|value| value.id), Some(0));
}

fn replace_after_a_reader_goes_before_all_takers<F: Flavour>() {
    let waiting = Held::<Option<u32>>::default();
    let mvar = nosy_mvar::<F>({
        let waiting = waiting.clone();
        move |mvar| {
            let (taker, replacer) = (mvar.clone(), mvar.clone());
            let take: Boxed<Option<u32>> = Box::pin(async move { Some(taker.take().await.id) });
            let replace: Boxed<Option<u32>> =
                Box::pin(async move { replacer.replace(new_nosy(7)).await.map(|old| old.id) });
            waiting.borrow_mut().extend([parked(take), parked(replace)]);
        }
    });
    assert!(Hand::new(mvar.read()).poll().is_ready());
    let mut hands = waiting.take();
    assert_eq!(
        [hands[0].wakes(), hands[1].wakes()],
        [0, 1],
        "the replace comes first"
    );
    assert!(hands[0].poll().is_pending());
    assert_eq!(hands[1].poll(), Poll::Ready(Some(0)));
    assert_eq!(hands[0].wakes(), 1);
    assert_eq!(hands[0].poll(), Poll::Ready(Some(7)));
}

fn a_dropped_replace_lets_the_takers_go<F: Flavour>() {
    for woken in [false, true] {
        let held = Held::<u32>::default();
        let mvar = nosy_mvar::<F>({
            let held = held.clone();
            move |mvar| {
                let (taker, replacer) = (mvar.clone(), mvar.clone());
                let take: Boxed<u32> = Box::pin(async move { taker.take().await.id });
                let replace: Boxed<u32> =
                    Box::pin(
                        async move { replacer.replace(new_nosy(7)).await.map_or(8, |v| v.id) },
                    );
                let (take, replace) = (parked(take), parked(replace));
                held.borrow_mut().push(take);
                if woken {
                    held.borrow_mut().push(replace);
                }
            }
        });
        assert!(Hand::new(mvar.read()).poll().is_ready());
        held.borrow_mut().truncate(1);
        let mut take = held.take().remove(0);
        assert_eq!(take.wakes(), 1, "woken: {woken}");
        assert_eq!(take.poll(), Poll::Ready(0));
    }
}

fn debug_shows_what_it_is<F: Flavour>() {
    let mvar = F::full(0);
    assert_eq!(format!("{mvar:?}"), "MVar { is_empty: false, .. }");
    let take = format!("{:?}", mvar.take());
    assert!(
        take.contains("MVar::take at ") && take.contains("table.rs:"),
        "{take}"
    );
    let again = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let mut take = Hand::new(mvar.take());
        assert!(take.poll().is_ready());
        take.poll()
    }));
    assert!(again.is_err(), "polled after it was complete");
}
