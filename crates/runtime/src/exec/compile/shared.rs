//! One body of the first tier for all instantiations of a method that differ in reference types alone.
//!
//! The body is compiled from the method's shared form (`types::stand_ins`). For each instantiation it is copied: what
//! it names is put in terms of the exact method, and then it is linked and placed like any body. So walks, traces,
//! counters and tables know exact methods alone, and the code has no look-ups; an instantiation costs no import and
//! no code generation.
//!
//! | form | meaning | who moves it on |
//! |---|---|---|
//! | absent | no instantiation was compiled | the first one, compiled by itself: most forms have no second |
//! | `Once` | one was | the second one, which compiles the shared form, as other threads may do meanwhile |
//! | `Shared` | the body | – |
//! | `Exact` | the shared form has no body that counts and loads | – |
//!
//! Left out, and compiled each by itself: methods that may end before the process, and those with arguments that are
//! made at run time; bodies that call static members of a type parameter; bodies of the second tier, which knows more
//! of an exact type. An instantiation that cannot be linked is compiled by itself, too, for the error at the right
//! place.

use super::facts::MachineFacts;
use super::job::CompileJob;
use super::statistics::Stopwatch;
use super::{compiler, execute, link, note_installed};
use crate::code_cache::{self, Identity};
use crate::library_loops;
use crate::object::versions::{self, Purpose};
use crate::thread::{CurrentThread, Managed};
use rustc_hash::FxHashMap;
use saki_base::locks::{Mutex, rank};
use saki_code::{CodeInfo, CodeKind};
use saki_il::ir::{ClauseKind, Symbol};
use saki_jit::{CompiledBy, CompiledCode, RelocTarget, Tiers};
use saki_types::stand_ins::{Instantiation, require_loadable};
use saki_types::{Image, LoadResult, Method, Ty};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bodies of shared forms, and the copies made of them.
pub static SHARED_BODIES: AtomicU64 = AtomicU64::new(0);
pub static SHARED_COPIES: AtomicU64 = AtomicU64::new(0);

struct SharedBody {
    code: CompiledCode,
    kind: CodeKind,
}

/// See the module header.
#[derive(Clone)]
enum Form {
    Once,
    Shared(Arc<SharedBody>),
    Exact,
}

/// Image and row of the method, and the arguments; None for those that are reference types.
type FormKey = (usize, u32, Vec<Option<Ty>>);

static FORMS: Mutex<rank::SharedForms, Option<FxHashMap<FormKey, Form>>> = Mutex::new(None);

fn key_of(method: &'static Method) -> Option<FormKey> {
    let arguments = method.owner.args.iter().chain(method.generic_args());
    let arguments = arguments.map(|&arg| (!arg.is_reference_type()).then_some(arg)).collect();
    Some((std::ptr::from_ref(method.image()).addr(), method.rid()?, arguments))
}

/// Whether the methods with this form may share a body of this purpose.
pub(super) fn may_share(method: &'static Method, purpose: Purpose) -> bool {
    let is_first_tier =
        purpose == Purpose::Counted || (purpose == Purpose::Optimised && compiler().options().tiers == Tiers::First);
    is_first_tier
        && method.has_reference_argument()
        && !versions::may_end(method)
        && matches!(method.body(), Ok(Some(_)))
        && library_loops::kind(method).is_none()
        && images_of(method).all(|image| image.is_manifest_of_file())
}

fn images_of(method: &'static Method) -> impl Iterator<Item = &'static Image> {
    let arguments = method.owner.args.iter().chain(method.generic_args());
    std::iter::once(method.image()).chain(arguments.map(|arg| arg.image()))
}

/// Places a copy of the method's shared body. None: the method is to be compiled by itself.
///
/// # Errors
/// Those of making what the code names.
pub(super) fn place_copy(
    t: CurrentThread,
    method: &'static Method,
    purpose: Purpose,
) -> Managed<Option<&'static CodeInfo>> {
    if !may_share(method, purpose) {
        return Ok(None);
    }
    let Some(key) = key_of(method) else { return Ok(None) };
    let known = FORMS.lock().get_or_insert_default().get(&key).cloned();
    let shared = match known {
        None => {
            FORMS.lock().get_or_insert_default().entry(key).or_insert(Form::Once);
            return Ok(None);
        }
        Some(Form::Exact) => return Ok(None),
        Some(Form::Shared(shared)) => shared,
        Some(Form::Once) => {
            let made = compile(t, method, purpose).map(Arc::new);
            let form = made.clone().map_or(Form::Exact, Form::Shared);
            FORMS.lock().get_or_insert_default().insert(key, form);
            let Some(shared) = made else { return Ok(None) };
            // Relaxed: a counter.
            SHARED_BODIES.fetch_add(1, Ordering::Relaxed);
            shared
        }
    };
    let placing = Stopwatch::start();
    let Ok(code) = copy(&shared.code, &Instantiation::of(method)) else { return Ok(None) };
    let cells = link::fill(t, &code)?;
    // A failure: compiled by itself, the method throws it where it belongs.
    let Ok(info) = link::place(code, shared.kind, std::ptr::from_ref(method).cast(), &cells) else { return Ok(None) };
    // Relaxed: a counter.
    SHARED_COPIES.fetch_add(1, Ordering::Relaxed);
    note_installed(info, true, &placing);
    Ok(Some(info))
}

