//! Makes a [`HeapGraph`] from objects that are known by their addresses.
//!
//! First all addresses are noted, in any order, then objects come in the order of their addresses with their
//! references. Numbers are ranks in a table of bits, one for each 8 bytes of memory that has objects: finding a
//! reference's number reads one or two lines of cache, where a search among ten million sorted addresses would take a
//! microsecond. Invariant: no object moves between the two passes.

use super::graph::{HeapGraph, HeapType, IS_DEPENDENT, MAX_OBJECTS, NO_OBJECT, SIZE_UNIT_BYTES};
use rustc_hash::FxHashMap;

/// Memory that one piece of the table is for: small, since large objects lie far apart.
const PIECE_BYTES: u64 = 1 << 18;
const WORDS_PER_PIECE: usize = (PIECE_BYTES / 8 / 64) as usize;

/// The bits of [`PIECE_BYTES`], and before each word of them how many objects of the piece lie below.
struct Piece {
    bits: [u64; WORDS_PER_PIECE],
    below: [u16; WORDS_PER_PIECE],
    /// Number of the piece's first object.
    first: u32,
    number: u64,
}

/// More objects or references than numbers: over 2,000,000,000 or 4,000,000,000.
#[derive(Debug, PartialEq, Eq)]
pub struct TooLarge;

impl std::fmt::Display for TooLarge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the heap has more objects than a snapshot can hold")
    }
}

/// See the module header.
#[derive(Default)]
pub struct GraphBuilder {
    pieces: Vec<Box<Piece>>,
    by_number: FxHashMap<u64, u32>,
    /// The piece that was looked up last: (number, index).
    last: Option<(u64, u32)>,
    /// (key, value), for later.
    dependents: Vec<(u32, u32)>,
    next_dependent: usize,
    graph: HeapGraph,
    is_too_large: bool,
}

impl GraphBuilder {
    /// There is an object at this address, a multiple of 8.
    #[inline]
    pub fn note(&mut self, address: u64) {
        let number = address / PIECE_BYTES;
        let index = match self.last {
            Some((last, index)) if last == number => index,
            _ => {
                let pieces = &mut self.pieces;
                let index = *self.by_number.entry(number).or_insert_with(|| {
                    pieces.push(Box::new(Piece {
                        bits: [0; WORDS_PER_PIECE],
                        below: [0; WORDS_PER_PIECE],
                        first: 0,
                        number,
                    }));
                    pieces.len() as u32 - 1
                });
                self.last = Some((number, index));
                index
            }
        };
        let bit = address % PIECE_BYTES / 8;
        self.pieces[index as usize].bits[(bit / 64) as usize] |= 1 << (bit % 64);
    }

    /// All objects have been noted.
    ///
    /// # Errors
    /// There are too many.
    pub fn number(&mut self) -> Result<(), TooLarge> {
        self.pieces.sort_unstable_by_key(|piece| piece.number);
        self.last = None;
        let mut first = 0_usize;
        for (index, piece) in self.pieces.iter_mut().enumerate() {
            self.by_number.insert(piece.number, index as u32);
            piece.first = first as u32;
            let mut below = 0;
            for (word, place) in piece.bits.iter().zip(&mut piece.below) {
                *place = below;
                below += word.count_ones() as u16;
            }
            first += usize::from(below);
            if first > MAX_OBJECTS {
                return Err(TooLarge);
            }
        }
        self.graph.type_of.reserve_exact(first);
        self.graph.size_units.reserve_exact(first);
        self.graph.first_edge.reserve_exact(first + 1);
        Ok(())
    }

    /// The number of the object at this address.
    #[inline]
    pub fn number_of(&self, address: u64) -> Option<u32> {
        let piece = &self.pieces[*self.by_number.get(&(address / PIECE_BYTES))? as usize];
        let bit = address % PIECE_BYTES / 8;
        let (word, mask) = (piece.bits[(bit / 64) as usize], 1 << (bit % 64));
        (word & mask != 0)
            .then(|| piece.first + u32::from(piece.below[(bit / 64) as usize]) + (word & (mask - 1)).count_ones())
    }

    /// Calls `visit` with the addresses of all objects, ascending, which is the order of their numbers.
    pub fn for_each_address(&mut self, mut visit: impl FnMut(&mut GraphBuilder, u64)) {
        for index in 0..self.pieces.len() {
            let start = self.pieces[index].number * PIECE_BYTES;
            for word in 0..WORDS_PER_PIECE {
                let mut bits = self.pieces[index].bits[word];
                while bits != 0 {
                    visit(self, start + 8 * (64 * word as u64 + u64::from(bits.trailing_zeros())));
                    bits &= bits - 1;
                }
            }
        }
    }

    /// The value lives because the key does, and something has the pair. Before objects are added.
    pub fn add_dependent(&mut self, key: u64, value: u64) {
        if let (Some(key), Some(value)) = (self.number_of(key), self.number_of(value)) {
            self.dependents.push((key, value));
        }
    }

    /// The number of dependents is complete.
    pub fn sort_dependents(&mut self) {
        self.dependents.sort_unstable();
        self.dependents.dedup();
    }

    /// The next object; its references follow.
    #[inline]
    pub fn begin_object(&mut self, type_index: u32, size_bytes: u64) {
        self.graph.type_of.push(type_index);
        self.graph.size_units.push(u32::try_from(size_bytes / SIZE_UNIT_BYTES).unwrap_or(u32::MAX));
        self.graph.first_edge.push(self.graph.edges.len() as u32);
    }

