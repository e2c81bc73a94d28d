//! System.Diagnostics.StackTrace: the frames recorded in an exception, as StackFrame objects.

use crate::arguments::non_null;
use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::vm::source_lines::source_position;
use saki_runtime::vm::stack_trace::{NO_IL_OFFSET, TraceFrame, frames_of};
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, ManagedField, Obj, Str};
use saki_types::method::impl_flags;
use saki_types::{LibraryType, Method, MethodKind, RemotingStub, Ty, universe};

static IL_OFFSET: ManagedField = ManagedField::new(LibraryType::StackFrame, "ilOffset");
static NATIVE_OFFSET: ManagedField = ManagedField::new(LibraryType::StackFrame, "nativeOffset");
static METHOD_INDEX: ManagedField = ManagedField::new(LibraryType::StackFrame, "methodIndex");
static METHOD_BASE: ManagedField = ManagedField::new(LibraryType::StackFrame, "methodBase");
static FILE_NAME: ManagedField = ManagedField::new(LibraryType::StackFrame, "fileName");
static LINE_NUMBER: ManagedField = ManagedField::new(LibraryType::StackFrame, "lineNumber");
static COLUMN_NUMBER: ManagedField = ManagedField::new(LibraryType::StackFrame, "columnNumber");
static INTERNAL_NAME: ManagedField = ManagedField::new(LibraryType::StackFrame, "internalMethodName");

/// `StackFrame.OFFSET_UNKNOWN`.
const OFFSET_UNKNOWN: i32 = -1;
/// Index of methods that are not in an ahead-of-time image.
const NO_METHOD_INDEX: u32 = 0x00ff_ffff;

fn joined(params: impl Iterator<Item = String>, separator: &str) -> String {
    params.collect::<Vec<_>>().join(separator)
}

/// `(wrapper KIND) Owner.Name(parameters)`
fn named(t: CurrentThread, kind: &str, method: &'static Method, with_this: bool) -> Managed<String> {
    let this = with_this.then(|| method.owner.signature_name());
    let params = method.sig().to_managed(t)?.params.iter().map(|p| p.signature_name());
    let params = joined(this.into_iter().chain(params), ",");
    Ok(format!("(wrapper {kind}) {}.{}({params})", method.owner.full_name(), method.name))
}

/// The wrapper of a delegate's call, whose name Mono makes of `prefix` and the short names of the signature's types.
/// The wrapper of a generic delegate belongs to the delegate's class and is named after the definition's signature.
fn delegate_wrapper(
    t: CurrentThread,
    kind: &str,
    method: &'static Method,
    prefix: &str,
    is_of_class: bool,
) -> Managed<String> {
    let definition = method.owner.generic_definition().filter(|_| is_of_class);
    let described = match definition {
        Some(definition) => {
            definition.find_method(method.name, method.sig().to_managed(t)?.params.len()).to_managed(t)?
        }
        None => None,
    };
    let sig = described.unwrap_or(method).sig().to_managed(t)?;
    let names = sig.params.iter().map(|p| format!("_{}", p.short_signature_name()));
    let this = if method.name == "EndInvoke" { "__this__" } else { "" };
    let name = format!("{prefix}_{}{this}{}", sig.ret.short_signature_name(), joined(names, ""));
    let owner = definition.map_or("<Module>".to_string(), |_| method.owner.full_name());
    let params = joined(method.sig().to_managed(t)?.params.iter().map(|p| p.signature_name()), ",");
    Ok(format!("(wrapper {kind}) {owner}.{name}({params})"))
}