/// The body of the method's shared form.
fn compile(t: CurrentThread, method: &'static Method, purpose: Purpose) -> Option<SharedBody> {
    let form = method.shared_form().ok()?;
    let slot = code_cache::slot(Identity::Shared(method));
    let facts = if slot.is_some() { MachineFacts::recording(None) } else { MachineFacts::default() };
    let mut job = CompileJob::new(form, purpose, compiler(), &facts);
    let body = execute(t, &mut job, |job| job.execute()).ok()?;
    if !body.deferred_errors.is_empty() || body.code.compiled_by != CompiledBy::Baseline {
        return None;
    }
    super::keep(slot, form, &body, &facts);
    let mut code = body.code;
    code.bytes.shrink_to_fit();
    code.relocs.shrink_to_fit();
    Some(SharedBody { code, kind: body.kind })
}

/// The code in terms of the exact method.
fn copy(shared: &CompiledCode, to: &Instantiation) -> LoadResult<CompiledCode> {
    let mut code = shared.clone();
    for reloc in &mut code.relocs {
        if let RelocTarget::Symbol(symbol) = &mut reloc.target {
            *symbol = exact_symbol(*symbol, to)?;
        }
    }
    for clause in &mut code.tables.clauses {
        if let ClauseKind::Catch(ty) = clause {
            *ty = exact_type(ty, to)?;
        }
    }
    for site in &mut code.tables.inline_sites {
        site.method = to.method(site.method)?;
    }
    for filter in &mut code.filters {
        *filter = copy(filter, to)?;
    }
    Ok(code)
}

fn exact_symbol(symbol: Symbol, to: &Instantiation) -> LoadResult<Symbol> {
    Ok(match symbol {
        Symbol::TypeHandle(ty) => Symbol::TypeHandle(exact_type(ty, to)?),
        Symbol::VTable(ty) => Symbol::VTable(exact_type(ty, to)?),
        Symbol::ClassInitFlag(ty) => Symbol::ClassInitFlag(exact_type(ty, to)?),
        Symbol::TypeObject(ty) => Symbol::TypeObject(exact_type(ty, to)?),
        Symbol::MethodHandle(method) => Symbol::MethodHandle(exact_method(method, to)?),
        Symbol::MethodEntry(method) => Symbol::MethodEntry(exact_method(method, to)?),
        Symbol::UnboxEntry(method) => Symbol::UnboxEntry(exact_method(method, to)?),
        Symbol::InternalCall(method) => Symbol::InternalCall(exact_method(method, to)?),
        Symbol::NativeCell(method) => Symbol::NativeCell(exact_method(method, to)?),
        Symbol::NativeEntry(method) => Symbol::NativeEntry(exact_method(method, to)?),
        Symbol::MarshalInfo(method, index) => Symbol::MarshalInfo(exact_method(method, to)?, index),
        Symbol::Noted(method, il_offset) => Symbol::Noted(to.method(method)?, il_offset),
        Symbol::Overrides(method) => Symbol::Overrides(exact_method(method, to)?),
        Symbol::BlockCounts(method, count) => Symbol::BlockCounts(to.method(method)?, count),
        Symbol::FieldHandle(field) => Symbol::FieldHandle(to.field(field)?),
        Symbol::StaticField(field) => Symbol::StaticField(to.field(field)?),
        Symbol::ThreadStaticPlace(field) => Symbol::ThreadStaticPlace(to.field(field)?),
        Symbol::StringLiteral(..) | Symbol::VarArgCookie(..) | Symbol::Helper(_) => symbol,
    })
}

fn exact_type(ty: Ty, to: &Instantiation) -> LoadResult<Ty> {
    let exact = to.ty(ty)?;
    if exact != ty {
        require_loadable(exact)?;
    }
    Ok(exact)
}

fn exact_method(method: &'static Method, to: &Instantiation) -> LoadResult<&'static Method> {
    let exact = to.method(method)?;
    if exact.owner != method.owner {
        require_loadable(exact.owner)?;
    }
    Ok(exact)
}
