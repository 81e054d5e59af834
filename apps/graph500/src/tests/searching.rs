//! Every search, on every model: valid trees, with the levels that a plain queue gives.

use std::collections::VecDeque;
use std::sync::Arc;

use gossamer::{Model, Runtime};

use super::*;
use crate::direction::Direction;
use crate::futures::Futures;
use crate::generator::Kronecker;
use crate::messages::{Messages, Over};
use crate::parallel::Parallel;
use crate::search::Search;
use crate::serial::Serial;
use crate::validate::{UNREACHED, check, levels};
use crate::workers::OnRuntime;

const DIRECTIONS: [Direction; 2] = [Direction::TopDown, Direction::Optimising];
const OVERS: [Over; 2] = [Over::Channel, Over::Pipe];
const MODELS: [Model; 5] = [
    Model::Single,
    Model::Pool { workers: 1 },
    Model::Pool { workers: 2 },
    Model::Pool { workers: 4 },
    Model::Threads,
];

struct Case {
    edges: Vec<Edge>,
    graph: Arc<Graph>,
    roots: Vec<u32>,
}

impl Case {
    fn generated(scale: u32) -> Self {
        let edges = Kronecker::new(scale, 16, 1).edges(&Alone);
        let graph = Graph::new(1 << scale, &edges, &Alone);
        let roots = graph.roots(3, 1);
        Self {
            edges,
            graph: Arc::new(graph),
            roots,
        }
    }

    /// A path, so that there are as many levels as vertices: 0 … 99, and 100 alone.
    fn path() -> Self {
        let edges: Vec<Edge> = (0..99).map(|vertex| [vertex, vertex + 1]).collect();
        let graph = Graph::new(101, &edges, &Alone);
        Self {
            edges,
            graph: Arc::new(graph),
            roots: vec![0, 50],
        }
    }

    fn expected(&self, root: u32) -> Vec<u32> {
        let mut levels = vec![UNREACHED; self.graph.vertices()];
        levels[root as usize] = 0;
        let mut queue = VecDeque::from([root]);
        while let Some(vertex) = queue.pop_front() {
            for target in self.graph.neighbours(vertex) {
                if levels[*target as usize] == UNREACHED {
                    levels[*target as usize] = levels[vertex as usize] + 1;
                    queue.push_back(*target);
                }
            }
        }
        levels
    }

    #[track_caller]
    fn run(&self, what: &str, search: &mut dyn Search) {
        for &root in &self.roots {
            search.clear();
            search.run(root);
            let parents = search.parents();
            let found = levels(&parents, root).unwrap_or_else(|fault| panic!("{what}: {fault}"));
            assert!(
                found == self.expected(root),
                "{what}: other levels from {root}"
            );
            let checked = check(&self.edges, root, &parents, &found, &Alone);
            assert_eq!(checked, Ok(()), "{what}, from {root}");
        }
    }
}

#[test]
fn serial() {
    for case in [Case::generated(10), Case::path()] {
        for direction in DIRECTIONS {
            case.run(
                &format!("{direction:?}"),
                &mut Serial::new(&case.graph, direction),
            );
        }
    }
}

#[test]
fn in_shared_memory_on_every_model() {
    for case in [Case::generated(10), Case::path()] {
        for model in MODELS {
            let runtime = Runtime::builder().model(model).build().unwrap();
            for direction in DIRECTIONS {
                let workers = OnRuntime::new(&runtime, 2);
                let mut search = Parallel::new(&case.graph, direction, &workers);
                case.run(&format!("{model}, {direction:?}"), &mut search);
            }
        }
    }
}

#[test]
fn by_messages_on_every_model() {
    for case in [Case::generated(8), Case::path()] {
        for model in MODELS {
            let runtime = Runtime::builder().model(model).build().unwrap();
            for over in OVERS {
                // Three owners do not come out even; a batch of one is another kind of message.
                for (owners, batch) in [(1, 64), (2, 1), (3, 7)] {
                    let graph = case.graph.clone();
                    let mut search = Messages::new(graph, &runtime, owners, batch, over);
                    let what = format!("{model}, {over:?}, {owners} owners, batches of {batch}");
                    case.run(&what, &mut search);
                }
            }
        }
    }
}

#[test]
fn by_futures_on_every_model() {
    for case in [Case::generated(8), Case::path()] {
        for model in MODELS {
            let runtime = Runtime::builder().model(model).build().unwrap();
            for over in OVERS {
                for batch in [5, 64] {
                    let mut search = Futures::new(case.graph.clone(), &runtime, batch, over);
                    case.run(
                        &format!("{model}, {over:?}, {batch} vertices each"),
                        &mut search,
                    );
                }
            }
        }
    }
}
