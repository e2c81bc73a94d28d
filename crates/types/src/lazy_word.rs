//! `LazyRef`: a compute-once cell of one word, for facts that are references. There are several in each record of a
//! type, one in each of a method or field, and programs the size of a compiler have a hundred thousand records.
//!
//! | word | meaning | who changes it |
//! |---|---|---|
//! | 0 | not computed | initial; `get`, from 2, after a failure that proves nothing |
//! | 2 | being computed | `get`, from 0, Relaxed: only holders of the loader lock draw conclusions |
//! | reference, or `NONE` | the fact | `get`, from 2; `find`, from 0; AcqRel, pairs with Acquire of readers |
//! | address of an error, + 1 | the fact is known to fail | likewise |
//!
//! A cell is filled by `get` alone or by `find` alone. See `lazy` for the rules.

use crate::error::{LoadError, LoadResult};
use crate::lazy::{loader_lock, proves_something};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicUsize, Ordering};

const ABSENT: usize = 0;
const COMPUTING: usize = 2;
/// Tag of the address of an error, which is a leaked box.
const ERROR: usize = 1;
/// The word of `None`: no address, and no other word of a cell.
const NONE: usize = 8;

/// A fact that is one word.
///
/// # Safety
/// The word is a multiple of 4 and not zero; `from_word` of a value's word is the value.
pub unsafe trait Word: Copy {
    fn into_word(self) -> usize;
    /// # Safety
    /// The word is that of a value.
    unsafe fn from_word(word: usize) -> Self;
}

// SAFETY: the alignment is checked, and references are not null.
unsafe impl<T> Word for &'static T {
    fn into_word(self) -> usize {
        const { assert!(align_of::<T>() >= 4) };
        std::ptr::from_ref(self).expose_provenance()
    }

    unsafe fn from_word(word: usize) -> Self {
        // SAFETY: the word is that of a `&'static T` (contract).
        unsafe { &*std::ptr::with_exposed_provenance(word) }
    }
}

// SAFETY: the word of a reference is aligned and not zero; no record lies at the address `NONE`, in the first page.
unsafe impl<T> Word for Option<&'static T> {
    fn into_word(self) -> usize {
        self.map_or(NONE, Word::into_word)
    }

    unsafe fn from_word(word: usize) -> Self {
        // SAFETY: the word is that of a `&'static T`, if it is not that of `None` (contract).
        (word != NONE).then(|| unsafe { Word::from_word(word) })
    }
}

/// See the module header.
pub struct LazyRef<T: Word> {
    word: AtomicUsize,
    value: PhantomData<T>,
}

impl<T: Word> Default for LazyRef<T> {
    fn default() -> Self {
        LazyRef { word: AtomicUsize::new(ABSENT), value: PhantomData }
    }
}

impl<T: Word> From<T> for LazyRef<T> {
    /// A cell whose fact is known.
    fn from(value: T) -> Self {
        LazyRef { word: AtomicUsize::new(value.into_word()), value: PhantomData }
    }
}

impl<T: Word> LazyRef<T> {
    /// What the word means, if the fact has been computed.
    fn known(word: usize) -> Option<LoadResult<T>> {
        match word {
            ABSENT | COMPUTING => None,
            word if word & ERROR != 0 => {
                let error: *const LoadError = std::ptr::with_exposed_provenance(word - ERROR);
                // SAFETY: a box that `word_of` has leaked, which is freed with the cell.
                Some(Err(LoadError::clone(unsafe { &*error })))
            }
            // SAFETY: stored by `word_of`.
            word => Some(Ok(unsafe { T::from_word(word) })),
        }
    }

    fn word_of(computed: LoadResult<T>) -> usize {
        match computed {
            Ok(value) => value.into_word(),
            Err(error) => Box::into_raw(Box::new(error)).expose_provenance() | ERROR,
        }
    }

    /// Stores a computed fact; the one that stays.
    fn store(&self, from: usize, computed: LoadResult<T>) -> LoadResult<T> {
        let word = Self::word_of(computed);
        // AcqRel: see the table.
        let stays = match self.word.compare_exchange(from, word, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => word,
            Err(earlier) => {
                // SAFETY: made above, and not stored.
                unsafe { free(word) };
                earlier
            }
        };
        match Self::known(stays) {
            Some(known) => known,
            None => saki_base::bug!("a fact is computed in two ways"),
        }
    }

