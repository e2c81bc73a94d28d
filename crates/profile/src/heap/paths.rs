//! Why objects of a type live: the shortest paths to them from roots, grouped by the types and fields on the path.
//!
//! A breadth-first search gives each object its path, taking the sources of roots in their order; an object that is reachable without any stack has a
//! path without one, even if that is longer. Objects whose paths have the same source, types and fields are one group; consecutive objects of one type
//! (nodes of a list or a tree) are one step, however many they are. Left out: all paths but one.

use super::dominators::{FlowGraph, UNREACHED};
use super::graph::HeapGraph;
use rustc_hash::FxHashMap;

/// A step of a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// Type, and the field that leads on.
    pub text: String,
    /// Most objects in a row that it stands for.
    pub most_objects: u32,
    /// By which field the first two of them hang together.
    pub link: String,
}

/// Objects of the type that live for the same reason.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Path {
    pub source: String,
    pub steps: Vec<Step>,
    pub count: u64,
    pub own_bytes: u64,
}

/// A path of types: the path above, the field, and the type that the field leads to.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct GroupKey {
    above: u32,
    label: u32,
    ty: u32,
}

struct Group {
    key: GroupKey,
    /// Object that the first of the group was found by, for the name of the field; `UNREACHED` = a root.
    parent: u32,
    first: u32,
    most_objects: u32,
    /// Two objects of the group, of which the first refers to the second.
    link: Option<(u32, u32)>,
    count: u64,
    own_bytes: u64,
}

const NO_GROUP: u32 = u32::MAX;

/// The path to every object.
pub struct Paths<'a> {
    graph: &'a HeapGraph,
    /// By node: the node before it.
    parent: Vec<u32>,
    /// Nodes in the order in which they were found.
    order: Vec<u32>,
}

