//! The Kronecker graph of the Graph500 specification (version 2.0, "Generating the Edge List"), seeded.
//!
//! Each edge chooses one quadrant of the adjacency matrix for each bit of its vertices, with probabilities A, B, C
//! and D. Vertices are renumbered and edges reordered, so that neither has a locality. All randomness of an edge
//! comes from its index, and both orders are bijections that are calculated, so any number of workers makes the same
//! list.

use crate::workers::Workers;

/// An undirected edge: its two ends.
pub type Edge = [u32; 2];

/// How many edges one part of the work has.
const PART: usize = 1 << 14;

/// The initiator's probabilities, which the specification fixes; D is the rest, 0.05.
const A: f64 = 0.57;
const B: f64 = 0.19;
const C: f64 = 0.19;
/// The same, added up, as 32-bit numbers.
const BELOW: [u32; 3] = [in_32_bits(A), in_32_bits(A + B), in_32_bits(A + B + C)];

const fn in_32_bits(probability: f64) -> u32 {
    (probability * 4_294_967_296.0) as u32
}

/// The finalizer of splitmix64 (Steele, Lea, Flood 2014): a bijection that hides any pattern.
fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// A sequence of random numbers, splitmix64.
#[derive(Debug)]
struct Random(u64);

impl Random {
    fn new(seed: u64, stream: u64) -> Self {
        Self(mix(seed ^ mix(stream)))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }
}

/// A random order of the numbers below `size`, calculated instead of stored.
///
/// Each round multiplies by an odd number, adds, and folds the upper half of the bits into the lower: all three can be
/// undone, so it is a bijection of the next power of two; a number beyond `size` is mapped again until it is below.
#[derive(Debug)]
pub struct Permutation {
    size: u64,
    mask: u64,
    fold: u32,
    rounds: [[u64; 2]; 4],
}

impl Permutation {
    /// One of them; `stream` tells several of one seed apart.
    #[must_use]
    pub fn new(size: u64, seed: u64, stream: u64) -> Self {
        let mut random = Random::new(seed, stream);
        let bits = size.next_power_of_two().trailing_zeros().max(1);
        Self {
            size,
            mask: u64::MAX >> (64 - bits),
            fold: bits.div_ceil(2),
            rounds: std::array::from_fn(|_| [random.next() | 1, random.next()]),
        }
    }

    /// Where the number goes, which must be below the size.
    #[must_use]
    pub fn of(&self, mut number: u64) -> u64 {
        loop {
            for [factor, term] in self.rounds {
                number = number.wrapping_mul(factor).wrapping_add(term) & self.mask;
                number ^= number >> self.fold;
            }
            if number < self.size {
                return number;
            }
        }
    }
}

/// The streams of one seed.
pub(crate) const VERTICES: u64 = u64::MAX;
const ORDER: u64 = u64::MAX - 1;
/// For the roots of the searches.
pub(crate) const ROOTS: u64 = u64::MAX - 2;

/// A generator of edges.
#[derive(Debug)]
pub struct Kronecker {
    scale: u32,
    seed: u64,
    vertices: Permutation,
    order: Permutation,
}

impl Kronecker {
    /// A graph of 2^`scale` vertices, `scale` at most 31, and `edge_factor` times as many edges.
    #[must_use]
    pub fn new(scale: u32, edge_factor: u64, seed: u64) -> Self {
        let vertices = 1_u64 << scale;
        Self {
            scale,
            seed,
            vertices: Permutation::new(vertices, seed, VERTICES),
            order: Permutation::new(vertices * edge_factor, seed, ORDER),
        }
    }

    /// How many edges there are.
    #[must_use]
    pub fn edge_count(&self) -> usize {
        self.order.size as usize
    }

    /// The edge at this place of the list.
    #[must_use]
    pub fn edge(&self, place: usize) -> Edge {
        let mut random = Random::new(self.seed, self.order.of(place as u64));
        let (mut ends, mut left, mut bits) = ([0_u64; 2], 0, 0);
        for _ in 0..self.scale {
            if left == 0 {
                (bits, left) = (random.next(), 2);
            }
            let chance = bits as u32;
            (bits, left) = (bits >> 32, left - 1);
            let [a, ab, abc] = BELOW.map(|below| u64::from(chance >= below));
            // Quadrants in the order A, B, C, D: the row's bit is set in C and D, the column's in B and D.
            ends[0] = ends[0] << 1 | ab;
            ends[1] = ends[1] << 1 | (a ^ ab ^ abc);
        }
        ends.map(|end| self.vertices.of(end) as u32)
    }

    /// The whole list.
    pub fn edges(&self, workers: &impl Workers) -> Vec<Edge> {
        let mut edges = vec![[0, 0]; self.edge_count()];
        let mut parts: Vec<_> = edges.chunks_mut(PART).enumerate().collect();
        workers.each(&mut parts, |(part, edges)| {
            for (index, edge) in edges.iter_mut().enumerate() {
                *edge = self.edge(*part * PART + index);
            }
        });
        edges
    }
}
