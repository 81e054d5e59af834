//! Each of the five checks finds what it is for.

use gossamer::{Model, Runtime};

use super::*;
use crate::direction::Direction;
use crate::generator::Kronecker;
use crate::search::{NONE, Search};
use crate::serial::Serial;
use crate::validate::{Fault, UNREACHED, check, levels};
use crate::workers::OnRuntime;

/// All checks, as a run makes them.
fn checked(edges: &[Edge], parents: &[u32]) -> Result<(), Fault> {
    let levels = levels(parents, 0)?;
    check(edges, 0, parents, &levels, &Alone)
}

#[test]
fn a_right_tree_passes() {
    assert_eq!(checked(&SMALL, &[0, 0, 1, 0, NONE, NONE, NONE]), Ok(()));
    let levels = levels(&[0, 0, 1, 0, NONE, NONE, NONE], 0);
    assert_eq!(
        levels,
        Ok(vec![0, 1, 2, 1, UNREACHED, UNREACHED, UNREACHED])
    );
}

#[test]
fn check_1_finds_what_is_no_tree() {
    let parents = [1, 0, 1, 0, NONE, NONE, NONE];
    assert_eq!(checked(&SMALL, &parents), Err(Fault::Root(0)));
    let parents = [0, 2, 1, 0, NONE, NONE, NONE];
    assert_eq!(checked(&SMALL, &parents), Err(Fault::Cycle(1)));
    let itself = [0, 0, 2, 0, NONE, NONE, NONE];
    assert_eq!(checked(&SMALL, &itself), Err(Fault::Cycle(2)));
    let unreached = [0, 0, 4, 0, NONE, NONE, NONE];
    assert_eq!(checked(&SMALL, &unreached), Err(Fault::Parent(2)));
    let beyond = [0, 0, 7, 0, NONE, NONE, NONE];
    assert_eq!(checked(&SMALL, &beyond), Err(Fault::Parent(2)));
}

#[test]
fn check_2_finds_a_vertex_beside_its_parent() {
    // Levels come of the parents, so only wrong ones can show it.
    let edges = [[0, 1], [1, 2]];
    let wrong = check(&edges, 0, &[0, 0, 1], &[0, 1, 1], &Alone);
    assert_eq!(wrong, Err(Fault::TreeEdge(2)));
    assert_eq!(check(&edges, 0, &[0, 0, 1], &[0, 1, 2], &Alone), Ok(()));
}

#[test]
fn check_3_finds_a_way_round() {
    let edges = [[0, 1], [1, 2], [2, 3], [3, 0]];
    assert_eq!(checked(&edges, &[0, 0, 1, 2]), Err(Fault::Levels([3, 0])));
    assert_eq!(checked(&edges, &[0, 0, 1, 0]), Ok(()));
}

#[test]
fn check_4_finds_what_was_left_out() {
    let missing = [0, 0, NONE, 0, NONE, NONE, NONE];
    assert_eq!(checked(&SMALL, &missing), Err(Fault::Component([1, 2])));
}

#[test]
fn check_5_finds_an_edge_that_is_not_there() {
    let edges = [[0, 1], [0, 2], [1, 3]];
    assert_eq!(checked(&edges, &[0, 0, 0, 2]), Err(Fault::NoEdge(3)));
    assert_eq!(checked(&edges, &[0, 0, 0, 1]), Ok(()));
}

/// In a graph of several parts, on workers: wherever the fault is.
#[test]
fn a_fault_anywhere_in_a_large_tree_is_found() {
    let runtime = Runtime::builder()
        .model(Model::Pool { workers: 2 })
        .build()
        .unwrap();
    let workers = OnRuntime::new(&runtime, 2);
    let edges = Kronecker::new(11, 40, 1).edges(&Alone);
    let graph = Graph::new(1 << 11, &edges, &Alone);
    let root = graph.roots(1, 1)[0];
    let mut search = Serial::new(&graph, Direction::TopDown);
    search.run(root);
    let parents = search.parents();
    let right = levels(&parents, root).unwrap();
    assert_eq!(check(&edges, root, &parents, &right, &workers), Ok(()));
    let reached: Vec<usize> = (0..1 << 11)
        .filter(|vertex| right[*vertex] > 0 && right[*vertex] != UNREACHED)
        .collect();
    for vertex in reached.into_iter().step_by(97) {
        let mut levels = right.clone();
        levels[vertex] = UNREACHED;
        let found = check(&edges, root, &parents, &levels, &workers);
        assert!(
            matches!(found, Err(Fault::Component(_))),
            "{vertex}: {found:?}"
        );
        levels[vertex] = right[vertex] + 2;
        let found = check(&edges, root, &parents, &levels, &workers);
        assert!(
            matches!(found, Err(Fault::Levels(_))),
            "{vertex}: {found:?}"
        );
    }
}