impl<'a> Paths<'a> {
    pub fn of(graph: &'a HeapGraph) -> Paths<'a> {
        let mut parent = vec![UNREACHED; graph.node_count()];
        let mut order = vec![0];
        parent[0] = 0;
        let first_stack = 1 + graph.first_stack_source;
        let (mut next, mut seeds) = (1, 1..first_stack);
        for _ in 0..2 {
            for source in std::mem::replace(&mut seeds, first_stack..graph.first_object_node()) {
                parent[source as usize] = 0;
                order.push(source);
            }
            while let Some(&node) = order.get(next) {
                next += 1;
                graph.for_each_successor(node, |to| {
                    if parent[to as usize] == UNREACHED {
                        parent[to as usize] = node;
                        order.push(to);
                    }
                });
            }
        }
        Paths { graph, parent, order }
    }

    /// The paths to the objects of a type, those of most objects first.
    pub fn to_type(&self, ty: u32) -> Vec<Path> {
        let first_object = self.graph.first_object_node();
        let mut is_on_way = vec![false; self.parent.len()];
        for &node in self.order.iter().rev() {
            let is_wanted = node >= first_object && self.graph.type_of(node - first_object) == ty;
            if is_wanted || is_on_way[node as usize] {
                is_on_way[node as usize] = true;
                is_on_way[self.parent[node as usize] as usize] = true;
            }
        }
        let groups = self.groups(ty, &is_on_way);
        let mut found: Vec<&Group> = groups.iter().filter(|group| group.count > 0).collect();
        found.sort_by_key(|group| std::cmp::Reverse((group.count, group.own_bytes)));
        found.into_iter().map(|group| self.path(&groups, group)).collect()
    }

    fn groups(&self, ty: u32, is_on_way: &[bool]) -> Vec<Group> {
        let first_object = self.graph.first_object_node();
        let mut groups: Vec<Group> = Vec::new();
        let mut known: FxHashMap<GroupKey, u32> = FxHashMap::default();
        // By node: its group, and how many objects in a row are of it.
        let mut group_of: FxHashMap<u32, (u32, u32)> = FxHashMap::default();
        for &node in self.order.iter().filter(|&&node| node >= first_object && is_on_way[node as usize]) {
            let (object, above) = (node - first_object, self.parent[node as usize]);
            let own_type = self.graph.type_of(object);
            let (key, parent, run) = match above.checked_sub(first_object) {
                // Sources have the numbers behind all groups.
                None => (GroupKey { above: NO_GROUP - above, label: 0, ty: own_type }, UNREACHED, None),
                Some(parent) => {
                    let (group, run) = group_of[&above];
                    let of_parent = &mut groups[group as usize];
                    if of_parent.key.ty == own_type {
                        of_parent.link.get_or_insert((parent, object));
                        (of_parent.key, parent, Some((group, run + 1)))
                    } else {
                        let label = self.label_number(parent, object);
                        (GroupKey { above: group, label, ty: own_type }, parent, None)
                    }
                }
            };
            let (group, run) = run.unwrap_or_else(|| {
                let new = Group { key, parent, first: object, most_objects: 1, link: None, count: 0, own_bytes: 0 };
                let group = *known.entry(key).or_insert_with(|| {
                    groups.push(new);
                    groups.len() as u32 - 1
                });
                (group, 1)
            });
            let entry = &mut groups[group as usize];
            entry.most_objects = entry.most_objects.max(run);
            if own_type == ty {
                entry.count += 1;
                entry.own_bytes += self.graph.size_bytes(object);
            }
            group_of.insert(node, (group, run));
        }
        groups
    }

    /// The field of `parent` that leads to `object`: the first, if there are several.
    fn label_number(&self, parent: u32, object: u32) -> u32 {
        let edge = self.graph.edges(parent).find(|edge| edge.target == object);
        edge.map_or(0, |edge| self.graph.label_number(parent, edge))
    }

    fn label(&self, parent: u32, object: u32) -> String {
        let edge = self.graph.edges(parent).find(|edge| edge.target == object);
        edge.map_or_else(String::new, |edge| self.graph.label(parent, edge))
    }

    fn path(&self, groups: &[Group], last: &Group) -> Path {
        let mut steps = Vec::new();
        let (mut group, mut label) = (last, String::new());
        loop {
            let name = &self.graph.types[group.key.ty as usize].name;
            let link = group.link.map_or_else(String::new, |(from, to)| self.label(from, to));
            steps.push(Step { text: format!("{name}{label}"), most_objects: group.most_objects, link });
            if group.parent == UNREACHED {
                break;
            }
            label = self.label(group.parent, group.first);
            group = &groups[group.key.above as usize];
        }
        steps.reverse();
        let source = self.graph.sources[(NO_GROUP - group.key.above) as usize - 1].clone();
        Path { source, steps, count: last.count, own_bytes: last.own_bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::super::builder::tests::graph;
    use super::*;

    /// The ways to the objects of type number `ty`, as text.
    fn ways(graph: &HeapGraph, ty: u32) -> Vec<String> {
        let paths = Paths::of(graph).to_type(ty);
        let text = paths.iter().map(|path| {
            let steps = path.steps.iter().map(|step| match step.most_objects {
                1 => format!(" > {}", step.text),
                most => format!(" > {}*{most}{}", step.text, step.link),
            });
            format!("{}: {}{}", path.count, path.source, steps.collect::<String>())
        });
        text.collect()
    }

    #[test]
    fn the_shortest_way_counts() {
        let graph = graph(&[&[1], &[2], &[3], &[], &[3]], &[0, 4]);
        assert_eq!(ways(&graph, 3), ["1: static field R.r4 > T4.f0 > T3"]);
        assert_eq!(ways(&graph, 2), ["1: static field R.r0 > T0.f0 > T1.f0 > T2"]);
    }

    #[test]
    fn stacks_come_last() {
        // Sources are in the order of the roots: the second is a stack.
        let mut graph = graph(&[&[1], &[2], &[3], &[], &[2, 5], &[]], &[0, 4]);
        graph.first_stack_source = 1;
        assert_eq!(ways(&graph, 3), ["1: static field R.r0 > T0.f0 > T1.f0 > T2.f0 > T3"]);
        assert_eq!(ways(&graph, 5), ["1: static field R.r4 > T4.f1 > T5"]);
        let before = graph.roots.clone();
        graph.prefer_lasting_roots();
        assert_eq!(graph.roots, before, "only the stack has 4");
        let held = graph.edges(graph.roots[1].1).next().unwrap().target;
        graph.roots.push((1, held));
        graph.prefer_lasting_roots();
        assert_eq!(graph.roots, before, "2 lives without the stack");
    }

    #[test]
    fn a_list_is_one_step() {
        let mut graph = graph(&[&[1], &[2], &[3], &[]], &[0]);
        // Numbers are ranks by address: every object except the root is a node of the list.
        let root = graph.roots[0].1;
        (0..4).for_each(|object| graph.type_of[object as usize] = u32::from(object != root));
        graph.types[0].name = "List".into();
        graph.types[1].name = "Node".into();
        assert_eq!(ways(&graph, 1), ["3: static field R.r0 > List.f0 > Node*3.f0"]);
    }
}
