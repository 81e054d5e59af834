//! The rules of `MVar`, each under every model and on sim.

use super::script::{MVars, Saw, Script, Seen, Step, mvars};
use super::{Kind, World, everywhere};

use gossamer::JoinHandle;

async fn ended(actor: JoinHandle<Seen>) -> Seen {
    actor.await.expect("no panic")
}

/// Two actors pass a number to and fro.
async fn to_and_fro(world: World, one: Kind, two: Kind, _: u64) {
    let mvars = mvars(2);
    let trips = 20_u32;
    let script = |first, second| -> Script {
        (0..trips)
            .flat_map(|trip| [Step::Put(first, trip), Step::Take(second)])
            .collect()
    };
    let asks = world.start(one, &mvars, script(0, 1));
    let echoes = (0..trips).flat_map(|trip| [Step::Take(0), Step::Put(1, trip + 100)]);
    let answers = world.start(two, &mvars, echoes.collect());
    let (asked, answered) = (ended(asks).await, ended(answers).await);
    assert!(answered.taken().eq(0..trips), "{answered:?}");
    assert!(asked.taken().eq(100..100 + trips), "{asked:?}");
}

/// Three actors put, three take: each value comes once, and those of one putter in order.
async fn each_value_once_and_in_order(world: World, one: Kind, two: Kind, _: u64) {
    let mvars = mvars(1);
    let count = 8;
    let putters: Vec<_> = (0..3)
        .map(|putter| {
            let script = (0..count).map(|number| Step::Put(0, putter * 1_000 + number));
            world.start(one, &mvars, script.collect())
        })
        .collect();
    let takers: Vec<_> = (0..3)
        .map(|_| world.start(two, &mvars, vec![Step::Take(0); count as usize]))
        .collect();
    let mut all = Vec::new();
    for taker in takers {
        let taken: Vec<u32> = ended(taker).await.taken().collect();
        for putter in 0..3 {
            let of_one = taken.iter().filter(|value| **value / 1_000 == putter);
            assert!(of_one.is_sorted(), "out of order: {taken:?}");
        }
        all.extend(taken);
    }
    for putter in putters {
        ended(putter).await;
    }
    all.sort_unstable();
    let expected = (0..3).flat_map(|putter| (0..count).map(move |number| putter * 1_000 + number));
    assert!(all.into_iter().eq(expected));
}

/// Reading waits for a value, and leaves it.
async fn reading_leaves_the_value(world: World, one: Kind, two: Kind, _: u64) {
    let mvars = mvars(1);
    let readers: Vec<_> = (0..3)
        .map(|_| world.start(one, &mvars, vec![Step::Read(0)]))
        .collect();
    ended(world.start(two, &mvars, vec![Step::Yield, Step::Put(0, 7)])).await;
    for reader in readers {
        assert_eq!(ended(reader).await.0, [Saw::Read(7)]);
    }
    assert_eq!(mvars[0].try_take(), Some(7));
}

/// What is replaced and swapped comes back, so that nothing is lost or doubled.
async fn replacing_gives_back(world: World, one: Kind, two: Kind, _: u64) {
    let mvars = mvars(1);
    let replaces = (0..10).map(|number| Step::Replace(0, number)).collect();
    let replaced = world.start(one, &mvars, replaces);
    let swaps = (10..20).map(|number| Step::Swap(0, number)).collect();
    let swapped = world.start(two, &mvars, swaps);
    let mut all: Vec<u32> = ended(replaced).await.taken().collect();
    all.extend(ended(swapped).await.taken());
    all.extend(mvars[0].try_take());
    all.sort_unstable();
    assert!(all.iter().copied().eq(0..20), "{all:?}");
}

/// Who gives up takes nothing with it and leaves nothing behind: what was put is what was taken, and what is left.
async fn giving_up_loses_nothing(world: World, one: Kind, two: Kind, _: u64) {
    let mvars = mvars(1);
    let put = |from: u32| (from..from + 12).map(|number| Step::AbandonPut(0, number));
    let putters = [put(0), put(100)].map(|script| world.start(one, &mvars, script.collect()));
    let takers = [(), ()].map(|()| world.start(two, &mvars, vec![Step::AbandonTake(0); 12]));
    let (mut came, mut went) = (Vec::new(), Vec::new());
    for putter in putters {
        came.extend(ended(putter).await.put());
    }
    for taker in takers {
        went.extend(ended(taker).await.taken());
    }
    went.extend(mvars[0].try_take());
    came.sort_unstable();
    went.sort_unstable();
    assert_eq!(came, went);
}

/// An actor that is aborted while it waits: what it was promised goes to the next.
async fn an_abort_passes_the_turn_on(world: World, one: Kind, two: Kind, _: u64) {
    if one == Kind::Thread {
        // A thread cannot be aborted.
        return;
    }
    let mvars = mvars(1);
    let aborted = world.start(one, &mvars, vec![Step::Take(0)]);
    let next = world.start(two, &mvars, vec![Step::Yield, Step::Take(0)]);
    let puts = world.start(two, &mvars, vec![Step::Yield, Step::Put(0, 1)]);
    aborted.abort();
    ended(puts).await;
    let first = aborted.await;
    let given_to_first = first.is_ok();
    if given_to_first {
        // It was quicker, so there must be one for the other.
        ended(world.start(two, &mvars, vec![Step::Put(0, 2)])).await;
    }
    assert_eq!(ended(next).await.0.len(), 2);
    assert_eq!(mvars[0].try_take(), None);
}

/// Two actors at random: values are conserved, whatever they do.
async fn random_programs_conserve_values(world: World, one: Kind, two: Kind, seed: u64) {
    let mvars = mvars(2);
    let mut random = fastrand::Rng::with_seed(seed);
    let mut script = |from: u32| -> Script {
        (from..from + 15)
            .map(|value| {
                let at = random.usize(..2);
                match random.u32(..6) {
                    0 => Step::Replace(at, value),
                    1 => Step::TryTake(at),
                    2 => Step::AbandonTake(at),
                    3 => Step::Yield,
                    _ => Step::AbandonPut(at, value),
                }
            })
            .collect()
    };
    let scripts = [script(0), script(100), script(200), script(300)];
    let mut came = Vec::new();
    let mut kinds = [one, two].into_iter().cycle();
    let actors = scripts.map(|script| {
        let replaced = script.iter().filter_map(|step| match step {
            Step::Replace(_, value) => Some(*value),
            _ => None,
        });
        came.extend(replaced);
        let kind = kinds.next().expect("it has no end");
        world.start(kind, &mvars, script)
    });
    let mut went = Vec::new();
    for actor in actors {
        let seen = ended(actor).await;
        came.extend(seen.put());
        went.extend(seen.taken());
    }
    drain(&mvars, &mut went);
    came.sort_unstable();
    went.sort_unstable();
    assert_eq!(came, went, "seed {seed}");
}

fn drain(mvars: &MVars, into: &mut Vec<u32>) {
    into.extend(mvars.iter().filter_map(|mvar| mvar.try_take()));
}

// So many rounds for each model and pair of kinds, so many schedules for each pair.
everywhere! {
    to_and_fro: 20, 500;
    each_value_once_and_in_order: 20, 2_500;
    reading_leaves_the_value: 20, 2_500;
    replacing_gives_back: 20, 2_500;
    giving_up_loses_nothing: 20, 2_500;
    an_abort_passes_the_turn_on: 50, 2_500;
    random_programs_conserve_values: 50, 2_500;
}
