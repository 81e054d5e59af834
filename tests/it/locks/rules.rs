//! Who goes when, polled by hand; and what is refused, with the line of the one who asked.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Poll, Wake, Waker};

use gossamer::{Wait, sync};

use super::Locks;
use crate::contract::panic_text;
use crate::flavour::both;
use crate::hand::{Hand, parked, ready};

both! {
    the_first_in_line_keeps_its_place,
    the_first_in_line_is_passed_so_often,
    a_fair_lock_is_not_passed,
    a_writer_holds_readers_back,
    readers_go_together,
    a_writer_goes_on_reading,
    many_permits_are_not_passed,
    none_and_too_many_permits,
    one_is_notified_or_all,
    a_notification_is_passed_on,
    an_event_lets_go_who_waited,
    an_arrival_is_taken_back,
    a_variable_keeps_its_first_value,
    a_cell_is_made_by_one,
}

/// Where the lock is free, the first in line woken and somebody quicker, it waits on, first.
fn the_first_in_line_keeps_its_place<F: Locks>() {
    let primitive = F::mutex(0);
    let held = primitive.try_lock().expect("it is free");
    let (mut first, mut second) = (parked(primitive.lock()), parked(primitive.lock()));
    drop(held);
    assert_eq!((first.wakes(), second.wakes()), (1, 0));
    let quicker = primitive.try_lock().expect("it may be passed");
    assert!(first.poll().is_pending() && second.poll().is_pending());
    drop(quicker);
    assert_eq!((first.wakes(), second.wakes()), (2, 0));
    assert!(second.poll().is_pending(), "it is not its turn");
    assert!(first.poll().is_ready());
    assert_eq!(second.wakes(), 1);
    // One that goes when it was woken wakes the next.
    let quicker = primitive.try_lock().expect("it may be passed");
    let third = parked(primitive.lock());
    drop(second);
    drop(quicker);
    assert_eq!(third.wakes(), 1);
}

/// After 1,024 passings, or half a millisecond, the lock is handed over.
fn the_first_in_line_is_passed_so_often<F: Locks>() {
    let primitive = F::mutex(0);
    let held = primitive.try_lock().expect("it is free");
    let mut first = parked(primitive.lock());
    let other = parked(primitive.lock());
    drop(held);
    let mut passed = 0;
    while let Ok(quicker) = primitive.try_lock() {
        passed += 1;
        assert!(passed <= 1_024, "passed {passed} times");
        drop(quicker);
    }
    assert!(passed > 0 && first.wakes() == 1);
    let Poll::Ready(guard) = first.poll() else {
        panic!("it was handed over")
    };
    assert!(primitive.is_locked());
    drop(guard);
    assert_eq!(other.wakes(), 1);
    drop(other);
    assert!(!primitive.is_locked(), "nobody has it, nobody waits");
}

fn a_fair_lock_is_not_passed<F: Locks>() {
    let primitive = F::fair_mutex(0);
    let held = primitive.try_lock().expect("it is free");
    let (mut first, mut second) = (parked(primitive.lock()), parked(primitive.lock()));
    drop(held);
    assert!(primitive.try_lock().is_err(), "it is handed over");
    assert!(second.poll().is_pending());
    assert!(first.poll().is_ready());
    // Handed over and dropped: the next has it.
    assert_eq!(second.wakes(), 1);
    drop(second);
    assert!(primitive.try_lock().is_ok());
}

fn a_writer_holds_readers_back<F: Locks>() {
    let primitive = F::rwlock(0);
    let reads = primitive.try_read().expect("it is free");
    let mut writer = parked(primitive.write());
    assert!(primitive.try_read().is_err(), "a writer waits");
    let mut reader = parked(primitive.read());
    drop(reads);
    assert_eq!((writer.wakes(), reader.wakes()), (1, 0));
    assert!(writer.poll().is_ready());
    assert_eq!(reader.wakes(), 1);
    assert!(reader.poll().is_ready());
}

/// Those that wait to read go with it, and nobody writes in between.
fn a_writer_goes_on_reading<F: Locks>() {
    let lock = F::rwlock(1);
    let mut writes = lock.try_write().expect("it is free");
    let mut readers = [parked(lock.read()), parked(lock.read())];
    let (mut next, last) = (parked(lock.write()), parked(lock.read()));
    *writes = 2;
    let own = writes.downgrade();
    let mut reads = readers.each_mut().map(|reader| ready(reader.poll()));
    assert!(reads.iter_mut().all(|value| **value == *own));
    assert!(lock.try_write().is_err() && next.poll().is_pending());
    drop((reads, own));
    assert_eq!((next.wakes(), last.wakes()), (1, 0));
    *ready(next.poll()) = 3;
    assert_eq!(last.wakes(), 1);
}

