//! Why objects of a type live: the paths to them from roots, grouped by the types and fields on the path.
//!
//! A breadth-first search gives each object its shortest path, taking the sources of roots in their order; an object
//! that is reachable without any stack has a path without one, even if that is longer, and one that does not lead
//! through other objects of the type, if there is one. Objects whose paths have the same source, types and fields are
//! one group; consecutive objects of one type (nodes of a list or a tree) are one step, however many they are.
//!
//! The search finds one path for each object. The others (`further`) leave that path at some object: something else
//! refers to the object, too, and has a shortest path of its own. Left out: paths that leave the shortest one twice,
//! those from stacks, and those that come back to the types that they left.

use super::graph::HeapGraph;
use rustc_hash::FxHashMap;
use saki_base::dominators::{FlowGraph, UNREACHED};

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
    /// Its objects have a shorter one.
    pub is_further: bool,
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

/// Shortest paths for which further ones are looked for.
const MAX_LEFT: usize = 20;
/// References beside the shortest paths that are looked at; 8 bytes each.
const MAX_SIDE_REFERENCES: usize = 1 << 22;

/// The path to every object.
pub struct Paths<'a> {
    graph: &'a HeapGraph,
    /// By node: the node before it.
    parent: Vec<u32>,
    /// Nodes in the order in which they were found.
    order: Vec<u32>,
    /// Those from here on in `order` were reached from stacks alone.
    first_by_stack: usize,
}

