//! Custom modifiers of fields, parameters and properties. ECMA-335 §II.7.1.1.

use crate::handles::{method_of, property_of, require_field};
use crate::objects::type_array;
use saki_metadata::TypeSig;
use saki_runtime::ExceptionType;
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, Obj};
use saki_types::{GenericContext, Image, LoadError, LoadResult, Method, MethodKind, Ty, universe};

/// The required or the optional modifiers at the top of a signature type, innermost first.
fn modifiers(image: &'static Image, sig: &TypeSig, optional: bool, context: &GenericContext) -> LoadResult<Vec<Ty>> {
    let mut out = Vec::new();
    let mut at = sig;
    loop {
        match at {
            TypeSig::Modified { required, token, inner } => {
                if *required != optional {
                    out.push(image.resolve_type(*token, context)?);
                }
                at = inner;
            }
            TypeSig::ByRef(inner) | TypeSig::Pinned(inner) => at = inner,
            _ => break,
        }
    }
    out.reverse();
    Ok(out)
}

/// A Type[]; null when there are none, for which managed code has a shared empty array.
fn modifier_array<'t>(t: CurrentThread<'t>, found: LoadResult<Vec<Ty>>) -> Managed<Option<Array<'t>>> {
    let found = found.to_managed(t)?;
    if found.is_empty() { Ok(None) } else { type_array(t, universe().type_(), &found).map(Some) }
}

/// Modifiers of parameter `position` of a method; −1 = the result.
fn of_parameter(method: &'static Method, position: i32, optional: bool) -> LoadResult<Vec<Ty>> {
    let MethodKind::Def { image, rid } = method.kind else { return Ok(Vec::new()) };
    let row = image.meta.method_def(rid)?;
    let sig = image.meta.parse_method_sig(row.signature)?;
    let ty = match usize::try_from(position) {
        Ok(index) => sig.params.get(index),
        Err(_) => Some(&sig.ret),
    };
    ty.map_or(Ok(Vec::new()), |ty| modifiers(image, ty, optional, &method.context()))
}

/// `RuntimeFieldInfo.GetTypeModifiers(bool optional)`
fn field_modifiers<'t>(t: CurrentThread<'t>, this: Option<Obj>, optional: bool) -> Managed<Option<Array<'t>>> {
    let field = require_field(t, this)?;
    let row = field.image().meta.field(field.rid);
    let sig =
        row.and_then(|row| field.image().meta.parse_field_sig(row.signature)).map_err(LoadError::from).to_managed(t)?;
    let context = GenericContext { class_args: field.owner.args, method_args: &[] };
    modifier_array(t, modifiers(field.image(), &sig, optional, &context))
}

/// `RuntimeParameterInfo.GetTypeModifiers(Type, MemberInfo, int position, bool optional)`
fn parameter_modifiers<'t>(
    t: CurrentThread<'t>,
    _ty: Option<Obj>,
    member: Option<Obj>,
    position: i32,
    optional: bool,
) -> Managed<Option<Array<'t>>> {
    let Some(member) = member else {
        return Err(exceptions::throw_argument_null(t, "member"));
    };
    let method = method_of(member).or_else(|| property_of(member).and_then(|(p, _)| p.getter.or(p.setter)));
    let Some(method) = method else {
        let name = member.ty().full_name();
        let message = format!("Custom modifiers on a ParamInfo with member {name} are not supported");
        return Err(exceptions::throw(t, ExceptionType::NotSupported, &message));
    };
    modifier_array(t, of_parameter(method, position, optional))
}

/// `RuntimePropertyInfo.GetTypeModifiers(RuntimePropertyInfo, bool optional)`
fn property_modifiers<'t>(t: CurrentThread<'t>, property: Option<Obj>, optional: bool) -> Managed<Option<Array<'t>>> {
    let Some((property, _)) = property.and_then(property_of) else {
        return Err(exceptions::throw_argument_null(t, "property"));
    };
    let found = match (property.getter, property.setter) {
        (Some(getter), _) => of_parameter(getter, -1, optional),
        (None, Some(setter)) => {
            let last = setter.sig().to_managed(t)?.params.len() as i32 - 1;
            of_parameter(setter, last, optional)
        }
        (None, None) => Ok(Vec::new()),
    };
    modifier_array(t, found)
}

/// The internal calls of `System.Reflection.RuntimeFieldInfo`, `System.Reflection.RuntimeParameterInfo` and
/// `System.Reflection.RuntimePropertyInfo`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Reflection.RuntimeFieldInfo::GetTypeModifiers", &field_modifiers),
    InternalCall::new("System.Reflection.RuntimeParameterInfo::GetTypeModifiers", &parameter_modifiers),
    InternalCall::new("System.Reflection.RuntimePropertyInfo::GetTypeModifiers", &property_modifiers),
];
