//! System.Diagnostics.StackTrace: the frames recorded in an exception, as StackFrame objects.

use crate::arguments::non_null;
use saki_abi::ObjRef;
use saki_metadata::ElementType;
use saki_runtime::exceptions::ToManaged;
use saki_runtime::source_lines::source_position;
use saki_runtime::stack_trace::{NO_IL_OFFSET, TraceFrame, frames_of};
use saki_runtime::{InternalCall, Managed, ManagedField, Thread, object, strings};
use saki_types::{Method, Ty, universe};

static IL_OFFSET: ManagedField = ManagedField::corlib("System.Diagnostics", "StackFrame", "ilOffset");
static NATIVE_OFFSET: ManagedField = ManagedField::corlib("System.Diagnostics", "StackFrame", "nativeOffset");
static METHOD_INDEX: ManagedField = ManagedField::corlib("System.Diagnostics", "StackFrame", "methodIndex");
static METHOD_BASE: ManagedField = ManagedField::corlib("System.Diagnostics", "StackFrame", "methodBase");
static FILE_NAME: ManagedField = ManagedField::corlib("System.Diagnostics", "StackFrame", "fileName");
static LINE_NUMBER: ManagedField = ManagedField::corlib("System.Diagnostics", "StackFrame", "lineNumber");
static COLUMN_NUMBER: ManagedField = ManagedField::corlib("System.Diagnostics", "StackFrame", "columnNumber");
static INTERNAL_NAME: ManagedField = ManagedField::corlib("System.Diagnostics", "StackFrame", "internalMethodName");

/// `StackFrame.OFFSET_UNKNOWN`.
const OFFSET_UNKNOWN: i32 = -1;
/// Index of methods that are not in an ahead-of-time image.
const NO_METHOD_INDEX: u32 = 0x00ff_ffff;

/// Type names as Mono prints them for frames without reflection object: short names for primitives.
fn short_name(ty: Ty) -> String {
    use ElementType as E;
    let primitive = match ty.element_type {
        E::Void => "void",
        E::Boolean => "bool",
        E::Char => "char",
        E::I1 => "sbyte",
        E::U1 => "byte",
        E::I2 => "int16",
        E::U2 => "uint16",
        E::I4 => "int",
        E::U4 => "uint",
        E::I8 => "long",
        E::U8 => "ulong",
        E::I => "intptr",
        E::U => "uintptr",
        E::R4 => "single",
        E::R8 => "double",
        E::String => "string",
        E::Object => "object",
        _ => {
            return match ty.element() {
                Some(element) if ty.is_byref() => format!("{}&", short_name(element)),
                Some(element) if ty.is_pointer() => format!("{}*", short_name(element)),
                Some(element) if ty.is_sz_array() => format!("{}[]", short_name(element)),
                _ => ty.full_name(),
            };
        }
    };
    primitive.to_string()
}

/// What a trace shows for a call into native code (`this` is the first parameter there) and for a dynamic method.
fn wrapper_name(t: Thread, method: &'static Method) -> Managed<String> {
    let this = (!method.is_static()).then(|| short_name(method.owner));
    let params = this.into_iter().chain(method.sig().to_managed(t)?.params.iter().map(|p| short_name(p)));
    let params: Vec<String> = params.collect();
    let kind = if method.is_dynamic() { "dynamic-method" } else { "managed-to-native" };
    Ok(format!("(wrapper {kind}) {}.{}({})", method.owner.full_name(), method.name, params.join(",")))
}

/// The IL offset as managed code wants it.
pub(super) fn il_offset(frame: &TraceFrame) -> i32 {
    if frame.il_offset == NO_IL_OFFSET { OFFSET_UNKNOWN } else { frame.il_offset as i32 }
}

fn frame_object(t: Thread, class: Ty, frame: &TraceFrame, with_position: bool) -> Managed<ObjRef> {
    let made = object::new_instance(t, class)?;
    if frame.method.is_internal_call() || frame.method.is_pinvoke() || frame.method.is_dynamic() {
        let name = strings::new_string(t, &wrapper_name(t, frame.method)?)?;
        INTERNAL_NAME.set_ref(t, made, name);
    } else {
        let method = saki_reflect::objects::method_object(t, frame.method, frame.method.owner)?;
        METHOD_BASE.set_ref(t, made, method);
    }
    IL_OFFSET.set(made, il_offset(frame));
    NATIVE_OFFSET.set(made, frame.native_offset as i32);
    METHOD_INDEX.set(made, NO_METHOD_INDEX);
    if with_position && let Some(position) = source_position(frame.method, frame.il_offset) {
        FILE_NAME.set_ref(t, made, strings::new_string(t, &position.file)?);
        LINE_NUMBER.set(made, position.line as i32);
        COLUMN_NUMBER.set(made, position.column as i32);
    }
    Ok(made)
}

extern "C" fn get_trace(t: Thread, exception: ObjRef, skip: i32, file_info: i32) -> ObjRef {
    t.run(|| {
        non_null(t, exception, "e")?;
        let class = universe().corlib_type("System.Diagnostics", "StackFrame").to_managed(t)?;
        let frames = frames_of(exception);
        let frames = frames.get(skip.max(0) as usize..).unwrap_or_default();
        let array = object::new_array(t, class, frames.len())?;
        for (index, frame) in frames.iter().enumerate() {
            let made = frame_object(t, class, frame, file_info != 0)?;
            object::set_element_ref(t, array, index, made);
        }
        Ok(array)
    })
}

pub const TABLE: &[InternalCall] = &[("System.Diagnostics.StackTrace::get_trace", get_trace as *const ())];
