//! The search in shared memory, on whatever [`Workers`] there are.
//!
//! Top-down, several vertices may reach the same neighbour at the same time: the one whose compare-and-exchange of the
//! parent succeeds has it in its part of the next frontier. Bottom-up, each vertex looks for itself, so nothing is
//! contended. Parts of a level return their own piece of the next frontier, and nobody puts these together: the next
//! level cuts each of them up.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::bitmap::{self, Bitmap, WORD};
use crate::direction::{Direction, Size, Switch};
use crate::graph::Graph;
use crate::search::{NONE, Search};
use crate::workers::Workers;

/// How many parts a worker has of a level, so that it comes out even though vertices differ.
const PARTS_EACH: usize = 16;
/// The least and the most vertices of a frontier in one part.
const PART_MIN: usize = 64;
const PART_MAX: usize = 4096;
/// How many words of a bitmap one part has at least.
const WORDS_MIN: usize = 16;

/// A parallel search.
#[derive(Debug)]
pub struct Parallel<'g, W> {
    graph: &'g Graph,
    workers: &'g W,
    direction: Direction,
    parents: Vec<AtomicU32>,
    /// The frontier, while the search goes bottom-up, and the next one.
    marks: [Bitmap; 2],
}

/// A frontier, in the pieces in which it was found.
type Pieces = Vec<Vec<u32>>;

impl<'g, W: Workers> Parallel<'g, W> {
    /// Of this graph.
    #[must_use]
    pub fn new(graph: &'g Graph, direction: Direction, workers: &'g W) -> Self {
        let vertices = graph.vertices();
        Self {
            graph,
            workers,
            direction,
            parents: (0..vertices).map(|_| AtomicU32::new(NONE)).collect(),
            marks: [Bitmap::new(vertices), Bitmap::new(vertices)],
        }
    }

