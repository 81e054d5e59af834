//! Somebody is turned away from a select that may take another branch just then, or from one that a join has claimed:
//! whoever could meet afterwards is called, once, and nobody spins.

use std::cell::{Cell, RefCell};
use std::future::{Future, pending, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use gossamer::channel::{TryRecvError, join_pattern};
use gossamer::{Wait, select};

use crate::flavour::both;
use crate::hand::{Hand, parked, ready};
use crate::ports::Sets;

both! {
    one_of_many_sends_takes_effect,
    a_send_that_waited_before_has_lost,
    a_send_by_reference_calls_who_waits_by_then,
    a_send_by_reference_calls_the_set_that_saw_it,
    a_receive_that_was_called_before_its_select,
    a_join_silences_nothing_for_a_receiver,
    a_join_silences_nothing_for_another_join,
    two_joins_silence_nothing_for_a_receiver,
    a_receiver_that_is_polled_where_it_is_woken,
}

/// More branches than a word has bits: a place becomes free for one as the message of another is taken.
fn one_of_many_sends_takes_effect<F: Sets>() {
    let channels: Vec<_> = (0..66)
        .map(|place| F::channel(usize::from(place == 63)))
        .collect();
    channels[63].0.try_send(1_000).unwrap();
    let sends = channels.iter().enumerate();
    let mut waits = parked(select::any(sends.map(|(place, (tx, _))| tx.send(place))));
    assert_eq!(channels[64].1.try_recv(), Ok(64));
    assert_eq!(channels[63].1.try_recv(), Ok(1_000));
    assert_eq!(waits.poll(), Poll::Ready((64, Ok(()))));
    drop(waits);
    assert_eq!(channels[63].1.try_recv(), Err(TryRecvError::Empty));
}

/// It was in the queue before the select had it: nobody takes its message when another branch was the one.
fn a_send_that_waited_before_has_lost<F: Sets>() {
    let ((tx, rx), (stop, stopped)) = (F::channel(0), F::channel(1));
    let mut send = Box::pin(tx.send(7));
    drop(parked(poll_fn(|cx| send.as_mut().poll(cx))));
    stop.try_send(()).unwrap();
    let took = async {
        select! {
            biased;
            _ = stopped.recv() => "stopped",
            _ = &mut send => "sent",
        }
    };
    assert_eq!(took.wait(), "stopped");
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    let mut send = parked(send);
    assert_eq!(rx.try_recv(), Ok(7));
    assert_eq!(send.poll(), Poll::Ready(Ok(())));
}

/// A send outlives its select. The next select of the same task, at the same address, receives: they are two by now.
fn a_send_by_reference_calls_who_waits_by_then<F: Sets>() {
    let ((tx, rx), (stop, stopped)) = (F::channel(0), F::channel(1));
    let handed = Cell::new(None);
    let mut waits = parked(async {
        let mut send = Some(Box::pin(tx.send(7)));
        for round in 0..2 {
            let mut here = send.take();
            let got = select! {
                biased;
                _ = stopped.recv(), if round == 0 => None,
                _ = here.as_mut().unwrap(), if round == 0 => panic!("nobody receives"),
                got = rx.recv(), if round == 1 => Some(got),
            };
            if got.is_some() {
                return got;
            }
            handed.set(here);
        }
        None
    });
    stop.try_send(()).unwrap();
    assert!(waits.poll().is_pending());
    let before = waits.wakes();
    let mut send = parked(handed.take().unwrap());
    assert!(waits.wakes() > before, "it waits, though a sender does");
    assert_eq!(waits.poll(), Poll::Ready(Some(Ok(7))));
    assert_eq!(send.poll(), Poll::Ready(Ok(())));
}

/// The set and the send were branches of one select, which is over: the set is told, as it would be of any other send.
fn a_send_by_reference_calls_the_set_that_saw_it<F: Sets>() {
    let ((tx, rx), (stop, stopped), set) = (F::channel(0), F::channel(1), F::set());
    set.add(rx).unwrap();
    let mut send = Box::pin(tx.send(7));
    let mut waits = parked(async {
        select! {
            biased;
            _ = stopped.recv() => {}
            _ = set.recv() => panic!("it is not its own partner"),
            _ = &mut send => panic!("nobody receives"),
        }
    });
    assert!(waits.poll().is_pending());
    stop.try_send(()).unwrap();
    ready(waits.poll());
    drop(waits);
    let mut receives = parked(set.recv());
    let mut send = parked(send);
    assert!(receives.wakes() > 0, "it waits, though a sender does");
    assert!(matches!(ready(receives.poll()), Some((_, Ok(7)))));
    assert_eq!(send.poll(), Poll::Ready(Ok(())));
}

/// It was called, and then the sender had gone: in a select that sends over the same channel it does not call itself.
fn a_receive_that_was_called_before_its_select<F: Sets>() {
    let (tx, rx) = F::channel(0);
    let mut receive = Box::pin(rx.recv());
    let alone = parked(poll_fn(|cx| receive.as_mut().poll(cx)));
    drop(parked(tx.send(1)));
    drop(alone);
    let mut waits = Hand::new(async {
        select! {
            biased;
            _ = &mut receive => panic!("it is not its own partner"),
            _ = tx.send(2) => panic!("nobody receives"),
        }
    });
    for _ in 0..5 {
        assert!(waits.poll().is_pending());
    }
    let wakes = waits.wakes();
    for _ in 0..20 {
        assert!(waits.poll().is_pending());
    }
    assert_eq!(waits.wakes(), wakes, "it wakes itself again and again");
}

/// Two joins wait beside a receiver: one lacks a channel, the other one may not take two messages of one select.
fn a_join_silences_nothing_for_a_receiver<F: Sets>() {
    let (a, from_a) = F::channel(0);
    let (b, from_b) = F::channel(0);
    let (_c, from_c) = F::channel::<i32>(0);
    let mut lacks = parked(join_pattern((&from_a, &from_c)));
    let mut plain = parked(from_a.recv());
    let mut waits = parked(async {
        select! {
            sent = a.send(1) => sent,
            sent = b.send(2) => sent,
        }
    });
    let mut both = parked(join_pattern((&from_a, &from_b)));
    for _ in 0..3 {
        assert!(lacks.poll().is_pending());
        assert!(both.poll().is_pending());
        assert!(waits.poll().is_pending());
    }
    assert!(plain.wakes() > 0, "it waits, though a sender does");
    assert_eq!(plain.poll(), Poll::Ready(Ok(1)));
    assert_eq!(waits.poll(), Poll::Ready(Ok(())));
}

/// A join that can be served was called; another one, which may not take two messages of one select, looks before it.
fn a_join_silences_nothing_for_another_join<F: Sets>() {
    let ((a, from_a), (b, from_b), (c, from_c)) = (F::channel(0), F::channel(0), F::channel(1));
    c.try_send(5).unwrap();
    let mut served = parked(join_pattern((&from_a, &from_c)));
    let mut waits = parked(async {
        select! {
            sent = a.send(1) => sent,
            sent = b.send(2) => sent,
        }
    });
    assert!(served.wakes() > 0);
    let _both = parked(join_pattern((&from_a, &from_b)));
    assert_eq!(served.poll(), Poll::Ready(Ok((1, 5))));
    assert_eq!(waits.poll(), Poll::Ready(Ok(())));
}

/// Both joins want what one select sends, and leave each other nothing; the receiver behind them gets its message.
fn two_joins_silence_nothing_for_a_receiver<F: Sets>() {
    let ((a, from_a), (b, from_b)) = (F::channel(0), F::channel(0));
    let mut joins = [(); 2].map(|()| parked(join_pattern((&from_a, &from_b))));
    let mut plain = parked(from_b.recv());
    let mut waits = parked(async {
        select! {
            biased;
            sent = a.send(1) => sent,
            sent = b.send(2) => sent,
        }
    });
    for _ in 0..4 {
        for join in joins.iter_mut().rev() {
            assert!(join.poll().is_pending());
        }
        assert!(waits.poll().is_pending());
    }
    assert!(plain.wakes() > 0, "it waits, though a sender does");
    assert_eq!(plain.poll(), Poll::Ready(Ok(2)));
    assert_eq!(waits.poll(), Poll::Ready(Ok(())));
}

/// A future of this thread that is polled where it is woken; or after that poll, if it is in one.
struct PolledAtOnce;

type Polled = Pin<Box<dyn Future<Output = ()>>>;

thread_local! {
    static POLLED: RefCell<Option<Polled>> = const { RefCell::new(None) };
    static AGAIN: Cell<bool> = const { Cell::new(false) };
}

impl Wake for PolledAtOnce {
    fn wake(self: Arc<Self>) {
        AGAIN.set(true);
        let Some(mut future) = POLLED.take() else {
            return;
        };
        let waker = Waker::from(self);
        let mut polls = 0;
        while AGAIN.replace(false) {
            polls += 1;
            assert!(polls < 100, "it wakes itself again and again");
            if future
                .as_mut()
                .poll(&mut Context::from_waker(&waker))
                .is_ready()
            {
                return;
            }
        }
        POLLED.set(Some(future));
    }
}

/// A foreign waker polls in the midst of the select's poll, which may still take another branch: so it is called again.
fn a_receiver_that_is_polled_where_it_is_woken<F: Sets>() {
    let (tx, rx) = F::channel(0);
    let got = std::rc::Rc::new(Cell::new(0));
    let seen = got.clone();
    POLLED.set(Some(Box::pin(async move {
        seen.set(rx.recv().await.unwrap());
    })));
    Waker::from(Arc::new(PolledAtOnce)).wake();
    let mut waits = Hand::new(async {
        select! {
            sent = tx.send(7) => sent,
            _ = pending::<()>() => panic!("it is never ready"),
        }
    });
    let first = waits.poll();
    assert_eq!(got.get(), 7, "both wait");
    if first.is_pending() {
        assert_eq!(waits.poll(), Poll::Ready(Ok(())));
    }
}
