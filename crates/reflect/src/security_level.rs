//! The security levels that reflection shows: whether a member of the class library is marked as critical.
//!
//! Nothing is enforced. The class library asks while it restores exceptions: a class with a critical constructor
//! restores itself.

use crate::handles::{require_field, require_method};
use crate::runtime_type::this_type;
use saki_metadata::{TableId, Token};
use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::{CurrentThread, InternalCall, Managed, Obj};
use saki_types::class::has_attribute;
use saki_types::{Image, LoadResult, Ty, universe};

const TRANSPARENT: i32 = 0;
const SAFE_CRITICAL: i32 = 1;
const CRITICAL: i32 = 2;

fn own_level(image: &'static Image, token: Token) -> LoadResult<i32> {
    let has = |name| has_attribute(image, token, "System.Security", name);
    Ok(if has("SecuritySafeCriticalAttribute")? {
        SAFE_CRITICAL
    } else if has("SecurityCriticalAttribute")? {
        CRITICAL
    } else {
        TRANSPARENT
    })
}

/// The level of a type: its own, else that of the type around it. Only mscorlib has critical types and members.
fn level_of_type(ty: Ty) -> LoadResult<i32> {
    let mut at = ty.generic_definition().or(Some(ty));
    while let Some(ty) = at {
        let Some(def) = ty.def().filter(|def| std::ptr::eq(def.image, universe().corlib())) else { break };
        match own_level(def.image, Token::new(TableId::TypeDef, def.rid))? {
            TRANSPARENT => at = ty.enclosing_type()?,
            level => return Ok(level),
        }
    }
    Ok(TRANSPARENT)
}

fn level_of_member(owner: Ty, image: &'static Image, token: Token) -> LoadResult<i32> {
    if !std::ptr::eq(image, universe().corlib()) {
        return Ok(TRANSPARENT);
    }
    match own_level(image, token)? {
        TRANSPARENT => level_of_type(owner),
        level => Ok(level),
    }
}

fn of_type(t: CurrentThread, this: Option<Obj>) -> Managed<i32> {
    level_of_type(this_type(t, this)?).to_managed(t)
}

fn of_method(t: CurrentThread, this: Option<Obj>) -> Managed<i32> {
    let method = require_method(t, this)?;
    // Methods of arrays are in no file.
    let Some(rid) = method.rid() else { return Ok(TRANSPARENT) };
    level_of_member(method.owner, method.image(), Token::new(TableId::MethodDef, rid)).to_managed(t)
}

fn of_field(t: CurrentThread, this: Option<Obj>) -> Managed<i32> {
    let field = require_field(t, this)?;
    level_of_member(field.owner, field.image(), Token::new(TableId::Field, field.rid)).to_managed(t)
}

/// The internal calls of `System.RuntimeType`, `System.Reflection.RuntimeFieldInfo`,
/// `System.Reflection.RuntimeMethodInfo` and `System.Reflection.RuntimeConstructorInfo`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.RuntimeType::get_core_clr_security_level", &of_type),
    InternalCall::new("System.Reflection.RuntimeFieldInfo::get_core_clr_security_level", &of_field),
    InternalCall::new("System.Reflection.RuntimeMethodInfo::get_core_clr_security_level", &of_method),
    InternalCall::new("System.Reflection.RuntimeConstructorInfo::get_core_clr_security_level", &of_method),
];
