//! Delegate objects: initialisation and virtual resolution. `il::synth::delegate` makes the bodies of `Invoke` and
//! documents the kinds of delegates.

use crate::entries::{entry_address, lasting_code, lives_with_domain, unbox_entry_address};
use crate::exception_types::ExceptionType;
use crate::exceptions::{self, ToManaged};
use crate::fields::ManagedField;
use crate::proxies;
use crate::references::Obj;
use crate::thread::{CurrentThread, Managed};
use saki_code::CodeKind;
use saki_il::synth::delegate::{DelegateKind, delegate_kind};
use saki_types::{LibraryType, LoadResult, Method, MethodKind, RemotingStub};

pub static METHOD_PTR: ManagedField = ManagedField::new(LibraryType::Delegate, "method_ptr");
pub static INVOKE_IMPL: ManagedField = ManagedField::new(LibraryType::Delegate, "invoke_impl");
/// .NET's: the code if it does not get the target, else 0.
static OPEN_CODE: ManagedField = ManagedField::new(LibraryType::Delegate, "_methodPtrAux");
pub static TARGET: ManagedField = ManagedField::new(LibraryType::Delegate, "m_target");
pub static METHOD: ManagedField = ManagedField::new(LibraryType::Delegate, "method");
pub static METHOD_INFO: ManagedField = ManagedField::new(LibraryType::Delegate, "method_info");
pub static METHOD_IS_VIRTUAL: ManagedField = ManagedField::new(LibraryType::Delegate, "method_is_virtual");
pub static DELEGATES: ManagedField = ManagedField::new(LibraryType::MulticastDelegate, "delegates");

/// The message for a method that native code alone may call, or for the address of its C function.
const CALLERS_ONLY: &str = "Methods with UnmanagedCallersOnlyAttribute cannot be used as delegate target.";

/// The delegate constructor. `method` may be null when only the code address is known (ldftn through a local); it is
/// then found by the address.
pub fn delegate_init(
    t: CurrentThread,
    delegate: Option<Obj>,
    target: Option<Obj>,
    code: usize,
    method: Option<&'static Method>,
) -> Managed<()> {
    if code == 0 {
        return Err(exceptions::throw_argument_null(t, "method"));
    }
    let Some(method) = method.or_else(|| method_of_code(code)) else {
        if saki_code::lookup(code).is_some_and(|body| body.kind == CodeKind::NativeThunk) {
            return Err(exceptions::throw(t, ExceptionType::NotSupported, CALLERS_ONLY));
        }
        return Err(exceptions::throw(t, ExceptionType::Argument, "The function pointer belongs to no method."));
    };
    let Some(delegate) = delegate else { return Err(exceptions::throw_null_reference(t)) };
    init(t, delegate, target, method, Some(code))
}

/// The method whose entry stub, unboxing stub or code is at `code`.
pub fn method_of_code(code: usize) -> Option<&'static Method> {
    let method = match saki_code::MethodEntry::of_stub(code) {
        Some(entry) => entry.argument(),
        None => saki_code::lookup(code)?.method,
    } as *const Method;
    // SAFETY: entries and code belong to `&'static Method`s, or to none.
    let method = unsafe { method.as_ref() }?;
    match method.kind {
        MethodKind::Remoting(RemotingStub::Invoke(target) | RemotingStub::Call(target)) => Some(target),
        _ => Some(method),
    }
}

/// Fills a delegate in. `resolved_code`: the code address when virtual resolution has happened already.
///
/// # Errors
/// NullReferenceException for an instance method without target; NotSupportedException for a method that native code
/// alone may call; load errors.
pub fn init(
    t: CurrentThread,
    delegate: Obj,
    target: Option<Obj>,
    method: &'static Method,
    resolved_code: Option<usize>,
) -> Managed<()> {
    if method.is_unmanaged_callers_only().to_managed(t)? {
        return Err(exceptions::throw(t, ExceptionType::NotSupported, CALLERS_ONLY));
    }
    let kind = delegate_kind(delegate.ty(), method, target.is_some()).to_managed(t)?;
    // `CreateDelegate` may bind null as the target; the constructor, which gets a code address, may not.
    if kind == DelegateKind::ClosedInstance && target.is_none() && resolved_code.is_some() {
        return Err(exceptions::throw(
            t,
            ExceptionType::Argument,
            "Delegate to an instance method cannot have null 'this'.",
        ));
    }
    let mut actual = method;
    let mut shown = None;
    if kind == DelegateKind::ClosedInstance
        && (method.is_virtual() || method.owner.is_interface())
        && resolved_code.is_none()
        && let Some(target) = target
    {
        actual = proxies::implementation_on(t, target, method)?;
    }
    if kind == DelegateKind::ClosedInstance
        && let Some(code) = resolved_code
        && let Some(found) = method_of_code(code)
    {
        // ldvirtftn has resolved the method: Delegate.Method shows the resolved one.
        actual = found;
        if actual.is_abstract()
            && let Some(target) = target
        {
            // `ldftn` of a method without a body: the target's implementation is called, but as under Mono not shown.
            shown = Some(actual);
            actual = proxies::implementation_on(t, target, actual)?;
        }
    } else if kind == DelegateKind::ClosedInstance
        && method.owner.is_interface()
        && let Some(target) = target
    {
        // The code is an unboxing stub: the target is a boxed value whose type implements the interface.
        actual = proxies::implementation_on(t, target, method)?;
    }
    let boxed_this = kind == DelegateKind::ClosedInstance && actual.owner.is_value_type();
    let code = match target {
        _ if boxed_this => unbox_entry_address(actual).to_managed(t)?,
        Some(target) if kind == DelegateKind::ClosedInstance => {
            code_of(proxies::stub_for(target, actual)).to_managed(t)?
        }
        _ => code_of(actual).to_managed(t)?,
    };
    METHOD_PTR.set(delegate, code);
    INVOKE_IMPL.set(delegate, kind as i32 as usize);
    if OPEN_CODE.is_there() {
        OPEN_CODE.set(delegate, if kind.passes_no_target() { code } else { 0 });
    }
    METHOD.set(delegate, std::ptr::from_ref(shown.unwrap_or(actual)) as usize);
    TARGET.set_ref(t, delegate, target);
    METHOD_IS_VIRTUAL.set(delegate, u8::from(kind == DelegateKind::OpenVirtual));
    Ok(())
}

/// The address that a delegate calls: the method's code if it is compiled and lasts, else its entry.
fn code_of(method: &'static Method) -> LoadResult<usize> {
    match lasting_code(method) {
        Some(code) if lives_with_domain(method) => Ok(code),
        _ => entry_address(method),
    }
}

/// The delegate's method.
pub fn method_of(delegate: Obj) -> Option<&'static Method> {
    let method = METHOD.get::<usize>(delegate) as *const Method;
    // SAFETY: null or stored by `init`.
    unsafe { method.as_ref() }
}

/// The code address that an open virtual delegate calls for a receiver, its first argument.
pub fn delegate_resolve_virtual(t: CurrentThread, delegate: Option<Obj>, receiver: Option<Obj>) -> Managed<usize> {
    let (Some(receiver), Some(delegate)) = (receiver, delegate) else {
        return Err(exceptions::throw_null_reference(t));
    };
    let Some(method) = method_of(delegate) else {
        return Err(exceptions::throw_default(t, ExceptionType::InvalidOperation));
    };
    proxies::virtual_target(t, receiver, method)
}