fn readers_go_together<F: Locks>() {
    let primitive = F::rwlock(0);
    let writes = primitive.try_write().expect("it is free");
    let mut readers = [(); 3].map(|()| parked(primitive.read()));
    let writer = parked(primitive.write());
    let behind = parked(primitive.read());
    drop(writes);
    assert_eq!(readers.each_ref().map(Hand::wakes), [1; 3]);
    let guards = readers.each_mut().map(Hand::poll);
    assert!(guards.iter().all(Poll::is_ready));
    // The writer gives up: who waited behind it goes with the others.
    assert_eq!(behind.wakes(), 0);
    drop(writer);
    assert_eq!(behind.wakes(), 1);
}

fn many_permits_are_not_passed<F: Locks>() {
    let primitive = F::semaphore(2);
    let one = primitive.try_acquire().expect("it is free");
    let mut many = parked(primitive.acquire_many(2));
    assert!(primitive.try_acquire().is_err(), "one waits for it");
    let mut few = parked(primitive.acquire());
    assert_eq!(primitive.available_permits(), 1);
    drop(one);
    assert_eq!((many.wakes(), few.wakes()), (1, 0));
    let two = ready(many.poll()).expect("it is open");
    assert_eq!((two.num_permits(), primitive.available_permits()), (2, 0));
    two.forget();
    primitive.add_permits(3);
    assert!(few.poll().is_ready());
    assert_eq!(primitive.available_permits(), 3);
}

/// The message of a panic, which names the line that asked.
fn refused(body: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(body)).expect_err("it is refused");
    panic_text(&*payload)
}

fn none_and_too_many_permits<F: Locks>() {
    let max = gossamer::sync::Semaphore::MAX_PERMITS;
    let primitive = F::semaphore(0);
    assert!(primitive.try_acquire().is_err());
    let waits = parked(primitive.acquire());
    assert_eq!(
        primitive
            .try_acquire_many(0)
            .expect("none are free at once")
            .num_permits(),
        0
    );
    assert!(Hand::new(primitive.acquire_many(0)).poll().is_ready());
    assert_eq!(waits.wakes(), 0);
    drop(waits);
    for message in [
        refused(|| drop(primitive.acquire_many(max + 1))),
        refused(|| drop(primitive.try_acquire_many(max + 1))),
    ] {
        assert!(
            message.contains("536870912 permits were asked for"),
            "{message}"
        );
    }
    assert!(refused(|| drop(F::semaphore(max + 1))).contains("more than 536,870,911"));
    primitive.add_permits(max);
    let message = refused(|| primitive.add_permits(1));
    assert!(
        message.contains("1 permits were added to 536870911"),
        "{message}"
    );
    assert_eq!(primitive.available_permits(), max);
    assert!(refused(|| drop(F::barrier(0))).contains("at least 1"));
    assert!(refused(|| drop(F::barrier(1 << 24))).contains("more than 16,777,215"));
    // One meets itself.
    let alone = F::barrier(1);
    let mut arrives = Hand::new(alone.arrive());
    assert!(matches!(arrives.poll(), Poll::Ready(result) if result.is_leader()));
}

fn one_is_notified_or_all<F: Locks>() {
    let (primitive, condition) = (F::mutex(0), F::condvar());
    condition.notify_one();
    condition.notify_all();
    let wait =
        || parked(condition.notified(primitive.try_lock().expect("whoever waits leaves it")));
    let (mut first, second, third) = (wait(), wait(), wait());
    condition.notify_one();
    assert_eq!((first.wakes(), second.wakes(), third.wakes()), (1, 0, 0));
    condition.notify_all();
    assert_eq!((second.wakes(), third.wakes()), (1, 1));
    let fourth = wait();
    assert_eq!(fourth.wakes(), 0, "it came later");
    let Poll::Ready(guard) = first.poll() else {
        panic!("the mutex is free")
    };
    assert!(primitive.is_locked());
    drop(guard);
}

