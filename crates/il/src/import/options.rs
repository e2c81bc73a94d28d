//! What the user of the importer decides.

/// Options of an import.
#[derive(Clone, Copy, Debug)]
pub struct ImportOptions {
    pub inline: bool,
    pub eliminate_bounds_checks: bool,
    /// Safepoints at method entries and back edges.
    pub emit_polls: bool,
    /// Keep struct and address-exposed locals in variables where possible.
    pub promote_locals: bool,
    /// Allocate each object that the program makes, since a profiler is told of all.
    pub keep_allocations: bool,
    /// Import operations of vector types in line, by the processor's vector instructions.
    pub vectors: bool,
    /// Count calls and rounds of loops.
    pub count: bool,
    /// Note what is decided about calls and loops (`Function::decisions`).
    pub explain: bool,
}

impl Default for ImportOptions {
    fn default() -> Self {
        ImportOptions {
            inline: true,
            eliminate_bounds_checks: true,
            emit_polls: true,
            promote_locals: true,
            keep_allocations: false,
            vectors: true,
            count: false,
            explain: false,
        }
    }
}

/// The place at which a frame of the method is to be continued by a function of its own.
#[derive(Clone, Copy, Debug)]
pub struct Continuation<'a> {
    /// The loop's beginning, as an `Op::CountLoop` names it.
    pub il_offset: u32,
    /// Where the frame keeps the variables (`saki_abi::FrameMap`).
    pub slots: &'a [i32],
    /// Whether the method makes pointers of byrefs.
    pub makes_pointers: bool,
}

/// Returned by a function of a `LibraryLoop` to decline, if its result is not a reference.
pub const DECLINED: i32 = i32::MIN;

/// The least number of elements for which calling the function pays: for fewer, the method's CIL is faster.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Least {
    /// Index of the argument with the number of elements, `this` counted.
    pub argument: u32,
    pub count: u32,
}

/// How a Rust function replaces a method of the class library (`library_loops`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LibraryLoop {
    /// The function may decline, by returning `DECLINED`, or null (neither of which the method itself ever returns);
    /// then the body runs. If the method has no result, such a function returns an int32.
    pub may_decline: bool,
    pub least: Option<Least>,
    /// The function is not there for its speed: it does as .NET does where the body does not, so it also runs without
    /// vectors.
    pub corrects: bool,
}

impl LibraryLoop {
    /// Whether the function always does all of the method's work.
    pub fn is_whole(self) -> bool {
        !self.may_decline && self.least.is_none()
    }
}
