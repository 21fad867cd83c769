//! The control flow of graphs that chance made, against the definitions.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::{Block, Edge, Graph, Reason};

/// A graph of these edges. A block without one, or that is said to, leaves.
fn graph(edges: &[Vec<usize>], leaving: &[bool]) -> Graph {
    let blocks = edges.iter().zip(leaving).enumerate().map(|(index, (edges, &leaves))| {
        let successors = edges.iter().map(|&to| Edge { to, reason: Reason::Branch, rank: 0 }).collect();
        let leaves = leaves || edges.is_empty();
        Block { instructions: index..index + 1, successors, predecessors: Vec::new(), leaves, fails: false }
    });
    Graph::of(blocks.collect())
}

fn graphs() -> impl Strategy<Value = Graph> {
    (1_usize..14)
        .prop_flat_map(|count| {
            let edges = prop::collection::vec(prop::collection::vec(0..count, 0..3), count);
            (edges, prop::collection::vec(prop::bool::weighted(0.1), count))
        })
        .prop_map(|(edges, leaving)| graph(&edges, &leaving))
}

/// Graphs as programs with loops, `break`, `continue` and `return` have them: an edge goes forward, or back to the head
/// of a loop around it.
fn structured() -> impl Strategy<Value = Graph> {
    (2_usize..20)
        .prop_flat_map(|count| {
            let edges = prop::collection::vec(
                prop::collection::vec((any::<prop::sample::Index>(), 0..4), 1..3),
                count,
            );
            let loops = prop::collection::vec((0..count, 0..count), 0..4);
            (Just(count), edges, loops)
        })
        .prop_map(|(count, edges, loops)| {
            // Nested or apart.
            let mut kept: Vec<(usize, usize)> = Vec::new();
            for (a, b) in loops {
                let (a, b) = (a.min(b), a.max(b));
                let crosses = |&(c, d): &(usize, usize)| {
                    (a <= c && c <= b && b < d) || (c < a && a <= d && d < b) || a == c
                };
                if !kept.iter().any(crosses) {
                    kept.push((a, b));
                }
            }
            let edges: Vec<Vec<usize>> = (0..count)
                .map(|from| {
                    let around: Vec<_> = kept.iter().filter(|&&(a, b)| a <= from && from <= b).collect();
                    let pick = |(index, way): &(prop::sample::Index, i32)| {
                        if *way == 0 && !around.is_empty() {
                            return Some(around[index.index(around.len())].0);
                        }
                        let next = from + 1 + index.index(count) % 4;
                        // Into a loop by its head alone.
                        let head = kept
                            .iter()
                            .filter(|&&(a, b)| from < a && a < next && next <= b)
                            .map(|&(a, _)| a)
                            .min();
                        Some(head.unwrap_or(next)).filter(|&next| next < count)
                    };
                    edges[from].iter().filter_map(pick).collect()
                })
                .collect();
            graph(&edges, &vec![false; count])
        })
}

/// The blocks that ways of at least one edge lead to, without going through `without`.
fn beyond(graph: &Graph, from: usize, without: Option<usize>) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut open = vec![from];
    while let Some(block) = open.pop() {
        let next = graph.blocks[block].successors.iter().map(|edge| edge.to);
        open.extend(next.filter(|&next| Some(next) != without && found.insert(next)));
    }
    found
}

fn reached(graph: &Graph) -> BTreeSet<usize> {
    let mut reached = beyond(graph, 0, None);
    reached.insert(0);
    reached
}

/// Can the function end, or run for ever, from here without going through `without`? `None` if it never ends.
fn ends(graph: &Graph, from: usize, without: Option<usize>) -> bool {
    let leaves = |block: usize| graph.blocks[block].leaves;
    leaves(from) || beyond(graph, from, without).into_iter().any(leaves)
}

