//! Look-up of types by name: lazily built hash tables over TypeDef and ExportedType.
//!
//! Invariant: a table holds row numbers only; names are compared in the image. Of several rows with the
//! same name the first is found, as in a linear search.

use crate::image::{Image, NameTable};
use crate::token::{Rid, StringIdx, TableId};

/// The key that identifies a type within an image.
#[derive(PartialEq, Eq, Clone, Copy)]
struct TypeKey<'a> {
    namespace: &'a [u8],
    name: &'a [u8],
    /// Row of the enclosing type in the same table; 0 = none.
    enclosing: Rid,
}

impl TypeKey<'_> {
    /// A multiply-rotate hash, 8 bytes per step. The length of the namespace is hashed too, to separate namespace and
    /// name.
    fn hash(&self) -> u64 {
        let mut hash = mix(self.namespace.len() as u64, u64::from(self.enclosing));
        for part in [self.namespace, self.name] {
            let (words, tail) = part.as_chunks::<8>();
            for word in words {
                hash = mix(hash, u64::from_le_bytes(*word));
            }
            let tail = tail.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
            hash = mix(hash, tail);
        }
        hash ^ hash >> 32
    }
}

fn mix(hash: u64, word: u64) -> u64 {
    // An odd constant near 2^64 divided by the golden ratio spreads the bits of short names.
    (hash.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl NameTable {
    fn build<'a>(row_count: u32, key_of: impl Fn(Rid) -> Option<TypeKey<'a>>) -> Self {
        let slot_count = (row_count as usize * 2).next_power_of_two().max(2);
        let mut slots = vec![0; slot_count].into_boxed_slice();
        for rid in 1..=row_count {
            if let Some(key) = key_of(rid) {
                let mut slot = key.hash() as usize & (slot_count - 1);
                while slots[slot] != 0 {
                    slot = (slot + 1) & (slot_count - 1);
                }
                slots[slot] = rid;
            }
        }
        Self { slots }
    }

    fn find<'a>(&self, key: TypeKey<'_>, key_of: impl Fn(Rid) -> Option<TypeKey<'a>>) -> Option<Rid> {
        let mask = self.slots.len() - 1;
        let mut slot = key.hash() as usize & mask;
        while self.slots[slot] != 0 {
            let rid = self.slots[slot];
            if key_of(rid).is_some_and(|other| other == key) {
                return Some(rid);
            }
            slot = (slot + 1) & mask;
        }
        None
    }
}

impl Image {
    fn type_key(&self, namespace: StringIdx, name: StringIdx, enclosing: Rid) -> Option<TypeKey<'_>> {
        let name = self.string_bytes(name).ok()?;
        Some(TypeKey { namespace: self.string_bytes(namespace).ok()?, name, enclosing })
    }

    fn type_def_key(&self, rid: Rid) -> Option<TypeKey<'_>> {
        let row = self.type_def(rid).ok()?;
        self.type_key(row.namespace, row.name, self.enclosing_class(rid).unwrap_or(0))
    }

    /// The table of all types. Start-up waits for corlib's table, so the enclosing types are found by one pass over
    /// NestedClass instead of a search per type.
    fn type_def_table(&self) -> NameTable {
        let row_count = self.row_count(TableId::TypeDef);
        let mut enclosing: Vec<Rid> = vec![0; row_count as usize + 1];
        for row in (1..=self.row_count(TableId::NestedClass)).filter_map(|rid| self.nested_class(rid).ok()) {
            if let Some(first @ 0) = enclosing.get_mut(row.nested_class as usize) {
                *first = row.enclosing_class;
            }
        }
        NameTable::build(row_count, |rid| {
            let row = self.type_def(rid).ok()?;
            self.type_key(row.namespace, row.name, enclosing[rid as usize])
        })
    }

    fn exported_type_key(&self, rid: Rid) -> Option<TypeKey<'_>> {
        let row = self.exported_type(rid).ok()?;
        let outer = row.implementation;
        let enclosing = if outer.table() == TableId::ExportedType { outer.rid() } else { 0 };
        self.type_key(row.namespace, row.name, enclosing)
    }

    /// The type of this name; `enclosing` is the TypeDef it is nested in. A nested type has an empty
    /// namespace.
    pub fn find_type_def(&self, namespace: &str, name: &str, enclosing: Option<Rid>) -> Option<Rid> {
        let key = TypeKey { namespace: namespace.as_bytes(), name: name.as_bytes(), enclosing: enclosing.unwrap_or(0) };
        let table = self.names.type_defs.get_or_init(|| self.type_def_table());
        table.find(key, |rid| self.type_def_key(rid))
    }

    /// The ExportedType row of this name; `enclosing` is the ExportedType it is nested in.
    pub fn find_exported_type(&self, namespace: &str, name: &str, enclosing: Option<Rid>) -> Option<Rid> {
        let key = TypeKey { namespace: namespace.as_bytes(), name: name.as_bytes(), enclosing: enclosing.unwrap_or(0) };
        let table = self
            .names
            .exported_types
            .get_or_init(|| NameTable::build(self.row_count(TableId::ExportedType), |rid| self.exported_type_key(rid)));
        table.find(key, |rid| self.exported_type_key(rid))
    }
}
