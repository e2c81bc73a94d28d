//! The table of internal calls: from a method to the Rust function that implements it.
//!
//! Names are "Namespace.Type::Method" (nested types "Outer/Inner"), with the parameter types in parentheses where a name is
//! overloaded: "System.String::.ctor(System.Char[])". The function gets the `CurrentThread` and then the managed arguments.
//! A row that holds for the class libraries of some versions has a mark in front of the name: "@6.8 System.Array::GetGenericValueImpl".
//! Rows of other versions than the one in use are not found.

use crate::class_library;
use crate::crossings::Signature;
pub use crate::method_names::name_of;
use crate::method_names::with_parameters;
use rustc_hash::FxHashMap;
use saki_contract::Versions;
use saki_types::Method;
use std::sync::OnceLock;

/// One row of the table; `InternalCall::new` makes it.
#[derive(Clone, Copy)]
pub struct InternalCall {
    pub name: &'static str,
    pub function: *const (),
    pub signature: Signature,
}

// SAFETY: a name, the address of code, and kinds.
unsafe impl Send for InternalCall {}
// SAFETY: as above.
unsafe impl Sync for InternalCall {}

/// Tables of a crate and of the crates below it.
#[derive(Clone, Default)]
pub struct InternalCallTables(pub Vec<&'static [InternalCall]>);

/// Rows by name.
#[derive(Default)]
struct Table {
    rows: FxHashMap<&'static str, &'static InternalCall>,
    /// Names of rows with marks, of all versions.
    marked: Vec<&'static str>,
}

static TABLE: OnceLock<Table> = OnceLock::new();

/// The versions that a row holds for, and its name.
fn split_mark(row_name: &'static str) -> (Versions, &'static str) {
    saki_contract::split_mark(row_name)
        .unwrap_or_else(|mark| saki_base::bug!("internal call {row_name}: no version {mark}"))
}

/// Makes the table of the machine; later rows win. Called when the class library's version is known.
pub(crate) fn set_table(tables: &InternalCallTables) {
    let _ = TABLE.set(Table::of(tables));
}

impl Table {
    fn of(tables: &InternalCallTables) -> Table {
        let in_use = class_library::version();
        let mut table = Table::default();
        for row in tables.0.iter().copied().flatten() {
            let (versions, name) = split_mark(row.name);
            if versions != Versions::MONO {
                table.marked.push(row.name);
            }
            if in_use.map_or(versions == Versions::MONO, |version| versions.contains(version)) {
                table.rows.insert(name, row);
            }
        }
        table
    }

    /// The names of all rows, sorted. Rows that hold for some versions have their mark.
    fn row_names(&self) -> Vec<&'static str> {
        let unmarked = self.rows.iter().filter(|(name, row)| **name == row.name).map(|(name, _)| *name);
        let mut names: Vec<&str> = unmarked.chain(self.marked.iter().copied()).collect();
        names.sort_unstable();
        names
    }
}

/// The row of an internal call. In debug builds its signature was compared with the method's.
pub fn find(method: &'static Method) -> Option<&'static InternalCall> {
    let row = find_unchecked(method)?;
    if cfg!(debug_assertions)
        && let Ok(Some(difference)) = row.signature.difference(method)
    {
        saki_base::bug!("internal call {}: {difference}", row.name);
    }
    Some(row)
}

/// The row of an internal call, whose signature is not compared with the method's.
pub fn find_unchecked(method: &'static Method) -> Option<&'static InternalCall> {
    if class_library::disagreement(method).is_some() {
        return None;
    }
    let name = name_of(method);
    let rows = &TABLE.get()?.rows;
    let signature = with_parameters(method);
    signature.and_then(|s| rows.get(s.as_str())).or_else(|| rows.get(name.as_str())).copied()
}

/// The names of the rows of these tables, sorted. Rows that hold for some versions have their mark.
pub fn row_names(tables: &InternalCallTables) -> Vec<&'static str> {
    Table::of(tables).row_names()
}