/// The branches whose lanes have to meet, and whether they do.
fn check_meetings(graph: &Graph) -> Result<usize, TestCaseError> {
    let mut checked = 0;
    for branch in reached(graph).into_iter().filter(|&block| graph.blocks[block].is_branch()) {
        let Some(meeting) = graph.post_dominator(branch) else { continue };
        let region = beyond(graph, branch, Some(meeting));
        let around: Vec<_> = graph.loops().iter().filter(|nested| nested.blocks.contains(&meeting)).collect();
        let another_trip =
            around.iter().any(|nested| nested.head != meeting && region.contains(&nested.head));
        let irreducible = graph.loops().iter().filter(|nested| nested.irreducible);
        let mut touched = region.iter().chain([&branch, &meeting]);
        if another_trip
            || irreducible.into_iter().any(|nested| touched.any(|block| nested.blocks.contains(block)))
        {
            continue;
        }
        let edges = region.iter().chain([&branch]).flat_map(|&block| &graph.blocks[block].successors);
        let (arrivals, ways): (Vec<&Edge>, Vec<&Edge>) = edges.partition(|edge| edge.to == meeting);
        for edge in &arrivals {
            prop_assert_eq!(edge.rank, arrivals[0].rank, "{} -> {}", branch, meeting);
        }
        for edge in ways {
            prop_assert!(edge.rank < arrivals[0].rank, "{} -> {}: {:?}", branch, meeting, edge);
        }
        checked += 1;
    }
    Ok(checked)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_dominator_is_on_every_way(graph in graphs()) {
        let reached = reached(&graph);
        for &block in &reached {
            for &other in &reached {
                let around = other != 0 && (block == 0 || beyond(&graph, 0, Some(other)).contains(&block));
                prop_assert_eq!(graph.dominates(other, block), other == block || !around);
            }
        }
    }

    #[test]
    fn a_post_dominator_is_on_every_way_to_the_end(graph in graphs()) {
        let reached = reached(&graph);
        for &block in reached.iter().filter(|&&block| beyond(&graph, block, None).iter().all(|&next| ends(&graph, next, None)) && ends(&graph, block, None)) {
            for &other in &reached {
                let around = !ends(&graph, block, Some(other));
                prop_assert_eq!(graph.post_dominates(other, block), other == block || around);
            }
        }
    }

    #[test]
    fn a_branch_controls_what_one_way_makes_certain_and_another_does_not(graph in graphs()) {
        let reached = reached(&graph);
        for &block in &reached {
            let expected: Vec<_> = reached.iter().copied().filter(|&branch| {
                let ways = &graph.blocks[branch].successors;
                graph.blocks[branch].is_branch()
                    && ways.iter().any(|edge| graph.post_dominates(block, edge.to))
                    && (block == branch || !graph.post_dominates(block, branch))
            }).collect();
            prop_assert_eq!(graph.controls(block), expected);
        }
    }

    #[test]
    fn ranks_follow_edges_and_loops_are_contiguous(graph in graphs()) {
        let reached = reached(&graph);
        let ranks: BTreeSet<_> = (0..graph.blocks.len()).map(|block| graph.rank(block)).collect();
        prop_assert_eq!(ranks.len(), graph.blocks.len());
        for &block in &reached {
            for edge in &graph.blocks[block].successors {
                prop_assert!(edge.rank > graph.rank(block));
                let leads_back = graph.loops().iter().any(|nested| nested.head == edge.to && nested.blocks.contains(&block));
                prop_assert_eq!(edge.rank != graph.rank(edge.to), leads_back);
            }
        }
        for nested in graph.loops() {
            let ranks = nested.blocks.iter().map(|&block| graph.rank(block));
            let (first, last) = (ranks.clone().min(), ranks.max());
            prop_assert_eq!(first, Some(graph.rank(nested.head)));
            for block in (0..graph.blocks.len()).filter(|block| !nested.blocks.contains(block)) {
                prop_assert!(Some(graph.rank(block)) < first || Some(graph.rank(block)) > last);
            }
            for &block in &nested.blocks {
                prop_assert!(nested.blocks.len() == 1 || nested.blocks.iter().all(|&other| beyond(&graph, block, None).contains(&other)));
            }
        }
    }

    #[test]
    fn lanes_meet_at_the_post_dominator(graph in graphs()) {
        check_meetings(&graph)?;
    }

    #[test]
    fn lanes_of_structured_programs_meet_at_the_post_dominator(graph in structured()) {
        prop_assert!(graph.loops().iter().all(|nested| !nested.irreducible));
        check_meetings(&graph)?;
    }
}

#[test]
fn loops_are_nested() {
    // 0 -> 1 { 2 { 3 } 4 } 5
    let graph = graph(&[vec![1], vec![2, 5], vec![3], vec![2, 4], vec![1], vec![]], &[false; 6]);
    let loops: Vec<_> =
        graph.loops().iter().map(|nested| (nested.head, &*nested.blocks, nested.parent)).collect();
    assert_eq!(loops, [(1, &[1, 2, 3, 4][..], None), (2, &[2, 3], Some(0))]);
    assert_eq!(
        (0..6).map(|block| graph.loop_of(block)).collect::<Vec<_>>(),
        [None, Some(0), Some(1), Some(1), Some(0), None]
    );
    assert_eq!((0..6).map(|block| graph.rank(block)).collect::<Vec<_>>(), [0, 1, 2, 3, 5, 7]);
}

#[test]
fn an_endless_loop_ends_at_its_head() {
    let graph = graph(&[vec![1, 4], vec![2, 3], vec![1], vec![1], vec![]], &[false; 5]);
    assert_eq!(graph.post_dominator(2), Some(1));
    assert_eq!(graph.post_dominator(1), None);
    // The way out that is not in the text counts too.
    assert_eq!(graph.controls(1), [0, 1]);
    assert_eq!(graph.all_controls(2), [0, 1]);
}

#[test]
fn what_fails_does_not_keep_the_others_from_meeting() {
    // 0 branches to 1, which fails, and to 2; both meet nowhere, and all that go on come to 2.
    let block = |index: usize, to: &[usize], fails: bool| Block {
        instructions: index..index + 1,
        successors: to.iter().map(|&to| Edge { to, reason: Reason::Branch, rank: 0 }).collect(),
        predecessors: Vec::new(),
        leaves: to.is_empty(),
        fails,
    };
    let graph = Graph::of(vec![block(0, &[1, 2], false), block(1, &[], true), block(2, &[], false)]);
    assert_eq!(graph.post_dominator(0), Some(2));
    let always = Graph::of(vec![block(0, &[1], false), block(1, &[], true)]);
    assert_eq!(always.post_dominator(0), Some(1));
}
