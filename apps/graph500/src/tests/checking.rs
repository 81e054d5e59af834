//! Each of the five checks finds what it is for.

use gossamer::{Model, Runtime};

use super::*;
use crate::benchmark::{Asked, Failure, Source, prepare};
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

/// The same of the faults that the vertices show, not the edges.
#[test]
fn a_fault_of_any_vertex_in_a_large_tree_is_found() {
    let edges = Kronecker::new(11, 4, 1).edges(&Alone);
    let graph = Graph::new(1 << 11, &edges, &Alone);
    let root = graph.roots(1, 1)[0];
    let mut search = Serial::new(&graph, Direction::TopDown);
    search.run(root);
    let parents = search.parents();
    let right = levels(&parents, root).unwrap();
    let level = |vertex: u32| right[vertex as usize];
    let below = |vertex: &u32| level(*vertex) > 1 && level(*vertex) != UNREACHED;
    let mut beside = [0; 2];
    for vertex in (0..1 << 11).filter(below) {
        let neighbours = graph.neighbours(vertex);
        // No edge shows that a vertex is one level too high if it leads to no lower one.
        if neighbours
            .iter()
            .all(|other| level(*other) <= level(vertex))
        {
            let mut levels = right.clone();
            levels[vertex as usize] -= 1;
            let found = check(&edges, root, &parents, &levels, &Alone);
            assert_eq!(found, Err(Fault::TreeEdge(vertex)));
            beside[0] += 1;
        }
        let strange =
            |other: &u32| level(*other) == level(vertex) - 1 && !neighbours.contains(other);
        if let Some(strange) = (0..1 << 11).find(strange) {
            let mut parents = parents.clone();
            parents[vertex as usize] = strange;
            let found = check(&edges, root, &parents, &right, &Alone);
            assert_eq!(found, Err(Fault::NoEdge(vertex)));
            beside[1] += 1;
        }
    }
    assert!(beside.iter().all(|count| *count > 100), "{beside:?}");
}

/// A search that gives one vertex a wrong parent, the second time that it is asked to search.
struct Wrong<'g> {
    right: Serial<'g>,
    runs: usize,
}

impl Search for Wrong<'_> {
    fn clear(&mut self) {
        self.right.clear();
    }

    fn run(&mut self, root: u32) {
        self.runs += 1;
        self.right.run(root);
    }

    fn parents(&mut self) -> Vec<u32> {
        let mut parents = self.right.parents();
        // The first run is not looked at.
        if self.runs == 3 {
            let vertex = (0..)
                .zip(&parents)
                .position(|(own, parent): (u32, _)| *parent != NONE && *parent != own);
            let vertex = vertex.expect("a vertex below the root");
            parents[vertex] = vertex as u32;
        }
        parents
    }
}

#[test]
fn a_run_with_a_wrong_tree_fails() {
    let mut asked = Asked {
        source: Source::Kronecker {
            scale: 8,
            edge_factor: 16,
        },
        roots: 3,
        skip: 0,
        scanners: 0,
        seed: 1,
        validate: true,
    };
    let run = |asked: &Asked| {
        let prepared = prepare(asked, &Alone).expect("a graph");
        let right = Serial::new(&prepared.graph, Direction::TopDown);
        let done = prepared.search(&mut Wrong { right, runs: 0 }, &Alone);
        (done, prepared.roots)
    };
    let (done, roots) = run(&asked);
    let Err(Failure::Invalid(message)) = done else {
        panic!("it did not fail: {done:?}");
    };
    let expected = format!(
        "Validation: FAILED\nthe search from vertex {}: check 1: ",
        roots[1]
    );
    assert!(message.starts_with(&expected), "{message}");
    asked.validate = false;
    let (done, _) = run(&asked);
    assert_eq!(done.expect("not looked at").len(), 3);
    // The roots that follow are others, in the same order.
    (asked.roots, asked.skip) = (2, 1);
    assert_eq!(run(&asked).1, roots[1..]);
}
