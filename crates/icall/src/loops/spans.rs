//! Spans as parameters: they are passed by address, like all structs of internal calls.

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

    /// Whether the start is not null and aligned for a `T`.
    pub(super) fn is_usable(&self) -> bool {
        !self.start.is_null() && self.start.is_aligned()
    }

    /// The elements; None if the span is not usable.
    ///
    /// # Safety
    /// Managed code passed the span, and no Rust code writes to its elements meanwhile.
    pub(super) unsafe fn elements<'a>(&self) -> Option<&'a [T]> {
        if self.count() == 0 {
            return Some(&[]);
        }
        // SAFETY: a span's elements can be read, and the address was checked. If other threads write to the elements meanwhile, the result is arbitrary.
        self.is_usable().then(|| unsafe { std::slice::from_raw_parts(self.start, self.count()) })
    }

    /// The first `count` elements, if there are so many.
    ///
    /// # Safety
    /// As for `elements`; no other Rust reference leads to these elements.
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