impl<'a> Paths<'a> {
    /// Shortest paths from roots, over all objects.
    pub fn of(graph: &'a HeapGraph) -> Paths<'a> {
        Paths::around(graph, u32::MAX)
    }

    /// Paths that lead through objects of this type only where there are no others.
    pub fn around(graph: &'a HeapGraph, ty: u32) -> Paths<'a> {
        let first_object = graph.first_object_node();
        let first_stack = 1 + graph.first_stack_source;
        let mut found = Paths { graph, parent: vec![UNREACHED; graph.node_count()], order: vec![0], first_by_stack: 0 };
        found.parent[0] = 0;
        let mut next = 1;
        let mut put_off = Vec::new();
        for seeds in [1..first_stack, first_stack..first_object] {
            found.first_by_stack = found.order.len();
            for source in seeds {
                found.parent[source as usize] = 0;
                found.order.push(source);
            }
            loop {
                while let Some(&node) = found.order.get(next) {
                    next += 1;
                    match node.checked_sub(first_object) {
                        Some(object) if graph.type_of(object) == ty => put_off.push(node),
                        _ => found.expand(node),
                    }
                }
                if put_off.is_empty() {
                    break;
                }
                std::mem::take(&mut put_off).into_iter().for_each(|node| found.expand(node));
            }
        }
        found
    }

    fn expand(&mut self, node: u32) {
        let Paths { graph, parent, order, .. } = self;
        graph.for_each_successor(node, |to| {
            if parent[to as usize] == UNREACHED {
                parent[to as usize] = node;
                order.push(to);
            }
        });
    }

    /// The paths to the objects of a type: the shortest, those of most objects first, and then further ones, those that
    /// differ near the objects first.
    pub fn to_type(&self, ty: u32) -> Vec<Path> {
        let mut is_on_way = vec![false; self.parent.len()];
        for &node in self.order.iter().rev() {
            if self.is_of(node, ty) || is_on_way[node as usize] {
                is_on_way[node as usize] = true;
                is_on_way[self.parent[node as usize] as usize] = true;
            }
        }
        let sides = self.side_references(ty, &is_on_way);
        let on_way: Vec<u32> = self.order.iter().copied().filter(|&node| is_on_way[node as usize]).collect();
        for &(from, _) in &sides {
            let mut at = from;
            while !std::mem::replace(&mut is_on_way[at as usize], true) {
                at = self.parent[at as usize];
            }
        }
        let (groups, group_of) = self.groups(ty, &is_on_way);
        let mut found: Vec<u32> = (0..groups.len() as u32).filter(|&group| groups[group as usize].count > 0).collect();
        found.sort_by_key(|&group| std::cmp::Reverse((groups[group as usize].count, groups[group as usize].own_bytes)));
        let mut paths: Vec<Path> = found.iter().map(|&group| self.path(&groups, group)).collect();
        let search = Further { paths: self, ty, groups: &groups, group_of: &group_of, on_way: &on_way, sides: &sides };
        let mut further = Vec::new();
        for (&group, shortest) in found.iter().zip(&paths).take(MAX_LEFT) {
            further.extend(search.beside(group, shortest));
        }
        further.sort_by_key(|way| (way.steps_behind, std::cmp::Reverse(way.path.count), way.path.steps.len()));
        for Way { path, .. } in further {
            // The shortest path of some objects may be a further one of others.
            match paths.iter_mut().find(|known| (&known.source, &known.steps) == (&path.source, &path.steps)) {
                Some(known) => {
                    (known.count, known.own_bytes) = (known.count + path.count, known.own_bytes + path.own_bytes)
                }
                None => paths.push(path),
            }
        }
        paths
    }

    fn is_of(&self, node: u32, ty: u32) -> bool {
        node.checked_sub(self.graph.first_object_node()).is_some_and(|object| self.graph.type_of(object) == ty)
    }

    /// References to objects on the shortest paths that are on none themselves.
    fn side_references(&self, ty: u32, is_on_way: &[bool]) -> Vec<(u32, u32)> {
        let mut sides = Vec::new();
        for &node in self.order[1..self.first_by_stack].iter().filter(|&&node| !self.is_of(node, ty)) {
            let before = sides.len();
            self.graph.for_each_successor(node, |to| {
                if is_on_way[to as usize] && self.parent[to as usize] != node && sides.len() < MAX_SIDE_REFERENCES {
                    sides.push((node, to));
                }
            });
            // Some of an object's fields may refer to the same one.
            sides[before..].sort_unstable();
        }
        sides.dedup();
        sides
    }

    /// The groups of the marked objects; and by node its group, and how many objects in a row are of it.
    fn groups(&self, ty: u32, is_on_way: &[bool]) -> (Vec<Group>, FxHashMap<u32, (u32, u32)>) {
        let first_object = self.graph.first_object_node();
        let mut groups: Vec<Group> = Vec::new();
        let mut known: FxHashMap<GroupKey, u32> = FxHashMap::default();
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
        (groups, group_of)
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

    fn path(&self, groups: &[Group], last: u32) -> Path {
        let chain = chain(groups, last);
        let steps = self.steps(groups, &chain);
        let Group { count, own_bytes, .. } = groups[last as usize];
        Path { source: self.source(groups, &chain), steps, count, own_bytes, is_further: false }
    }

    /// The steps of a chain of groups, the outermost first; the last one names no field.
    fn steps(&self, groups: &[Group], chain: &[u32]) -> Vec<Step> {
        let mut label = String::new();
        let step = |&group: &u32| {
            let group = &groups[group as usize];
            let name = &self.graph.types[group.key.ty as usize].name;
            let link = group.link.map_or_else(String::new, |(from, to)| self.label(from, to));
            let step = Step { text: format!("{name}{label}"), most_objects: group.most_objects, link };
            label = if group.parent == UNREACHED { String::new() } else { self.label(group.parent, group.first) };
            step
        };
        let mut steps: Vec<Step> = chain.iter().map(step).collect();
        steps.reverse();
        steps
    }

    fn source(&self, groups: &[Group], chain: &[u32]) -> String {
        let outermost = chain.last().map_or(NO_GROUP, |&group| groups[group as usize].key.above);
        self.graph.sources[(NO_GROUP - outermost) as usize - 1].clone()
    }
}

/// A group and those above it, up to the one that a root refers to.
fn chain(groups: &[Group], last: u32) -> Vec<u32> {
    let (mut chain, mut at) = (Vec::new(), last);
    // Sources have the numbers behind all groups.
    while let Some(group) = groups.get(at as usize) {
        chain.push(at);
        at = group.key.above;
    }
    chain
}

/// A further path, and the number of its steps from where it meets the shortest one.
struct Way {
    path: Path,
    steps_behind: usize,
}

/// Looks for further paths.
struct Further<'a> {
    paths: &'a Paths<'a>,
    ty: u32,
    groups: &'a [Group],
    group_of: &'a FxHashMap<u32, (u32, u32)>,
    /// Nodes on shortest paths, callers first.
    on_way: &'a [u32],
    /// From, to.
    sides: &'a [(u32, u32)],
}

/// References of one kind to objects of one group: the group of the objects that refer (or a source, as in
/// `GroupKey::above`), the field, the group referred to.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct SideKey {
    from: u32,
    label: u32,
    to: u32,
}

impl Further<'_> {
    /// The further paths of the objects whose shortest one is `shortest`, that of the group `wanted`.
    fn beside(&self, wanted: u32, shortest: &Path) -> Vec<Way> {
        let below = self.objects_below(wanted);
        let chain = chain(self.groups, wanted);
        let mut found: FxHashMap<SideKey, (Vec<u32>, (u32, u32))> = FxHashMap::default();
        for &(from, to) in self.sides.iter().filter(|(_, to)| below.contains_key(to)) {
            if let Some(key) = self.side(from, to, &chain) {
                found.entry(key).or_insert_with(|| (Vec::new(), (from, to))).0.push(to);
            }
        }
        let mut ways: Vec<(SideKey, Way)> = found
            .into_iter()
            .map(|(key, (mut to, first))| {
                to.sort_unstable();
                to.dedup();
                let sums = to.iter().filter_map(|to| below.get(to));
                let (count, bytes) = sums.fold((0, 0), |sum, more| (sum.0 + more.0, sum.1 + more.1));
                // Objects in a row keep each other.
                let sums = (count.min(shortest.count), bytes.min(shortest.own_bytes));
                (key, self.way(key, first, &chain, shortest, sums))
            })
            .collect();
        // The same order in each run.
        ways.sort_by_key(|(key, _)| (key.to, key.from, key.label));
        ways.into_iter().map(|(_, way)| way).collect()
    }

