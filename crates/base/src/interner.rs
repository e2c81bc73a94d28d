//! Interned strings: equal text has one `Symbol`, compared and hashed as an integer.
//!
//! Invariant: a symbol is valid for as long as the process; its text never moves. Left out: the managed string pool.

use crate::arena::leak_str;
use crate::locks::{RwLock, rank};
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// An interned string. 0 is the empty string.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Symbol(u32);

#[derive(Default)]
struct Tables {
    by_text: FxHashMap<&'static str, Symbol>,
    texts: Vec<&'static str>,
}

/// A table of interned strings, usable from many threads.
pub struct Interner {
    tables: RwLock<rank::Symbols, Tables>,
}

impl Default for Interner {
    fn default() -> Self {
        let mut tables = Tables::default();
        tables.texts.push("");
        tables.by_text.insert("", Symbol(0));
        Interner { tables: RwLock::new(tables) }
    }
}

impl Interner {
    /// An interner that knows the empty text only.
    pub fn new() -> Self {
        Self::default()
    }

    /// The process-wide table that `Symbol::new` and `Symbol::as_str` use.
    pub fn global() -> &'static Interner {
        static GLOBAL: OnceLock<Interner> = OnceLock::new();
        GLOBAL.get_or_init(Interner::new)
    }

    /// The symbol of this text, made if there is none.
    pub fn intern(&self, text: &str) -> Symbol {
        if let Some(symbol) = self.lookup(text) {
            return symbol;
        }
        let mut tables = self.tables.write();
        if let Some(symbol) = tables.by_text.get(text) {
            return *symbol;
        }
        let symbol = Symbol(tables.texts.len() as u32);
        let text = leak_str(text);
        tables.texts.push(text);
        tables.by_text.insert(text, symbol);
        symbol
    }

    /// The symbol of this text if it was interned before.
    pub fn lookup(&self, text: &str) -> Option<Symbol> {
        self.tables.read().by_text.get(text).copied()
    }

    /// The text of a symbol of this table.
    pub fn resolve(&self, symbol: Symbol) -> &'static str {
        match self.tables.read().texts.get(symbol.0 as usize) {
            Some(text) => text,
            None => crate::bug!("symbol {} is of another interner", symbol.0),
        }
    }
}

impl Symbol {
    /// The empty text, which every interner knows.
    pub const EMPTY: Symbol = Symbol(0);

    /// Interns in the process-wide table.
    pub fn new(text: &str) -> Symbol {
        Interner::global().intern(text)
    }

    /// The text, from the process-wide table.
    pub fn as_str(self) -> &'static str {
        Interner::global().resolve(self)
    }

    /// The symbol's number in its interner, from 0 without gaps.
    pub fn index(self) -> u32 {
        self.0
    }
}

impl std::fmt::Debug for Symbol {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Symbol({}, {:?})", self.0, self.as_str())
    }
}

impl std::fmt::Display for Symbol {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_text_is_one_symbol() {
        assert_eq!(Symbol::new("System"), Symbol::new("System"));
        assert_ne!(Symbol::new("System"), Symbol::new("system"));
        assert_eq!(Symbol::new("System").as_str(), "System");
        assert_eq!(Symbol::new(""), Symbol::EMPTY);
        assert_eq!(Interner::new().lookup("nothing"), None);
    }
}
