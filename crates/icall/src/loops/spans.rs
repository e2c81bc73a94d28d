//! Spans as parameters, and their elements.

/// `Span<T>` or `ReadOnlySpan<T>` of mscorlib.
#[repr(C)]
pub(super) struct Span<T> {
    start: *mut T,
    length: i32,
}

saki_runtime::address_parameters! {
    /// Structs pass by the address of the caller's copy, and a struct's `this` by that of the caller's variable. Spans
    /// are on stacks only, so no other thread writes to them.
    ['t, T] &'t Span<T>;
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
    pub(super) fn elements(&self) -> Option<&[T]> {
        if self.count() == 0 {
            return Some(&[]);
        }
        // SAFETY: only managed code makes spans; their elements can be read as long as the span is there, and the
        // address was checked. Rust code that writes to them has called `first_mut`. If other threads write to the
        // elements meanwhile, the result is arbitrary.
        self.is_usable().then(|| unsafe { std::slice::from_raw_parts(self.start, self.count()) })
    }

    /// The first `count` elements, if there are so many.
    ///
    /// # Safety
    /// No other Rust reference leads to these elements as long as the result is used.
    pub(super) unsafe fn first_mut<'a>(&self, count: usize) -> Option<&'a mut [T]> {
        if count == 0 {
            return Some(&mut []);
        }
        // SAFETY: only managed code makes spans; the first `count` elements are there, the address was checked, and no
        // other reference to them is in use.
        (self.is_usable() && count <= self.count())
            .then(|| unsafe { std::slice::from_raw_parts_mut(self.start, count) })
    }
}

/// Whether two ranges of memory, which begin at these addresses and have these lengths in bytes, have a byte in common.
pub(super) fn overlap<S, T>(a: *const S, a_bytes: usize, b: *const T, b_bytes: usize) -> bool {
    let (a, b) = (a as usize, b as usize);
    a < b + b_bytes && b < a + a_bytes
}
