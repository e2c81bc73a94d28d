//! Immediate dominators: the last node (other than the node itself) that every path from the root to a node passes.
//!
//! Semi-NCA: Lengauer and Tarjan's semidominators with path compression, and then a walk up the tree built so far
//! ("Linear-Time Algorithms for Dominators and Related Problems", L. Georgiadis, 2005). Its bound is worse than theirs
//! (quadratic on adversarial graphs), but it needs two words a node less and is faster on heaps. Rejected: the
//! iterative algorithm of Cooper, Harvey and Kennedy, because in long doubly linked lists it walks up the whole list
//! again for each node.
//!
//! No function recurses, because lists are as deep as they are long. Left out: post-dominators, changes of the graph.

/// A graph with a root, node 0.
pub trait FlowGraph {
    fn node_count(&self) -> usize;
    fn successor(&self, node: u32, index: u32) -> Successor;
}

/// An entry of a node's list of successors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Successor {
    Node(u32),
    /// No successor, but the list goes on.
    Nothing,
    End,
}

/// The node cannot be reached.
pub const UNREACHED: u32 = u32::MAX;

/// The dominator tree. Its nodes are numbered in the order of a depth-first search: a dominator has a smaller number
/// than the nodes that it dominates.
pub struct DominatorTree {
    /// By number: the node.
    pub nodes: Vec<u32>,
    /// By number: the number of the immediate dominator; of the root its own.
    pub idom: Vec<u32>,
}

/// The depth-first search.
struct Search {
    nodes: Vec<u32>,
    /// By node: its number, or `UNREACHED`.
    number: Vec<u32>,
    /// By number.
    parent: Vec<u32>,
}

fn search(graph: &impl FlowGraph) -> Search {
    let mut number = vec![UNREACHED; graph.node_count()];
    let (mut nodes, mut parent) = (vec![0], vec![0]);
    number[0] = 0;
    // (node, next place of its list)
    let mut stack = vec![(0_u32, 0_u32)];
    while let Some((node, place)) = stack.last_mut() {
        let successor = graph.successor(*node, *place);
        *place += 1;
        match successor {
            Successor::Node(next) if number[next as usize] == UNREACHED => {
                number[next as usize] = nodes.len() as u32;
                parent.push(number[*node as usize]);
                nodes.push(next);
                stack.push((next, 0));
            }
            Successor::Node(_) | Successor::Nothing => {}
            Successor::End => _ = stack.pop(),
        }
    }
    Search { nodes, number, parent }
}

/// Calls `visit` with the numbers of both ends of each edge.
fn for_each_edge(graph: &impl FlowGraph, search: &Search, mut visit: impl FnMut(u32, u32)) {
    for (from, &node) in search.nodes.iter().enumerate() {
        let mut place = 0;
        loop {
            match graph.successor(node, place) {
                Successor::Node(to) => visit(from as u32, search.number[to as usize]),
                Successor::Nothing => {}
                Successor::End => break,
            }
            place += 1;
        }
    }
}

/// By number: numbers of predecessors, in one list.
fn predecessors(graph: &impl FlowGraph, search: &Search) -> (Vec<u64>, Vec<u32>) {
    let mut end = vec![0_u64; search.nodes.len() + 1];
    for_each_edge(graph, search, |_, to| end[to as usize + 1] += 1);
    for index in 1..end.len() {
        end[index] += end[index - 1];
    }
    let mut list = vec![0; end[search.nodes.len()] as usize];
    // Filled from the front of each part; then `end[n]` is where the part of n + 1 began before.
    let mut next = end.clone();
    for_each_edge(graph, search, |from, to| {
        list[next[to as usize] as usize] = from;
        next[to as usize] += 1;
    });
    (end, list)
}

/// The forest of the nodes visited so far, with compressed paths.
struct Forest {
    /// Parent, or an ancestor.
    ancestor: Vec<u32>,
    /// The node with the least semidominator on the path to it.
    label: Vec<u32>,
    semi: Vec<u32>,
    path: Vec<u32>,
}

impl Forest {
    /// The node with the least semidominator on the path from `node` up to its tree's root, which is left out; nodes
    /// from `linked` on are in trees.
    #[inline]
    fn evaluate(&mut self, node: u32, linked: u32) -> u32 {
        if self.ancestor[node as usize] < linked {
            return self.label[node as usize];
        }
        let mut at = node;
        while self.ancestor[at as usize] >= linked {
            self.path.push(at);
            at = self.ancestor[at as usize];
        }
        let root = self.ancestor[at as usize];
        let mut best = self.label[at as usize];
        while let Some(below) = self.path.pop() {
            self.ancestor[below as usize] = root;
            let own = self.label[below as usize];
            if self.semi[best as usize] < self.semi[own as usize] {
                self.label[below as usize] = best;
            } else {
                best = own;
            }
        }
        best
    }
}