    /// The value, computed by `compute` under the loader lock on first use.
    ///
    /// # Errors
    /// The error that `compute` returned the first time; `TypeLoad` when `compute` needs this very fact.
    pub fn get(&self, what: &dyn Fn() -> String, compute: impl FnOnce() -> LoadResult<T>) -> LoadResult<T> {
        // Acquire: see the table.
        if let Some(known) = Self::known(self.word.load(Ordering::Acquire)) {
            return known;
        }
        let _lock = loader_lock();
        // Acquire: another holder of the lock may have stored it.
        match self.word.load(Ordering::Acquire) {
            ABSENT => {}
            COMPUTING => {
                let subject = what();
                return Err(LoadError::type_load(format!("Recursive type definition detected {subject}"), subject));
            }
            word => return Self::known(word).expect("neither absent nor being computed"),
        }
        // Relaxed: see the table.
        self.word.store(COMPUTING, Ordering::Relaxed);
        let computed = compute();
        if computed.as_ref().is_err_and(|error| !proves_something(error)) {
            // Relaxed: see the table.
            self.word.store(ABSENT, Ordering::Relaxed);
            return computed;
        }
        self.store(COMPUTING, computed)
    }

    /// The value, computed by `compute` on first use, without the loader lock: `compute` does not need this fact, and
    /// does nothing but make the result. If several threads compute it, the first result stays.
    ///
    /// # Errors
    /// The error that stays.
    pub fn find(&self, compute: impl FnOnce() -> LoadResult<T>) -> LoadResult<T> {
        // Acquire: see the table.
        if let Some(known) = Self::known(self.word.load(Ordering::Acquire)) {
            return known;
        }
        let computed = compute();
        if computed.as_ref().is_err_and(|error| !proves_something(error)) {
            return computed;
        }
        self.store(ABSENT, computed)
    }

    /// The value, if it has been computed successfully.
    pub fn get_if_ready(&self) -> Option<T> {
        // Acquire: see the table.
        Self::known(self.word.load(Ordering::Acquire))?.ok()
    }
}

/// Frees the error that a word may stand for.
///
/// # Safety
/// The word is that of a cell or of `word_of`, and nothing reads it any more.
unsafe fn free(word: usize) {
    if word & ERROR != 0 {
        let error: *mut LoadError = std::ptr::with_exposed_provenance_mut(word - ERROR);
        // SAFETY: a box that `word_of` has leaked; nothing reads it any more (contract).
        drop(unsafe { Box::from_raw(error) });
    }
}

impl<T: Word> Drop for LazyRef<T> {
    fn drop(&mut self) {
        // SAFETY: the cell is gone.
        unsafe { free(*self.word.get_mut()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::LoadErrorKind;

    #[derive(Debug, PartialEq)]
    struct Fact(u32);

    static ONE: Fact = Fact(1);
    static TWO: Fact = Fact(2);

    fn failure(kind: LoadErrorKind) -> LoadError {
        LoadError::new(kind, "it fails", "Fact")
    }

    #[test]
    fn a_fact_is_computed_once() {
        let cell: LazyRef<&'static Fact> = LazyRef::default();
        assert_eq!(cell.get_if_ready(), None);
        assert_eq!(cell.get(&String::new, || Ok(&ONE)).unwrap(), &ONE);
        assert_eq!(cell.get(&String::new, || Ok(&TWO)).unwrap(), &ONE);
        assert_eq!(cell.get_if_ready(), Some(&ONE));
        let cell: LazyRef<Option<&'static Fact>> = LazyRef::default();
        assert_eq!(cell.find(|| Ok(None)).unwrap(), None);
        assert_eq!(cell.find(|| Ok(Some(&ONE))).unwrap(), None);
        assert_eq!(cell.get_if_ready(), Some(None));
    }

    #[test]
    fn a_failure_is_remembered_unless_it_proves_nothing() {
        let cell: LazyRef<&'static Fact> = LazyRef::default();
        assert_eq!(
            cell.get(&String::new, || Err(failure(LoadErrorKind::UnfinishedType))).unwrap_err().kind,
            LoadErrorKind::UnfinishedType
        );
        assert_eq!(
            cell.get(&String::new, || Err(failure(LoadErrorKind::TypeLoad))).unwrap_err().kind,
            LoadErrorKind::TypeLoad
        );
        assert_eq!(cell.get(&String::new, || Ok(&ONE)).unwrap_err().kind, LoadErrorKind::TypeLoad);
        assert_eq!(cell.get_if_ready(), None);
    }

    #[test]
    fn a_fact_that_needs_itself_is_an_error() {
        let cell: LazyRef<&'static Fact> = LazyRef::default();
        let name = || "Fact".to_owned();
        let result = cell.get(&name, || cell.get(&name, || Ok(&ONE)));
        assert!(result.unwrap_err().to_string().contains("Recursive"), "the inner question has no answer");
        assert!(cell.get(&name, || Ok(&ONE)).is_err(), "and the outer one keeps its error");
    }

    #[test]
    fn the_first_of_several_threads_decides() {
        let cell: LazyRef<&'static Fact> = LazyRef::default();
        let found = cell.find(|| {
            assert_eq!(cell.find(|| Ok(&TWO)).unwrap(), &TWO);
            Ok(&ONE)
        });
        assert_eq!(found.unwrap(), &TWO);
    }
}
