//! The graph of a heap, in a few words for each object.
//!
//! Objects, types and sources of roots are numbers. References lie in one list, object by object; a field's name
//! follows from the type and the position in the object's part of the list, so null fields have an entry too. Null
//! elements of arrays of plain references have none. Left out: building the graph (`builder`).

use saki_base::dominators::{FlowGraph, Successor};

/// A null field.
pub(super) const NO_OBJECT: u32 = u32::MAX;
/// Marks the value of a pair in a `ConditionalWeakTable`, among the references of the key.
pub(super) const IS_DEPENDENT: u32 = 1 << 31;
/// Objects of a snapshot; their numbers leave room for `IS_DEPENDENT` and `NO_OBJECT`.
pub const MAX_OBJECTS: usize = (1 << 31) - (1 << 24);
/// Unit of sizes: objects are multiples of it.
pub(super) const SIZE_UNIT_BYTES: u64 = 8;

/// The mark after the name of an application domain's type, before the domain's number and a closing parenthesis.
pub const DOMAIN_MARK: &str = " (domain ";

/// The names of the references of a type's objects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Slots {
    /// One entry for each field, null or not.
    Fields(Vec<String>),
    /// An array: names of the references in an element. One nameless reference: no entries for null.
    Elements(Vec<String>),
}

/// A type of objects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeapType {
    pub name: String,
    pub slots: Slots,
}

/// A reference of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    pub target: u32,
    /// In the object's list.
    pub place: u32,
    /// The target lives because this object does and a `ConditionalWeakTable` has the pair.
    pub is_dependent: bool,
}

/// See the module header.
#[derive(Default, PartialEq, Eq, Debug)]
pub struct HeapGraph {
    /// The program.
    pub title: String,
    pub taken_unix_ns: u64,
    /// How long the program stood still for it at most, with the collection.
    pub took_ns: u64,
    pub types: Vec<HeapType>,
    /// Descriptions of roots: "static field A.b", "stack of thread ...".
    pub sources: Vec<String>,
    /// Sources from here on are stacks: their words keep objects alive only for a moment, and may be stale.
    pub first_stack_source: u32,
    /// (source, object), ascending, each once.
    pub roots: Vec<(u32, u32)>,
    /// By object: index into `types`.
    pub(super) type_of: Vec<u32>,
    /// By object, in units.
    pub(super) size_units: Vec<u32>,
    /// By object: where its references begin; one more at the end.
    pub(super) first_edge: Vec<u32>,
    pub(super) edges: Vec<u32>,
}

impl HeapGraph {
    /// Leaves out the roots from stacks to objects that live without any stack. Otherwise stale words of stacks would
    /// be credited with objects that statics keep.
    pub fn prefer_lasting_roots(&mut self) {
        let first_object = self.first_object_node();
        let mut is_reached = vec![false; self.node_count()];
        let mut stack: Vec<u32> = (1..=self.first_stack_source).collect();
        while let Some(node) = stack.pop() {
            self.for_each_successor(node, |next| {
                if !std::mem::replace(&mut is_reached[next as usize], true) {
                    stack.push(next);
                }
            });
        }
        let first_stack_source = self.first_stack_source;
        self.roots
            .retain(|&(source, object)| source < first_stack_source || !is_reached[(first_object + object) as usize]);
    }

    pub(super) fn for_each_successor(&self, node: u32, mut visit: impl FnMut(u32)) {
        let mut place = 0;
        loop {
            match self.successor(node, place) {
                Successor::Node(next) => visit(next),
                Successor::Nothing => {}
                Successor::End => break,
            }
            place += 1;
        }
    }

    /// How many objects the snapshot has.
    pub fn object_count(&self) -> usize {
        self.type_of.len()
    }

    /// References that are not null.
    pub fn reference_count(&self) -> usize {
        self.edges.iter().filter(|&&edge| edge != NO_OBJECT).count()
    }

    /// What they take, in bytes.
    pub fn total_bytes(&self) -> u64 {
        self.size_units.iter().map(|&units| u64::from(units) * SIZE_UNIT_BYTES).sum()
    }

    /// The object's type: an index of `types`.
    pub fn type_of(&self, object: u32) -> u32 {
        self.type_of[object as usize]
    }

    /// What the object takes, in bytes.
    pub fn size_bytes(&self, object: u32) -> u64 {
        u64::from(self.size_units[object as usize]) * SIZE_UNIT_BYTES
    }

    /// The object's references, without null.
    pub fn edges(&self, object: u32) -> impl Iterator<Item = Edge> + '_ {
        let all = &self.edges[self.first_edge[object as usize] as usize..self.first_edge[object as usize + 1] as usize];
        all.iter().enumerate().filter(|(_, edge)| **edge != NO_OBJECT).map(|(place, &edge)| Edge {
            target: edge & !IS_DEPENDENT,
            place: place as u32,
            is_dependent: edge & IS_DEPENDENT != 0,
        })
    }

    /// The name of a reference after the name of the object's type: ".field", " [i]", " [i].field".
    pub fn label(&self, object: u32, edge: Edge) -> String {
        if edge.is_dependent {
            return " (key in a ConditionalWeakTable)".into();
        }
        match &self.types[self.type_of(object) as usize].slots {
            Slots::Fields(names) => names.get(edge.place as usize).map_or_else(String::new, |name| format!(".{name}")),
            Slots::Elements(names) => match names.get(edge.place as usize % names.len().max(1)) {
                Some(name) if !name.is_empty() => format!(" [i].{name}"),
                _ => " [i]".into(),
            },
        }
    }

    /// A number that distinguishes references of a type's objects: references with equal numbers have equal names.
    pub(super) fn label_number(&self, object: u32, edge: Edge) -> u32 {
        if edge.is_dependent {
            return u32::MAX;
        }
        match &self.types[self.type_of(object) as usize].slots {
            Slots::Fields(_) => edge.place,
            Slots::Elements(names) => edge.place % names.len().max(1) as u32,
        }
    }

    /// The first node of an object. The graph's nodes are one for the process, then the sources of roots, then the
    /// objects.
    pub fn first_object_node(&self) -> u32 {
        1 + self.sources.len() as u32
    }

    /// The roots of a source.
    pub(super) fn roots_of(&self, source: u32) -> &[(u32, u32)] {
        let start = self.roots.partition_point(|root| root.0 < source);
        let len = self.roots[start..].partition_point(|root| root.0 == source);
        &self.roots[start..start + len]
    }
}

impl FlowGraph for HeapGraph {
    fn node_count(&self) -> usize {
        self.first_object_node() as usize + self.object_count()
    }

    fn successor(&self, node: u32, index: u32) -> Successor {
        let first_object = self.first_object_node();
        let found = match node.checked_sub(first_object) {
            Some(object) => {
                let at = u64::from(self.first_edge[object as usize]) + u64::from(index);
                if at >= u64::from(self.first_edge[object as usize + 1]) {
                    return Successor::End;
                }
                match self.edges[at as usize] {
                    NO_OBJECT => return Successor::Nothing,
                    edge => Some(edge & !IS_DEPENDENT),
                }
            }
            None if node == 0 => {
                return if index + 1 < first_object { Successor::Node(index + 1) } else { Successor::End };
            }
            None => self.roots_of(node - 1).get(index as usize).map(|root| root.1),
        };
        found.map_or(Successor::End, |object| Successor::Node(first_object + object))
    }
}