/// The dominators of all nodes that can be reached.
pub fn dominators(graph: &impl FlowGraph) -> DominatorTree {
    let search = search(graph);
    let (starts, list) = predecessors(graph, &search);
    let Search { nodes, parent, number } = search;
    drop(number);
    let count = nodes.len() as u32;
    let mut idom = parent.clone();
    let numbers: Vec<u32> = (0..count).collect();
    let mut forest = Forest { ancestor: parent, label: numbers.clone(), semi: numbers, path: Vec::new() };
    for node in (1..count).rev() {
        let mut semi = idom[node as usize];
        for &from in &list[starts[node as usize] as usize..starts[node as usize + 1] as usize] {
            let best = forest.evaluate(from, node + 1);
            semi = semi.min(forest.semi[best as usize]);
        }
        forest.semi[node as usize] = semi;
    }
    for node in 1..count {
        let mut candidate = idom[node as usize];
        while candidate > forest.semi[node as usize] {
            candidate = idom[candidate as usize];
        }
        idom[node as usize] = candidate;
    }
    DominatorTree { nodes, idom }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    struct Lists(Vec<Vec<u32>>);

    impl FlowGraph for Lists {
        fn node_count(&self) -> usize {
            self.0.len()
        }

        fn successor(&self, node: u32, index: u32) -> Successor {
            self.0[node as usize].get(index as usize).map_or(Successor::End, |&to| Successor::Node(to))
        }
    }

    /// The nodes that can be reached without passing `removed`.
    fn reached_without(graph: &Lists, removed: Option<u32>) -> Vec<bool> {
        let mut reached = vec![false; graph.0.len()];
        let mut stack: Vec<u32> = if removed == Some(0) { Vec::new() } else { vec![0] };
        while let Some(node) = stack.pop() {
            if !std::mem::replace(&mut reached[node as usize], true) {
                stack.extend(graph.0[node as usize].iter().filter(|&&to| Some(to) != removed));
            }
        }
        reached
    }

    /// By definition: the dominators of a node are those without which it cannot be reached; the immediate one is that
    /// which all others dominate.
    fn naive(graph: &Lists) -> Vec<u32> {
        let count = graph.0.len();
        let all = reached_without(graph, None);
        let without: Vec<Vec<bool>> = (0..count as u32).map(|removed| reached_without(graph, Some(removed))).collect();
        let dominates = |a: usize, b: usize| a != b && all[a] && !without[a][b];
        let immediate = |node: usize| {
            let above: Vec<usize> = (0..count).filter(|&a| dominates(a, node)).collect();
            above.iter().copied().find(|&a| above.iter().all(|&other| other == a || dominates(other, a)))
        };
        (0..count)
            .map(|node| match immediate(node) {
                Some(found) if all[node] => found as u32,
                _ if node == 0 => 0,
                _ => UNREACHED,
            })
            .collect()
    }

    fn check(lists: Vec<Vec<u32>>) {
        let graph = Lists(lists);
        let found = dominators(&graph);
        let mut by_node = vec![UNREACHED; graph.0.len()];
        for (number, &node) in found.nodes.iter().enumerate() {
            assert!(number == 0 || (found.idom[number] as usize) < number);
            by_node[node as usize] = found.nodes[found.idom[number] as usize];
        }
        assert_eq!(by_node, naive(&graph), "{:?}", graph.0);
    }

    #[test]
    fn of_known_graphs() {
        check(vec![vec![]]);
        check(vec![vec![1, 2], vec![3], vec![3], vec![4], vec![3, 0], vec![4]]);
        // Lengauer and Tarjan's example.
        check(vec![
            vec![1, 2, 3],
            vec![4],
            vec![1, 4, 5],
            vec![6, 7],
            vec![12],
            vec![8],
            vec![9],
            vec![9, 10],
            vec![5, 11],
            vec![11],
            vec![9],
            vec![9, 0],
            vec![8],
        ]);
    }

    #[test]
    fn a_list_in_both_directions_does_not_overflow_the_stack() {
        let count = 1_000_000;
        let mut lists: Vec<Vec<u32>> = (0..count).map(|i| vec![i + 1, i.max(2) - 1]).collect();
        lists[0] = vec![1, count];
        lists.push(vec![count - 1]);
        let found = dominators(&Lists(lists));
        assert!(found.idom.iter().all(|&dominator| dominator == 0));
    }

    proptest! {
        #[test]
        fn are_those_of_the_definition(
            lists in (1_u32..24).prop_flat_map(|n| {
                prop::collection::vec(prop::collection::vec(0..n, 0..4), n as usize..=n as usize)
            })
        ) {
            check(lists);
        }
    }
}
