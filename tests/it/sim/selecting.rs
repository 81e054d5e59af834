//! In which order a select asks its branches, where that is the simulation's choice.

use std::sync::Arc;

use gossamer::experiment::Outcome;
use gossamer::select;
use gossamer::sim::Sim;
use gossamer::sync::MVar;

use super::draws::merged;
use super::outcomes::{of, p};

/// Of those that are there, each is as probable as the others.
#[test]
fn branches_are_alike() {
    let two = merged(async || {
        let (a, b) = (MVar::new('a'), MVar::new('b'));
        select! {
            taken = a.take() => taken,
            taken = b.take() => taken,
        }
    });
    for letter in ['a', 'b'] {
        assert_eq!(two.probability(&Outcome::Returned(letter)), p(1, 2));
    }
    assert_eq!(two.paths(), 3, "to the choice, and on from it: {two}");

    for empty in 0..4 {
        // Of three branches, and those that are not empty.
        let some = merged(async || {
            let cells = [0, 1, 2].map(|at| match at == empty {
                true => MVar::empty(),
                false => MVar::new(at),
            });
            let [a, b, c] = &cells;
            select! {
                taken = a.take() => taken,
                taken = b.take() => taken,
                taken = c.take() => taken,
            }
        });
        for at in (0..3).filter(|at| *at != empty) {
            let probability = if empty < 3 { p(1, 2) } else { p(1, 3) };
            let found = some.probability(&Outcome::Returned(at));
            assert_eq!(found, probability, "{some}");
        }
    }

    let many = of(async || {
        let cells: Vec<_> = (0..5).map(|at| (at, MVar::empty())).collect();
        cells[1].1.put(()).await;
        cells[4].1.put(()).await;
        select::any(cells.iter().map(|(_, cell)| cell.take()))
            .await
            .0
    });
    for at in [1, 4] {
        assert_eq!(many.probability(&Outcome::Returned(at)), p(1, 2), "{many}");
    }
}

/// Where one branch could go, or the order is given, or none goes at all, there is nothing to choose.
#[test]
fn no_choice_is_made_in_vain() {
    let biased = of(async || {
        let (a, b) = (MVar::new('a'), MVar::new('b'));
        select! {
            biased;
            taken = a.take() => taken,
            taken = b.take() => taken,
        }
    });
    assert_eq!(biased.paths(), 1, "{biased}");
    assert_eq!(biased.probability(&Outcome::Returned('a')), p(1, 1));

    let one = of(async || {
        let (a, b) = (MVar::empty(), MVar::new('b'));
        select! {
            taken = a.take() => taken,
            taken = b.take() => taken,
        }
    });
    assert_eq!(one.paths(), 1, "{one}");

    let none = of(async || {
        let (a, b) = (MVar::<()>::empty(), MVar::<()>::empty());
        select! {
            () = a.take() => {}
            () = b.take() => {}
        }
    });
    assert_eq!((none.paths(), none.iter().count()), (1, 1), "{none}");
    assert_eq!(none.probability(&Outcome::Deadlock), p(1, 1));

    // Where tasks are chosen among, selects ask as ever.
    let run = Sim::new().run_traced(0, async || {
        let (a, b) = (MVar::new('a'), MVar::new('b'));
        select! {
            taken = a.take() => taken,
            taken = b.take() => taken,
        }
    });
    let steps = run.choices.iter().all(|choice| choice.enabled == 1);
    assert!(steps, "{:?}", run.choices);
}

/// The choice is made when the select is, and both the schedule and the order tell the outcome.
#[test]
fn selects_among_others() {
    let found = merged(async || {
        let (a, b) = (Arc::new(MVar::empty()), Arc::new(MVar::empty()));
        let (to_a, to_b) = (a.clone(), b.clone());
        let tasks = [
            gossamer::spawn(async move { to_a.put('a').await }),
            gossamer::spawn(async move { to_b.put('b').await }),
        ];
        let first = select! {
            taken = a.take() => taken,
            taken = b.take() => taken,
        };
        let other = match first {
            'a' => b.take().await,
            _ => a.take().await,
        };
        for task in tasks {
            task.await.expect("no panic");
        }
        format!("{first}{other}")
    });
    for outcome in ["ab", "ba"] {
        let probability = found.probability(&Outcome::Returned(outcome.to_owned()));
        assert_eq!(probability, p(1, 2), "{found}");
    }
    let last = found.schedule(&Outcome::Returned("ba".to_owned()));
    assert!(last.is_some_and(|schedule| !schedule.choices().is_empty()));
}