    fn parts<'a>(&self, pieces: &'a Pieces) -> Vec<&'a [u32]> {
        let vertices: usize = pieces.iter().map(Vec::len).sum();
        let size = vertices / (self.workers.count() * PARTS_EACH);
        let size = size.clamp(PART_MIN, PART_MAX);
        pieces.iter().flat_map(|piece| piece.chunks(size)).collect()
    }

    fn words_each(&self) -> usize {
        let words = self.marks[0].words().len();
        (words / (self.workers.count() * PARTS_EACH)).max(WORDS_MIN)
    }

    fn top_down(&self, frontier: &Pieces) -> (Pieces, Size) {
        let expand = |part: &mut &[u32]| self.expand(part);
        let found = self.workers.each(&mut self.parts(frontier), expand);
        let size = found.iter().map(|(next, targets)| Size {
            vertices: next.len() as u64,
            targets: *targets,
        });
        let size = size.sum();
        (found.into_iter().map(|(next, _)| next).collect(), size)
    }

    /// Those that these vertices reach first, and how many neighbours they have.
    #[inline(never)] // no library's loop around it changes its code
    fn expand(&self, vertices: &[u32]) -> (Vec<u32>, u64) {
        let (graph, parents) = (self.graph, &self.parents[..]);
        // Room from the start, as threads that grow their memory may wait for each other.
        let neighbours: usize = vertices.iter().map(|vertex| graph.degree(*vertex)).sum();
        let mut next = Vec::with_capacity(neighbours.min(PART_MAX));
        for &vertex in vertices {
            let neighbours = graph.neighbours(vertex).iter();
            next.extend(neighbours.filter(|target| claim(&parents[**target as usize], vertex)));
        }
        // Only the decision needs them counted.
        let targets = match self.direction {
            Direction::TopDown => 0,
            Direction::Optimising => next.iter().map(|target| graph.degree(*target) as u64).sum(),
        };
        (next, targets)
    }

    /// From the first bitmap to the second.
    fn bottom_up(&self) -> Size {
        let each = self.words_each();
        let mut parts: Vec<_> = self.marks[1].words().chunks(each).enumerate().collect();
        let sizes = self.workers.each(&mut parts, |(index, words)| {
            let (first, mut size) = (*index * each * WORD, Size::default());
            for (word, vertices) in words.iter().zip((first..).step_by(WORD)) {
                let (bits, targets) = self.look_up(vertices);
                // Relaxed: `each` has ended before anybody reads.
                word.store(bits, Ordering::Relaxed);
                size.vertices += u64::from(bits.count_ones());
                size.targets += targets;
            }
            size
        });
        sizes.into_iter().sum()
    }

    /// Has the vertices of one word look for a parent: those that found one, and how many neighbours they have.
    #[inline(never)] // no library's loop around it changes its code
    fn look_up(&self, first: usize) -> (u64, u64) {
        let (graph, frontier) = (self.graph, &self.marks[0]);
        let (mut bits, mut targets) = (0, 0);
        let end = self.parents.len().min(first + WORD);
        for (bit, parent) in self.parents[first..end].iter().enumerate() {
            // Relaxed: of this vertex, nobody else writes in this level.
            if parent.load(Ordering::Relaxed) != NONE {
                continue;
            }
            let neighbours = graph.neighbours((first + bit) as u32);
            if let Some(found) = neighbours.iter().find(|target| frontier.has(**target)) {
                parent.store(*found, Ordering::Relaxed);
                bits |= 1 << bit;
                targets += neighbours.len() as u64;
            }
        }
        (bits, targets)
    }

    fn mark(&mut self, frontier: &Pieces) {
        self.marks[0].clear();
        let marks = &self.marks[0];
        self.workers.each(&mut self.parts(frontier), |part| {
            part.iter().for_each(|vertex| marks.add(*vertex));
        });
    }

    fn marked(&self) -> Pieces {
        let each = self.words_each();
        let mut parts: Vec<_> = self.marks[0].words().chunks(each).enumerate().collect();
        self.workers
            .each(&mut parts, |(index, words): &mut (usize, &[AtomicU64])| {
                // Relaxed: `each` of the level has ended.
                let marked = words
                    .iter()
                    .map(|word| word.load(Ordering::Relaxed).count_ones());
                let mut vertices = Vec::with_capacity(marked.sum::<u32>() as usize);
                vertices.extend(bitmap::vertices(words, *index * each));
                vertices
            })
    }
}

/// Whether the vertex is the one that reached this one first.
pub(crate) fn claim(parent: &AtomicU32, vertex: u32) -> bool {
    // Relaxed: only the value counts, and `each` has ended before anybody else reads. The load spares the exclusive
    // access to what has long been reached, as nearly all are.
    parent.load(Ordering::Relaxed) == NONE
        && parent
            .compare_exchange(NONE, vertex, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
}

impl<W: Workers> Search for Parallel<'_, W> {
    fn clear(&mut self) {
        self.parents
            .iter_mut()
            .for_each(|parent| *parent.get_mut() = NONE);
    }

    fn run(&mut self, root: u32) {
        let graph = self.graph;
        let mut switch = Switch::new(self.direction, graph.vertices() as u64, graph.targets());
        *self.parents[root as usize].get_mut() = root;
        let mut frontier = vec![vec![root]];
        let mut size = Size {
            vertices: 1,
            targets: graph.degree(root) as u64,
        };
        let mut was_bottom_up = false;
        while size.vertices > 0 {
            let bottom_up = switch.is_bottom_up(size);
            match (was_bottom_up, bottom_up) {
                (false, true) => self.mark(&frontier),
                (true, false) => frontier = self.marked(),
                _ => {}
            }
            if bottom_up {
                size = self.bottom_up();
                self.marks.swap(0, 1);
            } else {
                (frontier, size) = self.top_down(&frontier);
            }
            was_bottom_up = bottom_up;
        }
    }

    fn parents(&mut self) -> Vec<u32> {
        self.parents
            .iter_mut()
            .map(|parent| *parent.get_mut())
            .collect()
    }
}
