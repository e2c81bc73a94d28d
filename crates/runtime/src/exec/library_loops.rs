//! Methods of the class library whose loops are Rust functions.
//!
//! A row names a method with its whole signature. If its type is one of the core assembly or of its companions (`LibraryProfile::companions`), the function replaces the
//! body, which may be empty: it takes the same arguments, after the `CurrentThread`, and returns the same results. Where the body
//! is faster for few elements, a row says from how many elements on the function is called (`Least`). A function whose row says `may_decline` handles the ordinary
//! cases only and returns `DECLINED` for the others, having written nothing that the body does not write again; then the body runs. So reflection, stack traces of
//! exceptions that a body throws, and the class library's own checks stay as they are.
//!
//! Functions are safe Rust functions, whose types give the kinds of their parameters as those of internal calls do (`crossings`); the kinds are compared with the
//! managed signature. They are called like internal calls: on the managed stack, without a transition. They may poll a safepoint between slices of long work, so that a collection
//! waits for microseconds only; the objects that their arguments point to stay in place meanwhile, since stacks are scanned conservatively.
//!
//! Invariant: a program cannot tell by its results whether the function or the body ran, unless the row says that the function corrects the body (`Row::correcting`); `--no-simd` runs the bodies
//! of the others. A method that a class library
//! lacks is simply not replaced, so the contract has no lines for these methods.

use crate::crossings::{Callable, Kind, Signature};
use crate::method_names;
use rustc_hash::FxHashMap;
use saki_types::{ElementType, LoadResult, Method};
use std::sync::OnceLock;

/// The result of a function that leaves the work to the method's body; a function that returns a reference returns null instead. Ordinary results, which are numbers and
/// positions of elements, never have this value; a function for a method without a result returns 0 when it has done the work.
pub const DECLINED: i32 = saki_il::import::DECLINED;

pub use saki_il::import::{Least, LibraryLoop};

/// One row: see the module header.
pub struct LoopRow {
    /// The method in the contract's form: "static Namespace.Type::Method(Parameters) Result".
    pub signature: &'static str,
    pub(crate) function: *const (),
    /// The kinds of the function.
    passed: Signature,
    pub(crate) kind: LibraryLoop,
}

// SAFETY: `function` is the address of code, which never changes.
unsafe impl Sync for LoopRow {}

impl LoopRow {
    /// The row of a function that does the whole work of the method.
    ///
    /// The compiler inlines a function into its entry if nothing else calls the function. Functions that Rust code calls as well are `#[inline(always)]`.
    pub const fn new<Parts, F: Callable<Parts>>(signature: &'static str, _function: &F) -> LoopRow {
        let kind = LibraryLoop { may_decline: false, least: None, corrects: false };
        LoopRow { signature, function: F::ENTRY, passed: F::SIGNATURE, kind }
    }

    /// The row of a function that may return `DECLINED`, or null.
    pub const fn declining(self) -> LoopRow {
        let can_decline = matches!(self.passed.result, Kind::I32 | Kind::Object | Kind::String | Kind::Array);
        assert!(can_decline, "a function declines by its result, an int32 or a reference");
        LoopRow { kind: LibraryLoop { may_decline: true, ..self.kind }, ..self }
    }

    /// The row of a function that runs although its results differ from the body's, since .NET's do.
    pub const fn correcting(self) -> LoopRow {
        LoopRow { kind: LibraryLoop { corrects: true, ..self.kind }, ..self }
    }

    /// The row for calls with at least that many elements.
    pub const fn from_least(self, least: Least) -> LoopRow {
        let is_number = matches!(self.passed.params[least.argument as usize], Kind::I32 | Kind::I64);
        assert!(is_number, "the argument holds the number of elements");
        LoopRow { kind: LibraryLoop { least: Some(least), ..self.kind }, ..self }
    }

    /// The first difference of the function's kinds from the managed signature of `method`; None where they agree.
    ///
    /// # Errors
    /// The errors of the method's signature.
    pub fn difference(&self, method: &'static Method) -> LoadResult<Option<String>> {
        let mut passed = self.passed;
        let is_void = method.sig()?.ret.element_type == ElementType::Void;
        // Such a function only says whether it has done the work.
        if self.kind.may_decline && is_void && passed.result == Kind::I32 {
            passed.result = Kind::Void;
        }
        passed.difference(method)
    }
}

type Rows = FxHashMap<(&'static str, &'static str), Vec<&'static LoopRow>>;

static ROWS: OnceLock<Rows> = OnceLock::new();

/// Name of the type, without its namespace, and of the method.
fn names(signature: &'static str) -> Option<(&'static str, &'static str)> {
    let (owner, rest) = signature.split_once("::")?;
    let (_, type_name) = owner.rsplit_once('.')?;
    Some((type_name, rest.split_once('(')?.0))
}

/// Makes the table of the machine, before managed code runs.
pub(crate) fn set_table(tables: &[&'static [LoopRow]]) {
    let mut rows = Rows::default();
    for row in tables.iter().copied().flatten() {
        let Some(names) = names(row.signature) else { saki_base::bug!("library loop {}", row.signature) };
        rows.entry(names).or_default().push(row);
    }
    let _ = ROWS.set(rows);
}

/// The row of a method. In debug builds its kinds were compared with the method's signature.
pub(crate) fn find(method: &'static Method) -> Option<&'static LoopRow> {
    let row = find_unchecked(method)?;
    if cfg!(debug_assertions)
        && let Ok(Some(difference)) = row.difference(method)
    {
        saki_base::bug!("library loop {}: {difference}", row.signature);
    }
    Some(row)
}

/// The row of a method, whose kinds are not compared with the method's signature.
pub fn find_unchecked(method: &'static Method) -> Option<&'static LoopRow> {
    let candidates = ROWS.get()?.get(&(method.owner.def()?.name, method.name))?;
    if !method.owner.is_of_class_libraries() {
        return None;
    }
    let signature = method_names::signature_of(method)?;
    // The rows of all class libraries lie in one table: a row for speed was compared with another library's body than
    // that which a correcting row replaces.
    candidates.iter().filter(|row| row.signature == signature).max_by_key(|row| row.kind.corrects).copied()
}

/// The kind of the function that replaces a method's body, for the importer.
pub(crate) fn kind(method: &'static Method) -> Option<LibraryLoop> {
    find(method).map(|row| row.kind)
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn a_signature_has_a_type_and_a_method() {
        let signature = "static System.Text.UTF8Encoding::PtrDiff(System.Byte*,System.Byte*) System.Int32";
        assert_eq!(names(signature), Some(("UTF8Encoding", "PtrDiff")));
        assert_eq!(names("nothing"), None);
    }
}
