//! Memory that lives as long as the process (types, methods, names): leaking helpers and a bump arena.
//!
//! Invariant: memory from an arena never moves and is never freed before the arena; values with destructors are
//! refused at compile time in `Arena::alloc`. Left out: per-domain arenas that give memory back.

use std::cell::{Cell, RefCell};
use std::mem::{align_of, needs_drop, size_of};

/// First chunk's size; each further chunk doubles up to `MAX_CHUNK_BYTES`.
const FIRST_CHUNK_BYTES: usize = 4 << 10;
const MAX_CHUNK_BYTES: usize = 1 << 20;

/// Leaks one value.
pub fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// Leaks a vector as a slice, without its spare capacity.
pub fn leak_slice<T>(values: Vec<T>) -> &'static [T] {
    Box::leak(values.into_boxed_slice())
}

/// Leaks a copy of a string.
pub fn leak_str(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

/// A bump arena for values without destructors; references live as long as the arena.
#[derive(Default)]
pub struct Arena {
    next: Cell<usize>,
    end: Cell<usize>,
    chunks: RefCell<Vec<Box<[u64]>>>,
    used_bytes: Cell<usize>,
}

impl Arena {
    /// An empty arena, which has no memory yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stores a value.
    pub fn alloc<T>(&self, value: T) -> &T {
        const { assert!(!needs_drop::<T>(), "the arena does not run destructors") };
        let place = self.bump(size_of::<T>(), align_of::<T>()) as *mut T;
        // SAFETY: `bump` returned fresh, aligned memory of at least `size_of::<T>()` bytes owned by this arena.
        unsafe { place.write(value) };
        // SAFETY: just initialised, and changed by nobody.
        unsafe { &*place }
    }

    /// Copies a slice.
    pub fn alloc_slice<T: Copy>(&self, values: &[T]) -> &[T] {
        let place = self.bump(size_of_val(values), align_of::<T>()) as *mut T;
        // SAFETY: `bump` returned fresh memory for `values.len()` elements, which cannot overlap `values`.
        unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), place, values.len()) };
        // SAFETY: just initialised, and changed by nobody.
        unsafe { std::slice::from_raw_parts(place, values.len()) }
    }

    /// Copies a string.
    pub fn alloc_str(&self, text: &str) -> &str {
        let bytes = self.alloc_slice(text.as_bytes());
        // SAFETY: a copy of valid UTF-8.
        unsafe { std::str::from_utf8_unchecked(bytes) }
    }

    /// Bytes handed out so far, without alignment gaps.
    pub fn used_bytes(&self) -> usize {
        self.used_bytes.get()
    }

    fn bump(&self, size_bytes: usize, align_bytes: usize) -> *mut u8 {
        assert!(align_bytes <= align_of::<u64>(), "the arena aligns to 8 bytes at most");
        self.used_bytes.set(self.used_bytes.get() + size_bytes);
        let start = self.next.get().next_multiple_of(align_bytes);
        if start != 0 && start + size_bytes <= self.end.get() {
            self.next.set(start + size_bytes);
            return start as *mut u8;
        }
        let mut chunks = self.chunks.borrow_mut();
        let doubled = FIRST_CHUNK_BYTES << chunks.len().min(8);
        let chunk_bytes = doubled.min(MAX_CHUNK_BYTES).max(size_bytes.next_multiple_of(8));
        let mut chunk = vec![0u64; chunk_bytes / 8].into_boxed_slice();
        let start = chunk.as_mut_ptr() as usize;
        chunks.push(chunk);
        self.next.set(start + size_bytes);
        self.end.set(start + chunk_bytes);
        start as *mut u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_place_and_content() {
        let arena = Arena::new();
        let kept: Vec<&u64> = (0..10_000u64).map(|i| arena.alloc(i)).collect();
        let text = arena.alloc_str("gruß");
        let big = arena.alloc_slice(&[7u8; 3 << 20]);
        assert!(kept.iter().enumerate().all(|(i, v)| **v == i as u64));
        assert_eq!(text, "gruß");
        assert!(big.iter().all(|b| *b == 7));
        assert!(arena.alloc_slice::<u32>(&[]).is_empty());
    }
}
