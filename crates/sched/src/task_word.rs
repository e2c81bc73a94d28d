//! The elements of queues: words that are not zero.
//!
//! Invariant: a word goes in and comes out unchanged, once. Left out: the lifetime of the object that the word points
//! to, which the scheduler knows.

use std::num::NonZeroUsize;
use std::ptr::NonNull;

/// A task as a word.
///
/// # Safety
/// `from_word` undoes `into_word`.
pub unsafe trait TaskWord: Copy {
    fn into_word(self) -> NonZeroUsize;

    /// # Safety
    /// The word came from `into_word` of the same type.
    unsafe fn from_word(word: NonZeroUsize) -> Self;
}

// SAFETY: both are the identity.
unsafe impl TaskWord for NonZeroUsize {
    fn into_word(self) -> NonZeroUsize {
        self
    }

    unsafe fn from_word(word: NonZeroUsize) -> Self {
        word
    }
}

// SAFETY: an address is exposed and made a pointer of again.
unsafe impl<T> TaskWord for NonNull<T> {
    fn into_word(self) -> NonZeroUsize {
        self.expose_provenance()
    }

    unsafe fn from_word(word: NonZeroUsize) -> Self {
        NonNull::with_exposed_provenance(word)
    }
}

// SAFETY: the word is the address of the referent, out of which the same reference is made again; it is static.
unsafe impl<T> TaskWord for &'static T {
    fn into_word(self) -> NonZeroUsize {
        NonNull::from(self).into_word()
    }

    unsafe fn from_word(word: NonZeroUsize) -> Self {
        // SAFETY: the word is the address of a `&'static T`: `into_word` of this type makes no other.
        unsafe { NonNull::from_word(word).as_ref() }
    }
}

/// A task out of a word of a queue; `None` for 0.
///
/// # Safety
/// The word is 0 or came from `into_word` of the same type.
#[inline(always)]
pub(crate) unsafe fn task_of<T: TaskWord>(word: usize) -> Option<T> {
    // SAFETY: a word that is not 0 came from `into_word` of the same type, which this function demands.
    NonZeroUsize::new(word).map(|word| unsafe { T::from_word(word) })
}

/// A task for models, which is never freed.
#[cfg(all(test, loom))]
pub(crate) fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}
