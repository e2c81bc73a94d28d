//! What delegates consist of: the fields that code reads, and the kinds, which say how `Invoke` calls the method.
//!
//! Left out: the body of `Invoke` (`synth::delegate`), and making delegates at run time (runtime).

use crate::ir::MemType;
use saki_types::{LibraryType, LoadError, LoadErrorKind, LoadResult, Method, Ty, universe};

/// Values of a delegate's `invoke_impl` field. The numbers are read by compiled code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(i32)]
pub enum DelegateKind {
    /// `method_ptr(m_target, args…)`; an instance method (through its unboxing entry when the target is a boxed value).
    ClosedInstance = 0,
    /// `method_ptr(args…)`; a static method.
    OpenStatic = 1,
    /// `method_ptr(args…)`; an instance method whose `this` is the first argument (an object, or a managed pointer to a
    /// value).
    OpenInstance = 2,
    /// `code(args…)`; an instance method whose `this` is the first argument, from which `DelegateResolveVirtual` finds
    /// the code.
    OpenVirtual = 3,
    /// `method_ptr(m_target, args…)`; a static method whose first parameter is an object.
    ClosedStatic = 4,
    /// `method_ptr(delegate, args…)`; a wrapper that reads its data from the delegate (native function pointers).
    SelfPassing = 5,
}

impl DelegateKind {
    /// Whether the delegate's target is no argument of its method.
    pub fn passes_no_target(self) -> bool {
        matches!(self, DelegateKind::OpenStatic | DelegateKind::OpenInstance | DelegateKind::OpenVirtual)
    }
}

/// The kind of a delegate of type `delegate` for `method`; `has_target`: whether a first argument was given.
///
/// # Errors
/// The errors of the signatures.
pub fn delegate_kind(delegate: Ty, method: &'static Method, has_target: bool) -> LoadResult<DelegateKind> {
    let invoke = invoke_method(delegate)?;
    let given = invoke.sig()?.params.len();
    let wanted = method.sig()?.params.len();
    if method.is_static() {
        return Ok(if wanted == given + 1 { DelegateKind::ClosedStatic } else { DelegateKind::OpenStatic });
    }
    if has_target || wanted == given {
        return Ok(DelegateKind::ClosedInstance);
    }
    let needs_lookup = method.is_virtual() && !method.is_final() && !method.owner.is_value_type();
    Ok(if needs_lookup { DelegateKind::OpenVirtual } else { DelegateKind::OpenInstance })
}

/// Whether a delegate for the method, made with its entry's code, is what [`delegate_kind`] says, so that the machine
/// need not be asked: no proxy and no boxed value can be its target.
pub fn is_made_in_line(method: &Method) -> bool {
    let owner = method.owner;
    let has_plain_this = method.is_static()
        || !(owner.is_value_type()
            || owner.is_interface()
            || owner.is_marshal_by_ref()
            || matches!(owner.parent(), Ok(None) | Err(_)));
    has_plain_this && !method.is_dynamic() && !method.is_abstract()
}

/// The `Invoke` method of a delegate type.
///
/// # Errors
/// `TypeLoad` when there is none.
pub fn invoke_method(delegate: Ty) -> LoadResult<&'static Method> {
    delegate
        .methods()?
        .find(|m| m.name == "Invoke" && !m.is_static())
        .ok_or_else(|| LoadError::type_load("the delegate type has no Invoke method", delegate.full_name()))
}

/// Byte offsets, from the object start, of the delegate fields that code reads.
#[derive(Clone, Copy, Debug)]
pub struct DelegateFields {
    pub method_ptr: i32,
    pub invoke_impl: i32,
    pub target: i32,
    /// The `types::Method`.
    pub method: i32,
    /// Native entry point of a delegate made from a function pointer.
    pub extra_arg: i32,
    /// The targets of a multicast delegate: Delegate[] or null; in .NET also other objects if `count` is 0.
    pub delegates: i32,
    /// In .NET: the number of targets of a multicast delegate, 0 for others.
    pub count: Option<i32>,
    /// In .NET: the code of a delegate that does not pass its target, 0 for others.
    pub open_code: Option<i32>,
}

impl DelegateFields {
    /// Looks the fields up by name in the core library.
    ///
    /// # Errors
    /// `MissingField` when the core library is not the expected one.
    pub fn load() -> LoadResult<DelegateFields> {
        let optional = |owner, name| {
            universe().find_field_offset_bytes(owner, name).map(|found| found.map(|offset| offset as i32))
        };
        let required = |owner, name| {
            optional(owner, name)?.ok_or_else(|| {
                let subject = format!("{}.{name}", owner.name().name);
                LoadError::new(LoadErrorKind::MissingField, format!("Field not found: {subject}"), subject)
            })
        };
        Ok(DelegateFields {
            method_ptr: required(LibraryType::Delegate, "method_ptr")?,
            invoke_impl: required(LibraryType::Delegate, "invoke_impl")?,
            target: required(LibraryType::Delegate, "m_target")?,
            method: required(LibraryType::Delegate, "method")?,
            extra_arg: required(LibraryType::Delegate, "extra_arg")?,
            delegates: required(LibraryType::MulticastDelegate, "delegates")?,
            count: optional(LibraryType::MulticastDelegate, "_invocationCount")?,
            open_code: optional(LibraryType::Delegate, "_methodPtrAux")?,
        })
    }

    /// The field that is zero unless the delegate is a multicast one, and the type of its value.
    pub fn multicast_mark(&self) -> (i32, MemType) {
        self.count.map_or((self.delegates, MemType::Ref), |count| (count, MemType::I64))
    }
}
