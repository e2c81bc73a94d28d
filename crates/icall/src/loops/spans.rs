//! Spans as functions get them: by address, as internal calls get structs.

/// `Span<T>` or `ReadOnlySpan<T>` of mscorlib.
#[repr(C)]
pub(super) struct Span<T> {
    start: *mut T,
    length: i32,
}

impl<T> Span<T> {
    pub(super) fn count(&self) -> usize {
        usize::try_from(self.length).unwrap_or(0)
    }

    pub(super) fn start(&self) -> *mut T {
        self.start
    }

    /// Whether its start is an address where a `T` can be.
    pub(super) fn is_usable(&self) -> bool {
        !self.start.is_null() && self.start.is_aligned()
    }

    /// The elements; None if they are at addresses where no `T` can be.
    ///
    /// # Safety
    /// The span is one of managed code's, and nothing writes through another reference of Rust's meanwhile.
    pub(super) unsafe fn elements<'a>(&self) -> Option<&'a [T]> {
        if self.count() == 0 {
            return Some(&[]);
        }
        // SAFETY: a span's elements are there, and the address was checked. Other threads may write to them meanwhile; then the result is any.
        self.is_usable().then(|| unsafe { std::slice::from_raw_parts(self.start, self.count()) })
    }

    /// The first `count` elements, if there are so many.
    ///
    /// # Safety
    /// As for `elements`; nothing else in Rust refers to these elements.
    pub(super) unsafe fn first_mut<'a>(&self, count: usize) -> Option<&'a mut [T]> {
        if count == 0 {
            return Some(&mut []);
        }
        // SAFETY: as in `elements`.
        (self.is_usable() && count <= self.count())
            .then(|| unsafe { std::slice::from_raw_parts_mut(self.start, count) })
    }
}

/// Whether two ranges of memory, which begin at these addresses and have these lengths in bytes, have a byte in common.
pub(super) fn overlap<S, T>(a: *const S, a_bytes: usize, b: *const T, b_bytes: usize) -> bool {
    let (a, b) = (a as usize, b as usize);
    a < b + b_bytes && b < a + a_bytes
}