/// A notification of all is still on its way to those it is for, when one comes for somebody else.
#[test]
fn one_is_notified_while_all_are() {
    #[derive(Default)]
    struct Notifies {
        primitive: sync::Mutex<()>,
        condition: sync::Condvar,
        late: sync::Event,
        has_come: sync::Event,
    }
    struct Other(&'static Notifies);
    impl Wake for Other {
        fn wake(self: Arc<Self>) {
            // The next one waits, and is notified, before the second one has been woken.
            self.0.late.set();
            self.0.has_come.ready().wait();
            self.0.condition.notify_one();
        }
    }
    let at: &'static Notifies = Box::leak(Box::default());
    let wait = || {
        at.condition
            .notified(at.primitive.try_lock().expect("it is free"))
    };
    let mut first = Hand::new(wait());
    let waker = Waker::from(Arc::new(Other(at)));
    assert!(first.poll_with(&waker).is_pending());
    let second = parked(wait());
    let third = std::thread::spawn(move || {
        at.late.ready().wait();
        let third = parked(at.condition.notified(at.primitive.lock().wait()));
        at.has_come.set();
        third
    });
    at.condition.notify_all();
    let third = third.join().expect("no panic");
    assert_eq!((second.wakes(), third.wakes()), (1, 1));
}

/// One that was notified and is dropped, before it has noticed or while it waits for the mutex.
fn a_notification_is_passed_on<F: Locks>() {
    let (primitive, condition) = (F::mutex(0), F::condvar());
    let wait =
        || parked(condition.notified(primitive.try_lock().expect("whoever waits leaves it")));
    let (first, mut second, third) = (wait(), wait(), wait());
    condition.notify_one();
    drop(first);
    assert_eq!((second.wakes(), third.wakes()), (1, 0));
    let held = primitive.try_lock().expect("nobody has it so far");
    assert!(second.poll().is_pending(), "it waits for the mutex");
    drop(second);
    assert_eq!(third.wakes(), 1);
    drop(held);
    // Who had it and is done passes nothing on.
    let mut third = third;
    let fourth = parked(condition.notified(primitive.try_lock().expect("it is free")));
    let Poll::Ready(guard) = third.poll() else {
        panic!("the mutex is free")
    };
    drop(guard);
    drop(third);
    assert_eq!(fourth.wakes(), 0);
    // Nor does one that was notified with all others.
    condition.notify_all();
    let fifth = parked(condition.notified(primitive.try_lock().expect("it is free")));
    drop(fourth);
    assert_eq!(fifth.wakes(), 0);
    // Never polled, it unlocks.
    drop(condition.notified(primitive.try_lock().expect("it is free")));
    assert!(!primitive.is_locked());
}

fn an_event_lets_go_who_waited<F: Locks>() {
    let event = F::event();
    let (mut first, mut second) = (parked(event.ready()), parked(event.ready()));
    event.set();
    event.set();
    event.reset();
    let third = parked(event.ready());
    assert_eq!((first.wakes(), second.wakes(), third.wakes()), (1, 1, 0));
    assert!(first.poll().is_ready() && second.poll().is_ready());
    assert!(!event.is_set());
    event.set();
    assert!(event.is_set() && Hand::new(event.ready()).poll().is_ready());
    assert_eq!(third.wakes(), 1);
}

fn an_arrival_is_taken_back<F: Locks>() {
    let primitive = F::barrier(2);
    drop(parked(primitive.arrive()));
    let mut first = parked(primitive.arrive());
    let Poll::Ready(result) = Hand::new(primitive.arrive()).poll() else {
        panic!("all have come")
    };
    assert!(result.is_leader());
    assert!(matches!(first.poll(), Poll::Ready(result) if !result.is_leader()));
    // Dropped when all have come, it has counted.
    let gone = parked(primitive.arrive());
    assert!(Hand::new(primitive.arrive()).poll().is_ready());
    drop(gone);
    let _waits = parked(primitive.arrive());
    assert!(
        format!("{primitive:?}").contains("come: 1"),
        "{primitive:?}"
    );
}

fn a_variable_keeps_its_first_value<F: Locks>() {
    let primitive = F::ivar();
    let (mut first, second) = (parked(primitive.read()), parked(primitive.read()));
    assert_eq!(primitive.try_read(), None);
    primitive.put(1).expect("it is free");
    let error = primitive.put(2).expect_err("it is assigned");
    assert!(error.to_string().contains("assigned before"), "{error}");
    assert_eq!(error.0, 2);
    assert_eq!((first.wakes(), second.wakes()), (1, 1));
    assert_eq!(first.poll(), Poll::Ready(&1));
    drop((first, second));
    assert_eq!(primitive.into_inner(), Some(1));
}

fn a_cell_is_made_by_one<F: Locks>() {
    let primitive = F::once_cell();
    let never = || std::future::pending::<u32>();
    let makes = parked(primitive.get_or_init(never));
    assert_eq!(primitive.set(5).expect_err("one makes it").0, 5);
    let (mut second, mut third) = (
        parked(primitive.get_or_init(async || 2)),
        parked(primitive.get_or_init(async || 3)),
    );
    assert_eq!(second.wakes(), 0);
    drop(makes);
    assert_eq!((second.wakes(), third.wakes()), (1, 0));
    assert_eq!(second.poll(), Poll::Ready(&2));
    assert_eq!((third.wakes(), third.poll()), (1, Poll::Ready(&2)));
    drop((second, third));
    assert_eq!(primitive.into_inner(), Some(2));
}