    /// By node on the path of the group: how many of its objects are there or below, and their bytes.
    fn objects_below(&self, wanted: u32) -> FxHashMap<u32, (u64, u64)> {
        let (paths, first_object) = (self.paths, self.paths.graph.first_object_node());
        let mut below: FxHashMap<u32, (u64, u64)> = FxHashMap::default();
        for &node in self.on_way.iter().rev().filter(|&&node| node >= first_object) {
            let mut sum = below.get(&node).copied().unwrap_or_default();
            if paths.is_of(node, self.ty) && self.group_of[&node].0 == wanted {
                sum = (sum.0 + 1, sum.1 + paths.graph.size_bytes(node - first_object));
            }
            if sum.0 > 0 {
                below.insert(node, sum);
                let above = below.entry(paths.parent[node as usize]).or_default();
                *above = (above.0 + sum.0, above.1 + sum.1);
            }
        }
        below
    }

    /// The kind of a reference, if it begins another path than `chain`, which is that of the object referred to.
    fn side(&self, from: u32, to: u32, chain: &[u32]) -> Option<SideKey> {
        let first_object = self.paths.graph.first_object_node();
        let to_group = self.group_of.get(&to)?.0;
        let key = match from.checked_sub(first_object) {
            None => SideKey { from: NO_GROUP - from, label: 0, to: to_group },
            Some(object) => {
                let from_group = self.group_of.get(&from)?.0;
                let place = chain.iter().position(|&group| group == to_group)?;
                // It would come back: something that the object itself, or one below it, keeps alive.
                if self::chain(self.groups, from_group).iter().any(|group| chain[..=place].contains(group)) {
                    return None;
                }
                let label = self.paths.label_number(object, to - first_object);
                SideKey { from: from_group, label, to: to_group }
            }
        };
        let own = &self.groups[to_group as usize].key;
        (key.from != own.above || key.label != own.label).then_some(key)
    }

    fn way(&self, key: SideKey, first: (u32, u32), chain: &[u32], shortest: &Path, sums: (u64, u64)) -> Way {
        let (paths, first_object) = (self.paths, self.paths.graph.first_object_node());
        let place = chain.iter().position(|&group| group == key.to).unwrap_or(0);
        let behind = &shortest.steps[shortest.steps.len() - 1 - place..];
        let (source, mut steps) = if (key.from as usize) < self.groups.len() {
            let above = self::chain(self.groups, key.from);
            let mut steps = paths.steps(self.groups, &above);
            if let Some(last) = steps.last_mut() {
                last.text += &paths.label(first.0 - first_object, first.1 - first_object);
            }
            (paths.source(self.groups, &above), steps)
        } else {
            (paths.graph.sources[(NO_GROUP - key.from) as usize - 1].clone(), Vec::new())
        };
        steps.extend_from_slice(behind);
        let (count, own_bytes) = sums;
        Way { path: Path { source, steps, count, own_bytes, is_further: true }, steps_behind: place }
    }
}

#[cfg(test)]
mod tests {
    use super::super::builder::tests::graph;
    use super::super::graph::{HeapType, Slots};
    use super::*;

