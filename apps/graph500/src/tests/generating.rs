//! The generator, and kernel 1.

use gossamer::{Model, Runtime};

use super::*;
use crate::generator::{Kronecker, Permutation, VERTICES};
use crate::workers::{OnRuntime, Workers};

#[test]
fn a_permutation_has_each_number_once() {
    for size in [1, 2, 3, 7, 64, 1_000, 1 << 12] {
        for seed in 0..3 {
            let order = Permutation::new(size, seed, 5);
            let mut all: Vec<u64> = (0..size).map(|number| order.of(number)).collect();
            assert!(
                size < 7 || all != (0..size).collect::<Vec<_>>(),
                "size {size}, seed {seed}"
            );
            all.sort_unstable();
            assert_eq!(
                all,
                (0..size).collect::<Vec<_>>(),
                "size {size}, seed {seed}"
            );
        }
    }
}

#[test]
fn any_number_of_workers_makes_the_same_list() {
    // More than one part, and a number of edges that is no power of two.
    let generator = Kronecker::new(12, 11, 9);
    let alone = generator.edges(&Alone);
    assert_eq!(alone.len(), 11 << 12);
    for workers in 1..=3 {
        let runtime = Runtime::builder()
            .model(Model::Pool { workers })
            .build()
            .unwrap();
        let list = generator.edges(&OnRuntime::new(&runtime, workers));
        assert!(list == alone, "{workers} workers made another list");
    }
    assert!(
        Kronecker::new(12, 11, 10).edges(&Alone) != alone,
        "another seed, the same list"
    );
}

#[test]
fn each_bit_chooses_its_quadrant_with_the_published_probability() {
    let (scale, seed) = (10, 4);
    let renumbered = Permutation::new(1 << scale, seed, VERTICES);
    let mut before = vec![0_u64; 1 << scale];
    (0..1 << scale).for_each(|vertex| before[renumbered.of(vertex) as usize] = vertex);
    let edges = Kronecker::new(scale, 64, seed).edges(&Alone);
    for bit in 0..scale {
        let mut quadrants = [0; 4];
        for [row, column] in &edges {
            let [row, column] = [row, column].map(|end| before[*end as usize] >> bit & 1);
            quadrants[(row << 1 | column) as usize] += 1;
        }
        for (count, expected) in quadrants.into_iter().zip([0.57, 0.19, 0.19, 0.05]) {
            let share = f64::from(count) / edges.len() as f64;
            assert!(
                (share - expected).abs() < 0.01,
                "bit {bit}: {share}, expected {expected}"
            );
        }
    }
}

#[test]
fn the_adjacency_lists_have_both_ends_of_each_edge_and_no_loop() {
    let runtime = Runtime::builder()
        .model(Model::Pool { workers: 2 })
        .build()
        .unwrap();
    let edges = Kronecker::new(9, 200, 1).edges(&Alone);
    let mut expected = vec![Vec::new(); 1 << 9];
    for [one, other] in edges.iter().filter(|[one, other]| one != other) {
        expected[*one as usize].push(*other);
        expected[*other as usize].push(*one);
    }
    fn lists(edges: &[Edge], workers: &impl Workers) -> Vec<Vec<u32>> {
        let graph = Graph::new(1 << 9, edges, workers);
        (0..1 << 9)
            .map(|vertex| {
                let mut list = graph.neighbours(vertex).to_vec();
                list.sort_unstable();
                list
            })
            .collect()
    }
    expected.iter_mut().for_each(|list| list.sort_unstable());
    assert!(lists(&edges, &Alone) == expected);
    assert!(lists(&edges, &OnRuntime::new(&runtime, 2)) == expected);
}

#[test]
fn edges_are_counted_as_the_specification_does() {
    let graph = small();
    // The double edge twice, the loop once.
    let first: &[u32] = &[0, 1, 2, 3];
    assert_eq!(graph.edges_reached(|vertex| first.contains(&vertex)), 6);
    assert_eq!(graph.edges_reached(|vertex| vertex == 4 || vertex == 5), 1);
    assert_eq!(graph.degree(6), 0);
}

#[test]
fn roots_are_different_vertices_with_neighbours() {
    let mut all = small().roots(64, 3);
    all.sort_unstable();
    assert_eq!(all, [0, 1, 2, 3, 4, 5]);
    let graph = Graph::new(1 << 10, &Kronecker::new(10, 16, 1).edges(&Alone), &Alone);
    let mut roots = graph.roots(64, 1);
    assert!(roots.iter().all(|root| graph.degree(*root) > 0));
    assert_ne!(roots, graph.roots(64, 2));
    roots.sort_unstable();
    roots.dedup();
    assert_eq!(roots.len(), 64);
}
