//! Retained sizes of objects, types and roots: how many bytes each keeps alive.
//!
//! An object's retained bytes are those that would be freed with it: its own and those of all objects that it
//! dominates. A type's retained bytes are those that would be freed with all its objects, so an object that another one
//! of its type dominates counts once. Left out: why an object lives (`paths`).

use super::graph::HeapGraph;
use saki_base::dominators::{DominatorTree, dominators};

/// One type's objects.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TypeRow {
    pub count: u64,
    pub own_bytes: u64,
    pub retained_bytes: u64,
}

/// See the module header.
pub struct Analysis {
    /// By type.
    pub types: Vec<TypeRow>,
    /// By source of roots: the bytes that would be freed without these roots.
    pub sources: Vec<u64>,
    /// (object, retained bytes), the largest first: of objects that no other one keeps alone.
    pub largest: Vec<(u32, u64)>,
    pub reached_objects: u64,
    pub reached_bytes: u64,
}

/// Objects in `Analysis::largest`.
const MAX_LARGEST: usize = 50;

impl Analysis {
    /// Computes dominators, and from them what each object and each type keeps alive.
    pub fn of(graph: &HeapGraph) -> Analysis {
        let tree = dominators(graph);
        let first_object = graph.first_object_node();
        let own =
            |number: usize| tree.nodes[number].checked_sub(first_object).map_or(0, |object| graph.size_bytes(object));
        let mut retained: Vec<u64> = (0..tree.nodes.len()).map(own).collect();
        for number in (1..tree.nodes.len()).rev() {
            retained[tree.idom[number] as usize] += retained[number];
        }
        let mut sources = vec![0; graph.sources.len()];
        let mut largest = Vec::new();
        for (number, &node) in tree.nodes.iter().enumerate().skip(1) {
            match node.checked_sub(first_object) {
                None => sources[node as usize - 1] = retained[number],
                Some(object) => {
                    let above = tree.nodes[tree.idom[number] as usize];
                    if above < first_object {
                        largest.push((object, retained[number]));
                    }
                }
            }
        }
        largest.sort_by_key(|&(object, bytes)| (std::cmp::Reverse(bytes), object));
        largest.truncate(MAX_LARGEST);
        let types = rows(graph, &tree, &retained);
        let reached_objects = types.iter().map(|row| row.count).sum();
        Analysis { types, sources, largest, reached_objects, reached_bytes: retained[0] }
    }

    /// Types with objects, those that retain most first.
    pub fn by_retained(&self) -> Vec<u32> {
        let mut order: Vec<u32> =
            (0..self.types.len() as u32).filter(|&ty| self.types[ty as usize].count > 0).collect();
        let key = |ty: u32| {
            let row = &self.types[ty as usize];
            (row.retained_bytes, row.own_bytes)
        };
        order.sort_by_key(|&ty| (std::cmp::Reverse(key(ty)), ty));
        order
    }
}

/// By number of the tree: where its children begin in the second list.
fn children(tree: &DominatorTree) -> (Vec<u32>, Vec<u32>) {
    let count = tree.nodes.len();
    let mut start = vec![0_u32; count + 1];
    tree.idom.iter().skip(1).for_each(|&above| start[above as usize + 1] += 1);
    for index in 1..=count {
        start[index] += start[index - 1];
    }
    let (mut next, mut list) = (start.clone(), vec![0; count - 1]);
    for (number, &above) in tree.idom.iter().enumerate().skip(1) {
        list[next[above as usize] as usize] = number as u32;
        next[above as usize] += 1;
    }
    (start, list)
}

fn rows(graph: &HeapGraph, tree: &DominatorTree, retained: &[u64]) -> Vec<TypeRow> {
    let mut rows = vec![TypeRow::default(); graph.types.len()];
    // Objects of each type above the place where the walk is.
    let mut open = vec![0_u32; graph.types.len()];
    let (start, list) = children(tree);
    let first_object = graph.first_object_node();
    let type_at = |number: u32| {
        let object = tree.nodes[number as usize].checked_sub(first_object)?;
        Some((object, graph.type_of(object) as usize))
    };
    // (number, next child)
    let mut stack = vec![(0_u32, start[0])];
    while let Some((number, next)) = stack.last_mut() {
        if *next < start[*number as usize + 1] {
            let child = list[*next as usize];
            *next += 1;
            if let Some((object, ty)) = type_at(child) {
                let row = &mut rows[ty];
                row.count += 1;
                row.own_bytes += graph.size_bytes(object);
                if open[ty] == 0 {
                    row.retained_bytes += retained[child as usize];
                }
                open[ty] += 1;
            }
            stack.push((child, start[child as usize]));
        } else {
            if let Some((_, ty)) = type_at(*number) {
                open[ty] -= 1;
            }
            stack.pop();
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::super::builder::tests::graph;
    use super::*;

    /// By type number of `graph`.
    fn row(count: u64, own_bytes: u64, retained_bytes: u64) -> TypeRow {
        TypeRow { count, own_bytes, retained_bytes }
    }

    #[test]
    fn what_two_keep_belongs_to_neither() {
        // 0 → 1 → 3, 0 → 2 → 3, 4 → 4; sizes 16, 24, 32, 40, 48. 4 is dead.
        let graph = graph(&[&[1, 2], &[3], &[3], &[], &[4]], &[0]);
        let found = Analysis::of(&graph);
        let expect = [row(1, 16, 112), row(1, 24, 24), row(1, 32, 32), row(1, 40, 40), row(0, 0, 0)];
        assert_eq!(found.types, expect);
        assert_eq!((found.sources, found.reached_bytes, found.reached_objects), (vec![112], 112, 4));
        assert_eq!(found.largest.len(), 1);
    }

    #[test]
    fn objects_of_a_type_below_each_other_count_once() {
        let mut graph = graph(&[&[1], &[2], &[]], &[0, 1]);
        graph.type_of.fill(0);
        let found = Analysis::of(&graph);
        // 0 dominates nothing, since 1 is a root as well; 1 dominates 2.
        assert_eq!(found.types[0], row(3, 72, 72));
        let mut sources = found.sources;
        sources.sort_unstable();
        assert_eq!(sources, [0, 16]);
    }
}