    /// A reference of the object that came last.
    #[inline]
    pub fn add_reference(&mut self, target: u64) {
        // Whatever is referred to has been noted.
        let edge = self.number_of(target).unwrap_or(NO_OBJECT);
        self.graph.edges.push(edge);
    }

    /// A field that is null.
    #[inline]
    pub fn add_null(&mut self) {
        self.graph.edges.push(NO_OBJECT);
    }

    /// The object's own references are complete.
    #[inline]
    pub fn end_object(&mut self) {
        let object = self.graph.type_of.len() as u32 - 1;
        while let Some(&(key, value)) = self.dependents.get(self.next_dependent)
            && key <= object
        {
            if key == object {
                self.graph.edges.push(value | IS_DEPENDENT);
            }
            self.next_dependent += 1;
        }
        self.is_too_large |= self.graph.edges.len() > u32::MAX as usize;
    }

    /// The graph, with names. `roots`: (source, object), in any order; sources from `first_stack_source` on are stacks.
    ///
    /// # Errors
    /// There are too many references.
    pub fn finish(
        mut self,
        types: Vec<HeapType>,
        sources: Vec<String>,
        first_stack_source: u32,
        mut roots: Vec<(u32, u32)>,
    ) -> Result<HeapGraph, TooLarge> {
        if self.is_too_large {
            return Err(TooLarge);
        }
        self.graph.first_edge.push(self.graph.edges.len() as u32);
        roots.sort_unstable();
        roots.dedup();
        Ok(HeapGraph { types, sources, first_stack_source, roots, ..self.graph })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::graph::{Edge, Slots};
    use super::*;

    /// A graph whose objects, of one type each, have the given references; `roots` come from one source each.
    pub fn graph(objects: &[&[u32]], roots: &[u32]) -> HeapGraph {
        let address = |object: u32| 0x1000 + 0x10_0000 * u64::from(object % 3) + 64 * u64::from(object);
        let mut by_address: Vec<u32> = (0..objects.len() as u32).collect();
        let mut builder = GraphBuilder::default();
        by_address.iter().rev().for_each(|&object| builder.note(address(object)));
        builder.number().unwrap();
        by_address.sort_unstable_by_key(|&object| address(object));
        builder.for_each_address(|builder, at| {
            let object = by_address[builder.graph.type_of.len()];
            assert_eq!(at, address(object));
            builder.begin_object(object, 16 + 8 * u64::from(object));
            objects[object as usize].iter().for_each(|&target| builder.add_reference(address(target)));
            builder.end_object();
        });
        let fields = |count: usize| Slots::Fields((0..count).map(|field| format!("f{field}")).collect());
        let types = objects.iter().enumerate();
        let types =
            types.map(|(object, targets)| HeapType { name: format!("T{object}"), slots: fields(targets.len()) });
        let sources = roots.iter().map(|root| format!("static field R.r{root}")).collect();
        let numbers: Vec<(u32, u32)> =
            roots.iter().zip(0..).map(|(&root, source)| (source, builder.number_of(address(root)).unwrap())).collect();
        let types = types.collect();
        let first_stack_source = roots.len() as u32;
        builder.finish(types, sources, first_stack_source, numbers).unwrap()
    }

    #[test]
    fn numbers_are_ranks_by_address() {
        let graph = graph(&[&[1, 2], &[], &[2, 0]], &[2]);
        let object_of = |ty: u32| graph.type_of.iter().position(|&found| found == ty).unwrap() as u32;
        let edge = |target, place| Edge { target, place, is_dependent: false };
        assert_eq!(graph.edges(object_of(0)).collect::<Vec<_>>(), [edge(object_of(1), 0), edge(object_of(2), 1)]);
        assert_eq!(graph.edges(object_of(2)).map(|e| e.target).collect::<Vec<_>>(), [object_of(2), object_of(0)]);
        assert_eq!(graph.size_bytes(object_of(2)), 32);
        assert_eq!(graph.roots, [(0, object_of(2))]);
        assert_eq!(graph.label(object_of(0), edge(0, 1)), ".f1");
    }

    #[test]
    fn dependents_belong_to_their_keys() {
        let mut builder = GraphBuilder::default();
        [8, 16, 24].into_iter().for_each(|address| builder.note(address));
        builder.number().unwrap();
        builder.add_dependent(24, 8);
        builder.add_dependent(8, 16);
        builder.add_dependent(8, 32);
        builder.sort_dependents();
        builder.for_each_address(|builder, _| {
            builder.begin_object(0, 24);
            builder.add_null();
            builder.end_object();
        });
        let plain = HeapType { name: "T".into(), slots: Slots::Fields(vec!["f".into()]) };
        let graph = builder.finish(vec![plain], Vec::new(), 0, Vec::new()).unwrap();
        let dependents = |object| graph.edges(object).map(|e| (e.target, e.is_dependent)).collect::<Vec<_>>();
        assert_eq!([dependents(0), dependents(1), dependents(2)], [vec![(1, true)], vec![], vec![(0, true)]]);
        assert_eq!(graph.label(2, graph.edges(2).next().unwrap()), " (key in a ConditionalWeakTable)");
    }
}
