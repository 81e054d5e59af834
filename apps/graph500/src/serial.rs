//! The search of one thread, without anything that is for several: what the others are compared with.

use crate::bitmap::Bitmap;
use crate::direction::{Direction, Size, Switch};
use crate::graph::Graph;
use crate::search::{NONE, Search};

/// A serial search.
#[derive(Debug)]
pub struct Serial<'g> {
    graph: &'g Graph,
    direction: Direction,
    parents: Vec<u32>,
    frontier: Vec<u32>,
    next: Vec<u32>,
    /// The frontier, while the search goes bottom-up.
    marks: Bitmap,
}

impl<'g> Serial<'g> {
    /// Of this graph.
    #[must_use]
    pub fn new(graph: &'g Graph, direction: Direction) -> Self {
        let vertices = graph.vertices();
        Self {
            graph,
            direction,
            parents: vec![NONE; vertices],
            frontier: Vec::new(),
            next: Vec::new(),
            marks: Bitmap::new(vertices),
        }
    }

    fn top_down(&mut self) {
        for &vertex in &self.frontier {
            for &target in self.graph.neighbours(vertex) {
                let parent = &mut self.parents[target as usize];
                if *parent == NONE {
                    *parent = vertex;
                    self.next.push(target);
                }
            }
        }
    }

    fn bottom_up(&mut self) {
        self.marks.clear();
        self.frontier
            .iter()
            .for_each(|&vertex| self.marks.add(vertex));
        for (vertex, parent) in (0..).zip(&mut self.parents) {
            if *parent != NONE {
                continue;
            }
            let neighbours = self.graph.neighbours(vertex).iter();
            if let Some(found) = neighbours.copied().find(|target| self.marks.has(*target)) {
                *parent = found;
                self.next.push(vertex);
            }
        }
    }
}

impl Search for Serial<'_> {
    fn clear(&mut self) {
        self.parents.fill(NONE);
    }

    fn run(&mut self, root: u32) {
        let graph = self.graph;
        let mut switch = Switch::new(self.direction, graph.vertices() as u64, graph.targets());
        self.parents[root as usize] = root;
        self.frontier.clear();
        self.frontier.push(root);
        while !self.frontier.is_empty() {
            // Only the decision needs the neighbours counted.
            let degrees = self
                .frontier
                .iter()
                .map(|vertex| graph.degree(*vertex) as u64);
            let size = Size {
                vertices: self.frontier.len() as u64,
                targets: match self.direction {
                    Direction::TopDown => 0,
                    Direction::Optimising => degrees.sum(),
                },
            };
            if switch.is_bottom_up(size) {
                self.bottom_up();
            } else {
                self.top_down();
            }
            std::mem::swap(&mut self.frontier, &mut self.next);
            self.next.clear();
        }
    }

    fn parents(&mut self) -> Vec<u32> {
        self.parents.clone()
    }
}