    /// The ways to the objects of type number `ty`, as text.
    fn ways(graph: &HeapGraph, ty: u32) -> Vec<String> {
        let paths = Paths::around(graph, ty).to_type(ty);
        let text = paths.iter().map(|path| {
            let steps = path.steps.iter().map(|step| match step.most_objects {
                1 => format!(" > {}", step.text),
                most => format!(" > {}*{most}{}", step.text, step.link),
            });
            let also = if path.is_further { "also " } else { "" };
            format!("{also}{}: {}{}", path.count, path.source, steps.collect::<String>())
        });
        text.collect()
    }

    #[test]
    fn the_shortest_way_comes_first() {
        let graph = graph(&[&[1], &[2], &[3], &[], &[3]], &[0, 4]);
        let expect = ["1: static field R.r4 > T4.f0 > T3", "also 1: static field R.r0 > T0.f0 > T1.f0 > T2.f0 > T3"];
        assert_eq!(ways(&graph, 3), expect);
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

    /// The graph with types by numbers of objects as they are written in `lists`: `graph` numbers objects by their
    /// addresses.
    fn typed(lists: &[&[u32]], roots: &[u32], types: &[(&str, std::ops::Range<usize>)]) -> HeapGraph {
        let mut graph = graph(lists, roots);
        let originals = graph.type_of.clone();
        for (number, (name, objects)) in types.iter().enumerate() {
            for (object, original) in originals.iter().enumerate() {
                if objects.contains(&(*original as usize)) {
                    graph.type_of[object] = number as u32;
                }
            }
            // As arrays, so that all references of an object have the same name.
            graph.types[number] = HeapType { name: (*name).into(), slots: Slots::Elements(vec![String::new()]) };
        }
        graph
    }

    /// The number of a type.
    fn number(graph: &HeapGraph, name: &str) -> u32 {
        graph.types.iter().position(|ty| ty.name == name).unwrap() as u32
    }

    #[test]
    fn sessions_of_a_dictionary_are_held_by_an_event_too() {
        // 0 table → 1 entries → 2..5 sessions; 5 bus → 6 list → 7..10 handlers → sessions, which refer to the bus and
        // to their neighbours.
        let lists: &[&[u32]] = &[&[1], &[2, 3, 4], &[5, 3], &[5, 4], &[5, 2], &[6], &[7, 8, 9], &[2], &[3], &[4]];
        let types =
            [("Table", 0..1), ("Entries", 1..2), ("Session", 2..5), ("Bus", 5..6), ("List", 6..7), ("Handler", 7..10)];
        let graph = typed(lists, &[0, 5], &types);
        let expect = [
            "3: static field R.r0 > Table [i] > Entries [i] > Session",
            "also 3: static field R.r5 > Bus [i] > List [i] > Handler [i] > Session",
        ];
        assert_eq!(ways(&graph, number(&graph, "Session")), expect);
    }

    #[test]
    fn what_holds_a_holder_is_told_too() {
        // 0 → 1 table → 2, 3 → 4, 5; 6 → 7 → 2, and 8 → 1 is another root of the table.
        let lists: &[&[u32]] = &[&[1], &[2, 3], &[4], &[5], &[], &[], &[7], &[2], &[1]];
        let types = [
            ("Server", 0..1),
            ("Table", 1..2),
            ("Wrapper", 2..4),
            ("Session", 4..6),
            ("Bus", 6..7),
            ("Handler", 7..8),
            ("Copy", 8..9),
        ];
        let graph = typed(lists, &[0, 6, 8], &types);
        let expect = [
            "2: static field R.r0 > Server [i] > Table [i] > Wrapper [i] > Session",
            "also 1: static field R.r6 > Bus [i] > Handler [i] > Wrapper [i] > Session",
            "also 2: static field R.r8 > Copy [i] > Table [i] > Wrapper [i] > Session",
        ];
        assert_eq!(ways(&graph, number(&graph, "Session")), expect);
    }

    #[test]
    fn what_an_object_keeps_itself_is_no_reason() {
        // 1 owns 2, which refers back; 3 is one of the keys of the table 0.
        let types = [("Table", 0..1), ("Session", 1..2), ("Cache", 2..3), ("Keys", 3..4)];
        let graph = typed(&[&[1, 3], &[2], &[1], &[0]], &[0], &types);
        let session = number(&graph, "Session");
        assert_eq!(ways(&graph, session), ["1: static field R.r0 > Table [i] > Session"]);
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
