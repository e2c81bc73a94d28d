//! System.Reflection.MethodBody: CIL, local variables, exception clauses.

use crate::cache::{self, ObjectKind};
use crate::emit::code_as_written;
use crate::handles::address;
use saki_metadata::EhKind;
use saki_runtime::ExceptionType;
use saki_runtime::exec::invoke::{self, Slot};
use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::{Array, CurrentThread, Managed, ManagedField, Obj};
use saki_types::method::method_flags;
use saki_types::{GenericContext, LibraryType, Method, universe};

/// `ExceptionHandlingClauseOptions` of a clause.
pub fn clause_flags(kind: EhKind) -> i32 {
    match kind {
        EhKind::Catch => 0,
        EhKind::Filter => 1,
        EhKind::Finally => 2,
        EhKind::Fault => 4,
    }
}

/// The MethodBody of a method; None for methods without CIL.
///
/// # Errors
/// BadImageFormatException; load errors of the types in the body.
pub fn body_object<'t>(t: CurrentThread<'t>, method: &'static Method) -> Managed<Option<Obj<'t>>> {
    if method.flags & (method_flags::PINVOKE | method_flags::ABSTRACT) != 0
        || method.is_internal_call()
        || method.is_runtime_implemented()
    {
        return Ok(None);
    }
    let Some(body) = method.body().to_managed(t)? else { return Ok(None) };
    cache::get_or_make(t, ObjectKind::MethodBody, address(method), 0, || make(t, method, &body)).map(Some)
}

fn make<'t>(t: CurrentThread<'t>, method: &'static Method, body: &saki_metadata::MethodBody<'_>) -> Managed<Obj<'t>> {
    let context = method.context();
    let written = code_as_written(t, method);
    let code = Array::of_bytes(t, written.as_deref().unwrap_or(body.code))?;
    let locals = locals(t, method, body, &context)?;
    let clauses = clauses(t, method, body, &context)?;
    let class = universe().library_type(LibraryType::MethodBody).to_managed(t)?;
    let made = Obj::new(t, class)?;
    // MethodBody(ExceptionHandlingClause[], LocalVariableInfo[], byte[], bool, int, int)
    let Some(ctor) = class.find_method(".ctor", 6).to_managed(t)? else {
        return Err(saki_runtime::object::exceptions::throw_default(t, ExceptionType::MissingMethod));
    };
    let words = [
        Slot::from_ref(made),
        Slot::from_ref(clauses),
        Slot::from_ref(locals),
        Slot::from_ref(code),
        Slot::from_bool(body.init_locals),
        Slot::from_i32(body.local_var_sig.0 as i32),
        Slot::from_i32(i32::from(body.max_stack)),
    ];
    invoke::invoke(t, ctor, &words)?;
    Ok(made)
}

fn locals<'t>(
    t: CurrentThread<'t>,
    method: &'static Method,
    body: &saki_metadata::MethodBody<'_>,
    context: &GenericContext,
) -> Managed<Array<'t>> {
    static TYPE: ManagedField = ManagedField::new(LibraryType::LocalVariableInfo, "type");
    static IS_PINNED: ManagedField = ManagedField::new(LibraryType::LocalVariableInfo, "is_pinned");
    static POSITION: ManagedField = ManagedField::new(LibraryType::LocalVariableInfo, "position");
    let sigs = method.image().resolve_locals(body.local_var_sig, context).to_managed(t)?;
    let array = Array::new(t, universe().library_type(LibraryType::LocalVariableInfo).to_managed(t)?, sigs.len())?;
    for (index, sig) in sigs.iter().enumerate() {
        let local = Obj::new(t, universe().library_type(LibraryType::LocalVariableInfo).to_managed(t)?)?;
        TYPE.set_ref(t, local, Obj::of_type(t, sig.ty)?);
        IS_PINNED.set(local, u8::from(sig.pinned));
        POSITION.set(local, index as u16);
        array.set(t, index, Some(local));
    }
    Ok(array)
}

fn clauses<'t>(
    t: CurrentThread<'t>,
    method: &'static Method,
    body: &saki_metadata::MethodBody<'_>,
    context: &GenericContext,
) -> Managed<Array<'t>> {
    static CATCH_TYPE: ManagedField = ManagedField::new(LibraryType::ExceptionHandlingClause, "catch_type");
    static FILTER: ManagedField = ManagedField::new(LibraryType::ExceptionHandlingClause, "filter_offset");
    static FLAGS: ManagedField = ManagedField::new(LibraryType::ExceptionHandlingClause, "flags");
    static TRY_OFFSET: ManagedField = ManagedField::new(LibraryType::ExceptionHandlingClause, "try_offset");
    static TRY_LENGTH: ManagedField = ManagedField::new(LibraryType::ExceptionHandlingClause, "try_length");
    static HANDLER_OFFSET: ManagedField = ManagedField::new(LibraryType::ExceptionHandlingClause, "handler_offset");
    static HANDLER_LENGTH: ManagedField = ManagedField::new(LibraryType::ExceptionHandlingClause, "handler_length");
    let array = Array::new(
        t,
        universe().library_type(LibraryType::ExceptionHandlingClause).to_managed(t)?,
        body.eh_clauses.len(),
    )?;
    for (index, clause) in body.eh_clauses.iter().enumerate() {
        let made = Obj::new(t, universe().library_type(LibraryType::ExceptionHandlingClause).to_managed(t)?)?;
        FLAGS.set(made, clause_flags(clause.kind));
        TRY_OFFSET.set(made, clause.try_offset);
        TRY_LENGTH.set(made, clause.try_len);
        HANDLER_OFFSET.set(made, clause.handler_offset);
        HANDLER_LENGTH.set(made, clause.handler_len);
        if let Some(offset) = clause.filter_offset() {
            FILTER.set(made, offset);
        }
        if let Some(token) = clause.catch_type() {
            let caught = method.image().resolve_type(token, context).to_managed(t)?;
            CATCH_TYPE.set_ref(t, made, Obj::of_type(t, caught)?);
        }
        array.set(t, index, Some(made));
    }
    Ok(array)
}
