//! C functions through which a host calls methods with objects as they are: the unmanaged thunks of Mono's embedding
//! API.
//!
//! The C signature is that of the method: `this` first, references as addresses of objects, numbers by value, structs
//! as boxes (also the result), and at the end the address of room for an exception. Invariants: a method has one such
//! function, which stays for ever; arguments are on the C entry's stack while the method runs, where the collector sees
//! them. Left out: conversions (`delegates`, `callers_only`).

use crate::reverse_calls::{EntryFrame, NativeSignature, ReverseCall, in_domain, note_call};
use rustc_hash::FxHashMap;
use saki_abi::ObjRef;
use saki_base::locks::{Mutex, rank};
use saki_il::ir::{CallSig, IrType};
use saki_il::synth::builder::ir_type;
use saki_runtime::ExceptionType;
use saki_runtime::exec::compile;
use saki_runtime::exec::invoke::{self, PreparedCall, Slot};
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::object::references::{Obj, Word};
use saki_runtime::object::thread::{CurrentThread, Managed};
use saki_runtime::vm::domains;
use saki_types::{LoadResult, Method, MethodSig, Ty};

/// The most arguments, `this` and the result's address included.
const MAX_WORDS: usize = 64;
/// Words of the structs of one call.
const MAX_STRUCT_WORDS: usize = 64;

/// What a method's C function passes to `dispatch`. Never freed.
struct RawEntry {
    method: &'static Method,
    sig: &'static MethodSig,
    call: PreparedCall,
    signature: NativeSignature,
    /// Size of a struct result, which is boxed.
    struct_result_bytes: Option<usize>,
}

/// By the method's address.
static ENTRIES: Mutex<rank::RawEntries, Option<FxHashMap<usize, usize>>> = Mutex::new(None);

/// The C function through which a host calls exactly this method; see the module header.
///
/// # Errors
/// Load errors; exceptions of compiling the method; NotSupportedException for too many arguments.
pub fn raw_entry(t: CurrentThread, method: &'static Method) -> Managed<usize> {
    let key = std::ptr::from_ref(method).addr();
    if let Some(&known) = ENTRIES.lock().get_or_insert_default().get(&key) {
        return Ok(known);
    }
    let sig = method.sig().to_managed(t)?;
    let entry_sig = entry_sig(method, sig).to_managed(t)?;
    if entry_sig.params.len() > MAX_WORDS {
        let message = format!("{} has too many parameters for an unmanaged thunk", method.full_name());
        return Err(exceptions::throw(t, ExceptionType::NotSupported, &message));
    }
    let entry = compile::compile_callback_entry(&CallSig {
        has_this: false,
        params: entry_sig.params[1..].to_vec(),
        ret: entry_sig.ret,
    })
    .to_managed(t)?;
    let raw: &'static RawEntry = Box::leak(Box::new(RawEntry {
        method,
        sig,
        call: invoke::prepare(t, method)?,
        signature: NativeSignature::new(0, entry_sig, None),
        struct_result_bytes: match is_struct(sig.ret).to_managed(t)? {
            true => Some(sig.ret.value_size_bytes().to_managed(t)? as usize),
            false => None,
        },
    }));
    let cookie = std::ptr::from_ref(raw).addr();
    let address = compile::place_callback_entry(&entry, dispatch as *const () as usize, cookie).to_managed(t)?;
    // If two threads make a function, the first one wins; nothing names the other.
    Ok(*ENTRIES.lock().get_or_insert_default().entry(key).or_insert(address))
}

fn is_struct(ty: Ty) -> LoadResult<bool> {
    Ok(matches!(ir_type(ty)?, IrType::Struct(_)))
}

/// The words of the C function behind a context that `NativeSignature` wants.
fn entry_sig(method: &'static Method, sig: &MethodSig) -> LoadResult<CallSig> {
    let word = |ty: Ty| -> LoadResult<IrType> {
        Ok(match ir_type(ty)? {
            scalar @ (IrType::I32 | IrType::F32 | IrType::F64 | IrType::Void) => scalar,
            _ => IrType::I64,
        })
    };
    let mut params = vec![IrType::I64];
    params.extend((!method.is_static()).then_some(IrType::I64));
    for &param in &sig.params {
        params.push(word(param)?);
    }
    params.push(IrType::I64);
    let ret = Some(word(sig.ret)?).filter(|ret| *ret != IrType::Void);
    Ok(CallSig { has_this: false, params, ret })
}

