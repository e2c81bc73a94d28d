//! The value types that are vectors: known by the assembly, the namespace and the name of their definition.
//!
//! Many programs come with copies of the System.Numerics assemblies made for .NET Standard, which are used beside those
//! of the class library; the profile of the class libraries names these assemblies (`LibraryProfile::companions`).
//! .NET's vector types are `Vector128<T>` and `Vector<T>` of the core assembly; the others (`Vector64<T>`, `Vector4`)
//! are structs there.
//! Invariant: a type counts as a vector only if its size is right.

use crate::ir::{Lanes, MemType};
use saki_types::{ElementType, Ty, VectorLibrary};

/// The lanes of a value type that is a vector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct VectorType {
    pub lanes: Lanes,
    /// Lanes in use, from the first one; the others are zero in values and absent in memory.
    pub count: u32,
    pub mem: MemType,
}

impl VectorType {
    fn whole(lanes: Lanes) -> VectorType {
        VectorType { lanes, count: lanes.count(), mem: MemType::V128 }
    }

    fn floats(count: u32, mem: MemType) -> VectorType {
        VectorType { lanes: Lanes::F32, count, mem }
    }
}

/// The lanes for elements of a primitive type. IntPtr and UIntPtr are elements of .NET's vectors only.
pub(crate) fn lanes_of(ty: Ty) -> Option<Lanes> {
    Some(match ty.element_type {
        ElementType::I1 => Lanes::I8,
        ElementType::U1 => Lanes::U8,
        ElementType::I2 => Lanes::I16,
        ElementType::U2 => Lanes::U16,
        ElementType::I4 => Lanes::I32,
        ElementType::U4 => Lanes::U32,
        ElementType::I8 | ElementType::I => Lanes::I64,
        ElementType::U8 | ElementType::U => Lanes::U64,
        ElementType::R4 => Lanes::F32,
        ElementType::R8 => Lanes::F64,
        _ => return None,
    })
}

const INTRINSICS: &str = "System.Runtime.Intrinsics";
/// The namespace of the classes of x86's instructions.
pub(crate) const X86: &str = "System.Runtime.Intrinsics.X86";

/// The library to which a vector type belongs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Family {
    Numerics,
    MonoSimd,
    /// Of .NET's core assembly, with the classes of x86's instructions.
    Net,
}

/// Family and name of the type, if its assembly and namespace are those of a vector library.
pub(crate) fn family_name(ty: Ty) -> Option<(Family, &'static str)> {
    let def = ty.def()?;
    if !matches!(def.namespace, "System.Numerics" | "Mono.Simd" | INTRINSICS | X86) {
        return None;
    }
    let family = match (ty.vector_library()?, def.namespace) {
        (VectorLibrary::NumericsAndSimd, "System.Numerics") => Family::Numerics,
        (VectorLibrary::NumericsAndSimd, "Mono.Simd") => Family::MonoSimd,
        (VectorLibrary::Intrinsics, "System.Numerics" | INTRINSICS | X86) => Family::Net,
        _ => return None,
    };
    Some((family, def.name))
}

/// The lanes of a vector type; None for other types.
pub(crate) fn vector_type(ty: Ty) -> Option<VectorType> {
    if ty.element_type != ElementType::ValueType {
        return None;
    }
    let vector = match family_name(ty)? {
        (Family::Numerics, "Vector`1") => {
            let element = ty.args.first().filter(|ty| !matches!(ty.element_type, ElementType::I | ElementType::U))?;
            VectorType::whole(lanes_of(element)?)
        }
        (Family::Net, "Vector128`1" | "Vector`1") => VectorType::whole(lanes_of(ty.args.first()?)?),
        (Family::Numerics, "Vector4" | "Quaternion") => VectorType::whole(Lanes::F32),
        (Family::Numerics, "Vector3") => VectorType::floats(3, MemType::V96),
        (Family::Numerics, "Vector2") => VectorType::floats(2, MemType::V64),
        (Family::MonoSimd, name) => VectorType::whole(match name {
            "Vector16b" => Lanes::U8,
            "Vector16sb" => Lanes::I8,
            "Vector8us" => Lanes::U16,
            "Vector8s" => Lanes::I16,
            "Vector4ui" => Lanes::U32,
            "Vector4i" => Lanes::I32,
            "Vector2ul" => Lanes::U64,
            "Vector2l" => Lanes::I64,
            "Vector4f" => Lanes::F32,
            "Vector2d" => Lanes::F64,
            _ => return None,
        }),
        _ => return None,
    };
    (ty.value_size_bytes().ok()? == vector.mem.bytes()).then_some(vector)
}

/// The number of rows of a matrix, and the memory type of a row.
pub(crate) fn matrix_rows(ty: Ty) -> Option<(u32, MemType)> {
    if ty.element_type != ElementType::ValueType {
        return None;
    }
    let (rows, mem) = match family_name(ty)? {
        (Family::Numerics, "Matrix4x4") => (4, MemType::V128),
        (Family::Numerics, "Matrix3x2") => (3, MemType::V64),
        _ => return None,
    };
    (ty.value_size_bytes().ok()? == rows * mem.bytes()).then_some((rows, mem))
}