/// The lines that a trace shows for a frame that is no method with CIL: one for each frame that Mono has there, the
/// innermost first.
fn wrapper_names(t: CurrentThread, frame: &TraceFrame) -> Managed<Vec<String>> {
    let method = frame.method;
    let runtime = |name: &str| format!("(wrapper managed-to-native) System.Object.__icall_wrapper_{name}");
    if !frame.is_wrapper {
        let kind = if method.is_dynamic() { "dynamic-method" } else { "managed-to-native" };
        return Ok(vec![named(t, kind, method, !method.is_static())?]);
    }
    if frame.is_called_by_native_code() {
        return Ok(vec![named(t, "native-to-managed", method, false)?]);
    }
    Ok(match method.kind {
        MethodKind::Remoting(RemotingStub::Invoke(target)) => {
            vec![runtime("mono_remoting_wrapper(intptr,intptr)"), named(t, "remoting-invoke", target, false)?]
        }
        MethodKind::Remoting(RemotingStub::Call(target)) => {
            vec![named(t, "remoting-invoke-with-check", target, false)?]
        }
        _ if method.impl_flags & impl_flags::SYNCHRONIZED != 0 => vec![named(t, "synchronized", method, false)?],
        _ if method.name == "EndInvoke" => vec![
            runtime("mono_delegate_end_invoke(object,intptr)"),
            delegate_wrapper(t, "delegate-end-invoke", method, "end_invoke", true)?,
        ],
        _ if frame.is_virtual_delegate_call() => {
            vec![delegate_wrapper(t, "delegate-invoke", method, "invoke_callvirt", false)?]
        }
        _ => vec![delegate_wrapper(t, "delegate-invoke", method, "invoke", true)?],
    })
}

/// The IL offset as managed code wants it.
pub(super) fn il_offset(frame: &TraceFrame) -> i32 {
    if frame.is_wrapper || frame.il_offset == NO_IL_OFFSET { OFFSET_UNKNOWN } else { frame.il_offset as i32 }
}

/// Whether a frame has a name only, and no method object.
fn has_name_only(frame: &TraceFrame) -> bool {
    frame.is_wrapper || frame.method.is_internal_call() || frame.method.is_pinvoke() || frame.method.is_dynamic()
}

/// A StackFrame. `name`: for a frame without method object.
fn frame_object<'t>(
    t: CurrentThread<'t>,
    class: Ty,
    frame: &TraceFrame,
    name: Option<&str>,
    with_position: bool,
) -> Managed<Obj<'t>> {
    let made = Obj::new(t, class)?;
    if let Some(name) = name {
        INTERNAL_NAME.set_ref(t, made, Str::new(t, name)?);
    } else {
        let method = saki_reflect::objects::method_object(t, frame.method, frame.method.owner)?;
        METHOD_BASE.set_ref(t, made, method);
    }
    IL_OFFSET.set(made, il_offset(frame));
    NATIVE_OFFSET.set(made, frame.native_offset as i32);
    METHOD_INDEX.set(made, NO_METHOD_INDEX);
    if with_position
        && !frame.is_wrapper
        && let Some(position) = source_position(frame.method, frame.il_offset)
    {
        FILE_NAME.set_ref(t, made, Str::new(t, &position.file)?);
        LINE_NUMBER.set(made, position.line as i32);
        COLUMN_NUMBER.set(made, position.column as i32);
    }
    Ok(made)
}

fn get_trace<'t>(t: CurrentThread<'t>, exception: Option<Obj>, skip: i32, file_info: bool) -> Managed<Array<'t>> {
    let exception = non_null(t, exception, "e")?;
    frame_array(t, &frames_of(exception), skip.max(0) as usize, file_info)
}

/// The frames as a StackFrame[], without the first `skip`.
pub(crate) fn frame_array<'t>(
    t: CurrentThread<'t>,
    frames: &[TraceFrame],
    skip: usize,
    with_position: bool,
) -> Managed<Array<'t>> {
    let class = universe().library_type(LibraryType::StackFrame).to_managed(t)?;
    let mut shown = Vec::new();
    for frame in frames {
        match has_name_only(frame) {
            true => shown.extend(wrapper_names(t, frame)?.into_iter().map(|name| (frame, Some(name)))),
            false => shown.push((frame, None)),
        }
    }
    let shown = shown.get(skip..).unwrap_or_default();
    let array = Array::new(t, class, shown.len())?;
    for (index, (frame, name)) in shown.iter().enumerate() {
        let made = frame_object(t, class, frame, name.as_deref(), with_position)?;
        array.set(t, index, Some(made));
    }
    Ok(array)
}

/// The internal calls of `System.Diagnostics.StackTrace`.
pub const TABLE: &[InternalCall] = &[InternalCall::new("System.Diagnostics.StackTrace::get_trace", &get_trace)];
