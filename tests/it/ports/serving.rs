//! An end of a pipe that is being served: the set keeps its place and its key for as long as the end is there.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::task::Poll;

use gossamer::yield_now;
use gossamer_sim::spawn;

use super::pipes::{Asked, Item, Serves, Set, UNLUCKY, asked};
use crate::exploring::{Cut, abort_all, explore_flavour, quiet};
use crate::flavour::both;
use crate::hand::{Hand, parked, ready};
use crate::pipe::{Ask, Client, Reply};

both! {
    others_wait_until_it_is_back,
    its_place_goes_with_it,
    its_place_goes_with_its_session,
    its_place_goes_when_it_is_in_another_set,
    a_conversion_that_panics_leaves_no_place,
    it_outlives_the_set,
    removed_it_keeps_no_place,
    two_workers_serve_one_client,
    a_worker_aborted_at_any_time,
}

/// A set whose only end is being served, where it is answered, and the other side, which waits for that.
fn served<F: Serves>() -> (
    Set<F>,
    Asked<F>,
    gossamer::channel::pipe::Receiving<Waits<F>>,
) {
    let (set, (client, server)) = (F::set(), F::pipe());
    F::add(&set, server);
    let replied = client.ask(7).unwrap().recv();
    let (_, 7, reply) = asked::<F>(set.try_recv()) else {
        panic!("it asked for 7");
    };
    (set, reply, replied)
}

type Waits<F> = crate::pipe::client::Reply<u32, <F as crate::flavour::Flavour>::P>;

fn others_wait_until_it_is_back<F: Serves>() {
    let (set, (mut client, server)) = (F::set(), F::pipe());
    let key = F::add(&set, server);
    for round in 0..3 {
        let replied = client.ask(round).unwrap();
        let (from, _, reply) = asked::<F>(set.try_recv());
        let mut waits = parked(set.recv());
        let server = reply.reply(round).unwrap();
        assert_eq!((waits.wakes(), set.len()), (0, 1));
        assert!(set.contains(key) && set.try_recv().is_none());
        // It has its key again.
        assert_eq!([from, F::add(&set, server)], [key, key]);
        let Reply::Reply(_, next) = ready(Hand::new(replied.recv()).poll()).unwrap() else {
            panic!("it was answered");
        };
        // The first look found nothing so far.
        assert!(waits.poll().is_pending());
        let wakes = waits.wakes();
        let _replied = next.ask(100 + round).unwrap();
        assert_eq!(waits.wakes(), wakes + 1);
        let (from, number, reply) = asked::<F>(ready(waits.poll()));
        assert_eq!((from, number), (key, 100 + round));
        F::add(&set, reply.reply(0).unwrap());
        let Reply::Reply(_, next) = ready(Hand::new(_replied.recv()).poll()).unwrap() else {
            panic!("it was answered");
        };
        client = next;
    }
}

fn its_place_goes_with_it<F: Serves>() {
    // While it has to answer.
    let (set, reply, _replied) = served::<F>();
    let mut waits = parked(set.recv());
    drop(reply);
    assert!(waits.wakes() == 1 && ready(waits.poll()).is_none());
    // When it has answered, and also if nobody waits.
    for waits in [true, false] {
        let (set, reply, _replied) = served::<F>();
        let server = reply.reply(1).unwrap();
        let mut waits = waits.then(|| parked(set.recv()));
        drop(server);
        assert!(set.is_empty());
        if let Some(waits) = &mut waits {
            assert!(ready(waits.poll()).is_none());
        }
        assert!(ready(Hand::new(set.recv()).poll()).is_none());
        // The entry is free, and has another key.
        let (client, server) = F::pipe();
        let key = F::add(&set, server);
        let _replied = client.ask(1).unwrap();
        assert_eq!(asked::<F>(set.try_recv()).0, key);
    }
}

fn its_place_goes_with_its_session<F: Serves>() {
    // The other side is gone, as it is answered.
    let (set, reply, replied) = served::<F>();
    let mut waits = parked(set.recv());
    drop(replied);
    assert_eq!(waits.wakes(), 0);
    assert!(reply.reply(1).is_err());
    assert!(waits.wakes() == 1 && ready(waits.poll()).is_none());
    // The other side ends the session.
    let (set, (client, server)) = (F::set(), F::pipe());
    F::add(&set, server);
    client.leave().unwrap();
    assert!(matches!(
        set.try_recv(),
        Some((_, Ok(Item::Heard(Ask::Leave))))
    ));
    assert!(set.is_empty() && ready(Hand::new(set.recv()).poll()).is_none());
    // This side ends it.
    let (set, reply, _replied) = served::<F>();
    reply.end(1).unwrap();
    assert!(set.is_empty() && ready(Hand::new(set.recv()).poll()).is_none());
}

