//! Look-up of the operation for a method of a vector type: a table of rows, each of which names methods and their
//! replacement.
//!
//! The rows are in `numerics` and `simd`. `docs/simd.md` is generated from the same rows, so that the two cannot
//! differ. Rows that say `AsWritten` exist for the page only: these methods run as the class library wrote them, in
//! terms of the others.

use super::rows::{MatrixCall, Param, VectorCall, VectorRow, VectorRows};
use super::{net, numerics, simd};
use crate::import::kinds::ir_type;
use crate::ir::{IrType, VectorOp};
use crate::vector_types::{Family, VectorType, family_name, lanes_of, vector_type};
use saki_types::{ElementType, LoadResult, Method, Ty};

pub(crate) fn groups() -> impl Iterator<Item = &'static VectorRows> {
    numerics::GROUPS.iter().chain(simd::GROUPS).chain(net::GROUPS)
}

/// The type whose lanes an operation has.
pub(crate) struct VectorSubject {
    pub ty: Ty,
    pub vector: Option<VectorType>,
}

/// The owner if it is not a static class, else the first vector type of the signature, else the return type.
pub(crate) fn subject(method: &'static Method) -> LoadResult<VectorSubject> {
    let sig = method.sig()?;
    let mut candidates = std::iter::once(method.owner).chain(sig.params.iter().copied());
    let found = candidates.find(|ty| vector_type(ty).is_some());
    let is_static_class = !method.owner.is_value_type();
    let ty = if is_static_class { found.unwrap_or(sig.ret) } else { method.owner };
    Ok(VectorSubject { ty, vector: vector_type(ty) })
}

/// The row of a method.
///
/// # Errors
/// The errors of the method's signature.
pub(crate) fn row_of(method: &'static Method) -> LoadResult<Option<&'static VectorRow>> {
    let Some((family, name)) = family_name(method.owner) else { return Ok(None) };
    let (name, called) = static_counterpart(family, name, method.name);
    let mut subject_of_method = None;
    for group in groups().filter(|group| group.family == family && group.types.contains(&name)) {
        let candidates = group.rows.iter().filter(|row| row.method == called);
        for row in candidates.filter(|row| row.call == VectorCall::AsWritten || row.has_this() != method.is_static()) {
            let subject = match &subject_of_method {
                Some(subject) => subject,
                None => subject_of_method.insert(subject(method)?),
            };
            // Vectors of elements for which there are none throw, or say so.
            if subject.vector.is_none() && !subject.ty.args.is_empty() {
                return Ok(None);
            }
            if fits(row, subject, family, &method.sig()?.params) && gives(row.call, subject, method.sig()?.ret)? {
                return Ok(Some(row));
            }
        }
    }
    Ok(None)
}

/// The type and the name by which a row names a method. .NET's vector types implement the methods of `ISimdVector` by
/// calling the static class's methods of these names.
fn static_counterpart(family: Family, owner: &'static str, method: &'static str) -> (&'static str, &'static str) {
    match method.rsplit_once(">.") {
        Some((interface, called)) if family == Family::Net && interface.contains("ISimdVector<") => {
            (owner.trim_end_matches("`1"), called)
        }
        _ => (owner, method),
    }
}

/// Finds the replacement for a method.
///
/// # Errors
/// The errors of the method's signature.
pub(crate) fn find(method: &'static Method) -> LoadResult<Option<VectorCall>> {
    Ok(row_of(method)?.map(|row| row.call).filter(|call| *call != VectorCall::AsWritten))
}

/// Whether the method's return type is that of the operation. An assembly may have methods of these names with other
/// results.
fn gives(call: VectorCall, subject: &VectorSubject, ret: Ty) -> LoadResult<bool> {
    use MatrixCall as M;
    use VectorCall as C;
    let scalar = |ir: IrType| Ok(ir_type(ret)? == ir);
    match call {
        C::AsWritten => Ok(true),
        C::Constant(_) | C::AccelerationMode | C::AllEqual(_) | C::All(_) | C::AnyOf(_) => scalar(IrType::I32),
        C::Unary(VectorOp::HighBits) | C::Matrix(M::Equal(_) | M::PlanesEqual(_)) => scalar(IrType::I32),
        C::Nothing | C::CopyTo | C::SetArray | C::SetComponent | C::Widen => scalar(IrType::Void),
        C::Splat | C::Elements | C::Joined | C::FromArray | C::FromSpan => scalar(IrType::Void),
        C::Bits(_) | C::Log2 | C::NoCommonBits => scalar(IrType::I32),
        C::Store | C::StoreTo | C::StoreScalar => scalar(IrType::Void),
        C::Half(_) => Ok(ret.value_size_bytes()? == 8),
        C::Dot | C::Length | C::LengthSquared | C::Item | C::Component | C::Element | C::First | C::Sum => {
            match subject.vector {
                Some(vector) => scalar(vector.lanes.scalar()),
                None => Ok(false),
            }
        }
        C::Matrix(M::PlaneDot) => scalar(IrType::F32),
        C::Matrix(M::Transform | M::TransformNormal | M::Rotate) => Ok(vector_type(ret).is_some()),
        C::Matrix(_) => Ok(ret == subject.ty),
        _ => Ok(vector_type(ret).is_some()),
    }
}

fn fits(row: &VectorRow, subject: &VectorSubject, family: Family, params: &[Ty]) -> bool {
    if subject.vector.is_some_and(|vector| !row.lanes.contains(vector.lanes)) {
        return false;
    }
    if row.params == [Param::EachLane] {
        return subject.vector.is_some_and(|vector| params.len() == vector.count as usize)
            && params.iter().all(|ty| fits_one(Param::Lane, ty, subject, family));
    }
    row.params.len() == params.len() && row.params.iter().zip(params).all(|(p, ty)| fits_one(*p, ty, subject, family))
}

fn fits_one(param: Param, ty: Ty, subject: &VectorSubject, family: Family) -> bool {
    let lanes = subject.vector.map(|vector| vector.lanes);
    match param {
        Param::Own => ty == subject.ty,
        Param::Lane => lanes.is_some() && lanes_of(ty) == lanes,
        Param::Array => lanes.is_some() && ty.is_sz_array() && ty.element().and_then(lanes_of) == lanes,
        Param::Span => {
            let name = ty.def().map(|def| (def.namespace, def.name));
            name == Some(("System", "Span`1"))
                && lanes.is_some()
                && ty.args.first().copied().and_then(lanes_of) == lanes
        }
        Param::Int => ty.element_type == ElementType::I4,
        Param::Single => ty.element_type == ElementType::R4,
        Param::Named(name) => family_name(ty) == Some((family, name)),
        Param::OwnPointer => is_pointer(ty) && ty.element() == Some(subject.ty),
        Param::LanePointer => lanes.is_some() && is_pointer(ty) && ty.element().and_then(lanes_of) == lanes,
        Param::HalfOfOwn => {
            let is_half = family_name(ty) == Some((family, "Vector64`1"));
            is_half && lanes.is_some() && ty.args.first().copied().and_then(lanes_of) == lanes
        }
        Param::NativeInt => matches!(ty.element_type, ElementType::I | ElementType::U),
        Param::Byte => ty.element_type == ElementType::U1,
        Param::Pointer => is_pointer(ty),
        Param::Any => true,
        Param::EachLane => false,
    }
}

fn is_pointer(ty: Ty) -> bool {
    matches!(ty.element_type, ElementType::ByRef | ElementType::Ptr)
}
