//! Typed 32-bit ids and the vectors they index.
//!
//! Invariant: an id made by one `IdVec<I, T>` cannot index a vector of another id type. Left out: generations, free
//! lists.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A typed index; made with `define_id!`.
pub trait Id: Copy + Eq {
    fn from_index(index: usize) -> Self;
    fn index(self) -> usize;
}

/// Defines a `u32` newtype that implements [`Id`]: `define_id!(/// A frame. pub FrameId);`
#[macro_export]
macro_rules! define_id {
    ($(#[$meta:meta])* $vis:vis $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        $vis struct $name(pub u32);

        impl $crate::id::Id for $name {
            fn from_index(index: usize) -> Self {
                assert!(index <= u32::MAX as usize, "too many ids");
                $name(index as u32)
            }
            fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

/// A vector indexed by a typed id.
#[derive(Clone, Debug)]
pub struct IdVec<I, T> {
    items: Vec<T>,
    marker: PhantomData<fn(I)>,
}

impl<I: Id, T> Default for IdVec<I, T> {
    fn default() -> Self {
        IdVec { items: Vec::new(), marker: PhantomData }
    }
}

impl<I: Id, T> IdVec<I, T> {
    /// An empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends an item; its id.
    pub fn push(&mut self, item: T) -> I {
        self.items.push(item);
        I::from_index(self.items.len() - 1)
    }

    /// The item of the id; None if the list has no such item.
    pub fn get(&self, id: I) -> Option<&T> {
        self.items.get(id.index())
    }

    /// The number of items.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The items with their ids, in the order of the ids.
    pub fn iter(&self) -> impl Iterator<Item = (I, &T)> {
        self.items.iter().enumerate().map(|(i, item)| (I::from_index(i), item))
    }

    /// The items in the order of their ids.
    pub fn as_slice(&self) -> &[T] {
        &self.items
    }
}

impl<I: Id, T> Index<I> for IdVec<I, T> {
    type Output = T;
    fn index(&self, id: I) -> &T {
        &self.items[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for IdVec<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.items[id.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    define_id!(pub TestId);

    #[test]
    fn ids_index_what_they_name() {
        let mut names = IdVec::<TestId, &str>::new();
        let a = names.push("a");
        let b = names.push("b");
        assert_eq!((names[a], names[b], names.len()), ("a", "b", 2));
    }
}