fn its_place_goes_when_it_is_in_another_set<F: Serves>() {
    let (set, reply, replied) = served::<F>();
    let other = F::set();
    let mut waits = parked(set.recv());
    let key = F::add(&other, reply.reply(1).unwrap());
    assert!(waits.wakes() == 1 && ready(waits.poll()).is_none());
    let Reply::Reply(1, client) = ready(Hand::new(replied).poll()).unwrap() else {
        panic!("it was answered");
    };
    let _replied = client.ask(2).unwrap();
    let (from, number, _reply) = asked::<F>(other.try_recv());
    assert_eq!((from, number, other.len()), (key, 2, 1));
}

fn a_conversion_that_panics_leaves_no_place<F: Serves>() {
    let (set, (client, server)) = (F::set(), F::pipe());
    F::add(&set, server);
    let mut waits = parked(set.recv());
    let _replied = client.ask(UNLUCKY).unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| waits.poll().is_ready())).is_err());
    assert!(set.is_empty() && ready(Hand::new(set.recv()).poll()).is_none());
}

fn it_outlives_the_set<F: Serves>() {
    let (set, reply, replied) = served::<F>();
    drop(set);
    let server = reply.reply(1).unwrap();
    assert!(matches!(
        Hand::new(replied).poll(),
        Poll::Ready(Ok(Reply::Reply(1, _)))
    ));
    drop(server);
}

/// Taken out of the set while it listens, it is no longer the set's.
fn removed_it_keeps_no_place<F: Serves>() {
    let (set, reply, _replied) = served::<F>();
    let key = F::add(&set, reply.reply(1).unwrap());
    let _end = set.remove(key).expect("it is back");
    assert!(set.is_empty() && !set.contains(key));
    assert!(ready(Hand::new(set.recv()).poll()).is_none());
}

/// Asks three times, and leaves.
async fn asks<F: Serves>(mut client: Client<u32, F>) -> bool {
    for round in 0..3 {
        let Ok(replied) = client.ask(round) else {
            return false;
        };
        let Ok(Reply::Reply(_, next)) = replied.recv().await else {
            return false;
        };
        client = next;
    }
    client.leave().is_ok()
}

/// Serves for as long as there is something to serve, which the other worker may have in its hands.
async fn serves<F: Serves>(set: Rc<Set<F>>, cut: Cut) -> u32 {
    let mut left = 0;
    let mut first = cut.apply(set.recv()).await.flatten();
    loop {
        let event = match first.take() {
            Some(event) => event,
            None => match set.recv().await {
                Some(event) => event,
                None => return left,
            },
        };
        match event.1 {
            Ok(Item::Heard(Ask::Ask(number, reply))) => {
                yield_now().await;
                if let Ok(server) = reply.reply(number) {
                    yield_now().await;
                    F::add(&set, server);
                }
            }
            Ok(Item::Heard(Ask::Leave)) => left += 1,
            _ => panic!("nobody says that"),
        }
    }
}

/// Neither leaves before the client does, whoever has its end in between.
fn two_workers_serve_one_client<F: Serves>() {
    explore_flavour::<F, _>(|seed| async move {
        let (set, (client, server)) = (Rc::new(F::set()), F::pipe());
        F::add(&set, server);
        let left = Rc::new(Cell::new(0));
        let workers = [Cut::nth(seed), Cut::nth(seed / 8)].map(|cut| {
            let (set, left) = (set.clone(), left.clone());
            spawn(async move {
                let number = serves::<F>(set, cut).await;
                left.set(left.get() + number);
            })
        });
        let asks = spawn(async move { asks::<F>(client).await });
        let [one, other] = &workers;
        while !asks.is_finished() {
            assert!(!one.is_finished() && !other.is_finished());
            yield_now().await;
        }
        assert!(asks.await.unwrap());
        for worker in workers {
            worker.await.unwrap();
        }
        assert_eq!(left.get(), 1);
        assert!(set.is_empty());
    });
}

/// With it goes the end that it serves, if it has one then; the other worker serves on, or leaves.
fn a_worker_aborted_at_any_time<F: Serves>() {
    explore_flavour::<F, _>(|seed| async move {
        let (set, (client, server)) = (Rc::new(F::set()), F::pipe());
        F::add(&set, server);
        let [aborted, other] = [(); 2].map(|()| {
            let set = set.clone();
            spawn(async move {
                let _left = serves::<F>(set, Cut::NEVER).await;
            })
        });
        let asks = spawn(async move { asks::<F>(client).await });
        for _ in 0..seed % 16 {
            yield_now().await;
        }
        abort_all(vec![aborted]).await;
        asks.await.expect("it is answered, or told");
        other.await.expect("it leaves");
        quiet().await;
        assert!(set.is_empty());
    });
}
