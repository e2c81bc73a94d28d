//! The versions of a method's code: which is current, and how all that leads to the code is led from one to another.
//!
//! The states of a version, and the exchange that makes one current, are `code::hand_over`'s.
//!
//! `MethodRuntime::version` is the current version, null before the first. Whoever changes it then leads to what is
//! current: the entry and the direct calls (`code::linked_calls`), the slots of vtables (`vtable_code`). What
//! cannot change while threads execute it, calls that cross a word and pairs of the interface cache, moves in `settle`,
//! for many methods at once. Until then both versions run, which is right as long as both are: they are bodies of one
//! method.
//!
//! Invariant: an address of code is handed only to places that are led on, unless the version lasts (`lasts`); other
//! places get the entry stub. Left out: moving frames that run a replaced version; freeing replaced versions, which
//! take less than half a percent of a program's memory (docs/design/code-generation.md, measurements).

use crate::entries::{entry_of, existing_entry};
use crate::vtable_code;
use saki_base::locks::{Mutex, rank};
use saki_code::hand_over::{self, VersionOfCode, VersionState};
use saki_code::{CodeInfo, CodeKind, MethodEntry};
use saki_thread::StopToken;
use saki_types::{LoadResult, Method, collectible};
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// For what a body is compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// To run soon, and to count towards `Optimised`.
    Counted,
    /// To run as fast as it can.
    Optimised,
    /// To have a frame for each call: nothing is inlined.
    Uninlined,
    /// To tell of each call: nothing is inlined, and other runs cannot use the body.
    Probed,
}

/// One version of a method's code.
pub struct CodeVersion {
    pub body: &'static CodeInfo,
    pub purpose: Purpose,
    /// Whether it stays the method's code for as long as the method lives.
    pub lasts: bool,
    state: VersionState,
}

impl VersionOfCode for CodeVersion {
    fn state(&self) -> &VersionState {
        &self.state
    }
}

/// The methods that have versions which do not last, if versions are replaced in this run.
static REPLACEABLE: OnceLock<Mutex<rank::ReplaceableMethods, Vec<&'static Method>>> = OnceLock::new();

/// Whether there are versions that do not last.
static ARE_REPLACED: AtomicBool = AtomicBool::new(false);

/// Whether methods may have several versions in this run.
pub fn are_replaced() -> bool {
    // Relaxed: set before code is compiled.
    ARE_REPLACED.load(Ordering::Relaxed)
}

/// Has versions of purpose `Counted` not last. To be called before code is compiled.
pub fn prepare_tiers() {
    // Relaxed: no other thread compiles yet.
    ARE_REPLACED.store(true, Ordering::Relaxed);
}

/// Has methods get versions that can be replaced, if they live as long as the process. To be called before code is
/// compiled.
pub fn prepare_replacing() {
    let _ = REPLACEABLE.set(Mutex::default());
    prepare_tiers();
}

/// Whether a method may have more than two versions: earlier ones may become current again.
pub fn may_be_taken_back() -> bool {
    REPLACEABLE.get().is_some()
}

/// How many methods have versions that can be replaced.
pub fn replaceable_count() -> usize {
    REPLACEABLE.get().map_or(0, |methods| methods.lock().len())
}

/// One of these methods, by its number.
pub fn replaceable(number: usize) -> &'static Method {
    match REPLACEABLE.get() {
        Some(methods) => methods.lock()[number],
        None => saki_base::bug!("no method's code is replaced in this run"),
    }
}

/// Whether the method may be freed while the process runs; then it has one version.
pub fn may_end(method: &Method) -> bool {
    method.is_dynamic() || collectible::owner_of(method).is_some()
}

fn lasts(method: &'static Method, body: &CodeInfo, purpose: Purpose) -> bool {
    let is_final = REPLACEABLE.get().is_none() && purpose != Purpose::Counted;
    is_final || may_end(method) || body.kind != CodeKind::Method
}

impl CodeVersion {
    /// A version whose body is placed.
    pub fn new(method: &'static Method, body: &'static CodeInfo, purpose: Purpose) -> Box<CodeVersion> {
        let lasts = lasts(method, body, purpose);
        Box::new(CodeVersion { body, purpose, lasts, state: VersionState::default() })
    }

    /// Whether only frames that run it lead to it.
    pub fn is_retired(&self) -> bool {
        self.state.is_retired()
    }

    /// The address of its code.
    pub fn code(&self) -> usize {
        self.body.start
    }
}

/// The address by which a place that is not led on may call code: the code itself if it lasts, else its method's stub.
pub fn lasting_address(code: usize) -> usize {
    if !are_replaced() {
        return code;
    }
    let body = saki_code::lookup(code).filter(|body| body.start == code);
    // SAFETY: code in the map has its method's address, or null.
    let method = body.and_then(|body| unsafe { body.method.cast::<Method>().as_ref() });
    let is_replaceable = |method: &&Method| current(method).is_some_and(|version| !version.lasts);
    method.filter(is_replaceable).and_then(existing_entry).map_or(code, MethodEntry::stub_address)
}

