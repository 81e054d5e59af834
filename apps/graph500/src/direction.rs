//! Which way a search goes at each level: Beamer, Asanović, Patterson, *Direction-Optimizing Breadth-First Search*,
//! 2012.
//!
//! Top-down, the vertices of the frontier look at all their neighbours. Bottom-up, the vertices that are not reached
//! yet look for a neighbour in the frontier, and stop at the first: cheaper while the frontier is a large part of the
//! graph.

/// How to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Direction {
    /// Top-down at every level.
    TopDown,
    /// Bottom-up while the frontier is large.
    Optimising,
}

/// Bottom-up begins when the frontier has more than this part of the edges that nobody has looked at; the paper's
/// value.
pub const ALPHA: u64 = 14;
/// It ends when the frontier has fewer than this part of the vertices; the paper's value.
pub const BETA: u64 = 24;

/// The vertices of a frontier, and the neighbours that they have.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Size {
    pub(crate) vertices: u64,
    pub(crate) targets: u64,
}

impl std::iter::Sum for Size {
    fn sum<I: Iterator<Item = Self>>(sizes: I) -> Self {
        sizes.fold(Self::default(), |sum, size| Self {
            vertices: sum.vertices + size.vertices,
            targets: sum.targets + size.targets,
        })
    }
}

/// The decision of one search, level by level.
#[derive(Debug)]
pub(crate) struct Switch {
    direction: Direction,
    vertices: u64,
    /// Ends of edges that no frontier has had yet.
    unexplored: u64,
    before: Size,
    bottom_up: bool,
}

impl Switch {
    pub(crate) fn new(direction: Direction, vertices: u64, targets: u64) -> Self {
        Self {
            direction,
            vertices,
            unexplored: targets,
            before: Size::default(),
            bottom_up: false,
        }
    }

    /// Whether the level with this frontier goes bottom-up.
    pub(crate) fn is_bottom_up(&mut self, frontier: Size) -> bool {
        self.unexplored = self.unexplored.saturating_sub(frontier.targets);
        let grows = frontier.vertices > self.before.vertices;
        self.before = frontier;
        if self.direction == Direction::Optimising {
            self.bottom_up = if self.bottom_up {
                grows || frontier.vertices >= self.vertices / BETA
            } else {
                grows && frontier.targets > self.unexplored / ALPHA
            };
        }
        self.bottom_up
    }
}