/// Called by C entries.
///
/// # Safety
/// A C entry made for `raw` calls it: `slots` has one word per parameter, `result` room for a word. The objects are the
/// host's, of the parameters' types, and the last word is null or has room for an object.
unsafe extern "C" fn dispatch(raw: &'static RawEntry, slots: *const u64, result: *mut u8) {
    // SAFETY: the C entry for `raw`, whose signature this is, spills its arguments to `slots` and has room for the
    // result.
    let frame = unsafe { raw.signature.frame(slots, result) };
    let call = ReverseCall::enter();
    // SAFETY: `enter` has made the thread current and RUNNING; `t` does not leave this function.
    let t = unsafe { CurrentThread::from_abi(call.abi()) };
    // SAFETY: the arguments are what the method wants.
    let called = in_domain(t, domains::of_universe(raw.method.owner.universe()), || unsafe { run(t, raw, &frame) });
    let thrown = match called {
        Ok(value) => {
            raw.signature.write_result(&frame, value);
            None
        }
        Err(_) => {
            raw.signature.write_zero_result(&frame);
            Some(t.take_exception())
        }
    };
    let place = frame.last_argument() as *mut ObjRef;
    if !place.is_null() {
        // SAFETY: not null, so the host's room for an object.
        unsafe { place.write(thrown.word()) };
    }
    // SAFETY: collections hold threads in native code and scan their frames, so references there are seen.
    unsafe { call.leave() };
}

/// # Safety
/// The arguments are what the method wants; see `dispatch`.
unsafe fn run(t: CurrentThread, raw: &RawEntry, frame: &EntryFrame) -> Managed<Slot> {
    let mut words = [Slot(0); MAX_WORDS + 1];
    // The collector scans this frame.
    let mut structs = [0u64; MAX_STRUCT_WORDS];
    let (mut used, mut structs_used) = (0, 0);
    let mut push = |word: Slot| {
        words[used] = word;
        used += 1;
    };
    let mut arguments = frame.arguments().iter();
    let mut next = || arguments.next().unwrap_or_else(|| saki_base::bug!("a C entry without an argument"));
    let mut reserve = |bytes: usize| -> Managed<*mut u8> {
        let first = structs_used;
        structs_used += bytes.div_ceil(8);
        if structs_used > MAX_STRUCT_WORDS {
            let message = "The structs of an unmanaged thunk are too large.";
            return Err(exceptions::throw(t, ExceptionType::NotSupported, message));
        }
        Ok((&raw mut structs[first]).cast())
    };
    if !raw.method.is_static() {
        let this = Slot(*next());
        // SAFETY: null or an object of the method's type.
        let boxed = unsafe { this.as_obj() }.filter(|_| raw.method.owner.is_value_type());
        push(boxed.map_or(this, |boxed| Slot::from_ptr(boxed.data())));
    }
    let result_at = raw.struct_result_bytes.map(&mut reserve).transpose()?;
    if let Some(at) = result_at {
        push(Slot::from_ptr(at));
    }
    for &ty in &raw.sig.params {
        let word = next();
        push(if is_struct(ty).to_managed(t)? {
            let size_bytes = ty.value_size_bytes().to_managed(t)? as usize;
            let copy = reserve(size_bytes)?;
            // SAFETY: null or a box of the parameter's type.
            if let Some(boxed) = unsafe { Slot(*word).as_obj() } {
                // SAFETY: a value of that size lies in the box, and the copy has room for it.
                unsafe { std::ptr::copy_nonoverlapping(boxed.data(), copy, size_bytes) };
            }
            Slot::from_ptr(copy)
        } else {
            // SAFETY: the word holds a value of the type, whose upper bits C leaves undefined.
            unsafe { invoke::load_slot(ty, std::ptr::from_ref(word).cast()) }
        });
    }
    note_call(t, raw.method, false);
    let result = invoke::invoke_prepared(t, &raw.call, &words[..used]);
    note_call(t, raw.method, true);
    match (result, result_at) {
        // SAFETY: the callee has written its result, a value of this type, there.
        (Ok(_), Some(at)) => Ok(Slot::from_ref(unsafe { Obj::boxed(t, raw.sig.ret, at)? })),
        (result, _) => result,
    }
}