/// The method's current version.
pub fn current(method: &Method) -> Option<&'static CodeVersion> {
    let version = hand_over::current::<CodeVersion>(&method.runtime.version);
    // SAFETY: null, or made current by `publish` or `replace`; a version lives as long as its method, and here is a
    // reference to that.
    unsafe { version.as_ref() }
}

/// Makes the first version of a method current.
///
/// # Errors
/// `NotSupported` when the code region has no room for an entry. The inner error is the version that another thread
/// made current before, and the one given, to which nothing leads.
pub fn publish(
    method: &'static Method,
    version: Box<CodeVersion>,
) -> LoadResult<Result<&'static CodeVersion, (&'static CodeVersion, Box<CodeVersion>)>> {
    let entry = entry_of(method)?;
    let version: &'static CodeVersion = Box::leak(version);
    let published = hand_over::publish_first(&method.runtime.version, version, || {
        if let Some(methods) = REPLACEABLE.get().filter(|_| !version.lasts) {
            methods.lock().push(method);
        }
        lead(method, entry, version, None);
    });
    Ok(match published {
        Ok(()) => Ok(version),
        Err(earlier) => {
            // SAFETY: not null, since a method that has a version keeps one; it lives as long as the method.
            let earlier: &'static CodeVersion = unsafe { &*earlier };
            // SAFETY: leaked above, and not published.
            Err((earlier, unsafe { Box::from_raw(ptr::from_ref(version).cast_mut()) }))
        }
    })
}

/// Leads entry, calls and slots to the method's current version. `version` has just become current instead of
/// `replaced`.
fn lead(method: &'static Method, entry: MethodEntry, version: &CodeVersion, replaced: Option<&CodeVersion>) {
    if version.lasts {
        // Release: the code was placed before.
        method.runtime.lasting_code.store(version.code(), Ordering::Release);
    }
    entry.lead_to(|| current(method).map(CodeVersion::code));
    vtable_code::lead(method, replaced.map(CodeVersion::code));
}

/// Makes `version` current instead of `replaced`, which the method had. False if another thread was faster, or if
/// `version` is in use or not yet settled. `version` may last, and then the method keeps it.
///
/// # Errors
/// `NotSupported` when the code region has no room for an entry.
pub fn replace(
    method: &'static Method,
    replaced: &'static CodeVersion,
    version: &'static CodeVersion,
) -> LoadResult<bool> {
    assert!(!replaced.lasts, "{} has code that lasts", method.full_name());
    let entry = entry_of(method)?;
    let lead = || lead(method, entry, version, Some(replaced));
    Ok(hand_over::replace(&method.runtime.version, replaced, version, lead))
}

/// A method and a version of it that was replaced.
pub struct Replaced {
    pub method: &'static Method,
    pub version: &'static CodeVersion,
}

/// Leads what can move only now from replaced versions to those that are current, after which only frames that run them
/// lead to them.
pub fn settle(replaced: &[Replaced], _: &StopToken) {
    let successor = |code: usize| {
        let body = saki_code::lookup(code).filter(|body| body.start == code)?;
        // SAFETY: code in the map has its method's address, or null.
        let method = unsafe { body.method.cast::<Method>().as_ref() }?;
        let current = current(method)?;
        (current.code() != code).then(|| current.code())
    };
    for Replaced { method, .. } in replaced {
        if let Some(entry) = existing_entry(method) {
            // SAFETY: the token proves that the world is stopped.
            unsafe { entry.redirect_calls() };
        }
    }
    // SAFETY: the token proves that the world is stopped. Who resolves an interface call reaches no safepoint between
    // the last look at the method's code and the insertion, so no thread is between them.
    unsafe { saki_code::imt_cache_lead(successor) };
    // Threads that go on fetch the changed calls anew. Kernels before 4.16 cannot make them; there the coherent
    // instruction fetch of x86-64 does, and on aarch64 `code::init` refuses to start.
    let _ = saki_os::membarrier::synchronise_cores();
    for Replaced { version, .. } in replaced {
        version.state.retire();
    }
}

/// Frees the version of a method that is freed.
///
/// # Safety
/// The method is dead: nothing asks for its code any more.
pub(crate) unsafe fn free(method: &Method) {
    // Relaxed: no other thread has the method.
    let version = method.runtime.version.swap(ptr::null_mut(), Ordering::Relaxed) as *mut CodeVersion;
    if !version.is_null() {
        // SAFETY: leaked by `publish`; versions that last are the only ones of their method, and others have methods
        // that are never freed alone.
        drop(unsafe { Box::from_raw(version) });
    }
}
