//! Generates `docs/simd.md` from the rows of the table.

use super::rows::{LaneSet, MatrixCall, Param, VectorCall, VectorRow, VectorRows};
use super::table::groups;
use crate::ir::{Lanes, VectorOp};
use crate::vector_types::Family;
use std::collections::BTreeSet;
use std::fmt::Write;

const HEAD: &str = "# Vector types

Methods of `System.Numerics` and `Mono.Simd` are the processor's own operations on vectors of 16 bytes, where the processor has SSSE3 and SSE 4.2 (nearly all of x86-64 since 2011) and `--no-simd`
(SAKI_NO_SIMD=1) is not given; `saki doctor` says which. Otherwise the class library's code runs. What a method gives is the same, bit for bit: NaN, negative zero, saturation, amounts of shifts and
exceptions are those of the class library's code. (Of a NaN that an operation makes of two NaNs, neither says which one's bits it has.)

The types are known by assembly, namespace and name: those of the class libraries, and those of copies of `System.Numerics.Vectors.dll` that programs carry beside them.
`Vector<T>.Count` is 16 bytes' worth. `System.Runtime.Intrinsics` is not in the class libraries of Mono 6.8, 6.12 and 6.14; for programs on .NET see [below](#net).

The columns: *operands* are the types of elements for which the row holds; *becomes* says what is in the code in place of a call. \"As written\" is the class library's own code, which is
inlined where it is short and is made of the other rows.

This file is made from the table in `crates/il/src/import/vectors`, by which the compiler knows the methods; a test compares them (`UPDATE_EXPECT=1 cargo test -p saki-il document`).
";

const NET: &str = "
## .NET

Programs on .NET 9 and 10: vectors of 16 bytes, whose operations give what .NET's give on x64, bit for bit, except `MultiplyAddEstimate` and the reciprocal estimates, which differ between processors
there, too. `Vector128.IsHardwareAccelerated` and `Vector.IsHardwareAccelerated` are true, those of 64, 256 and 512 bits false: their code is the class library's, made of these operations. What is
not listed runs as the class library wrote it. `IsSupported` of all instruction sets is false for programs; the core assembly has the instructions below for its own loops.
";

fn element(lanes: Lanes) -> &'static str {
    match lanes {
        Lanes::I8 => "sbyte",
        Lanes::U8 => "byte",
        Lanes::I16 => "short",
        Lanes::U16 => "ushort",
        Lanes::I32 => "int",
        Lanes::U32 => "uint",
        Lanes::I64 => "long",
        Lanes::U64 => "ulong",
        Lanes::F32 => "float",
        Lanes::F64 => "double",
    }
}

const LANES: [Lanes; 10] = [
    Lanes::I8,
    Lanes::U8,
    Lanes::I16,
    Lanes::U16,
    Lanes::I32,
    Lanes::U32,
    Lanes::I64,
    Lanes::U64,
    Lanes::F32,
    Lanes::F64,
];

fn elements(set: LaneSet) -> String {
    let names = |set: LaneSet| LANES.iter().filter(move |lanes| set.contains(**lanes)).map(|lanes| element(*lanes));
    match set {
        LaneSet::ALL => "all".to_owned(),
        LaneSet::FLOATS => "float, double".to_owned(),
        LaneSet::INTEGERS => "integers".to_owned(),
        LaneSet::SIGNED => "signed integers".to_owned(),
        LaneSet::UNSIGNED => "unsigned integers".to_owned(),
        _ => names(set).collect::<Vec<_>>().join(", "),
    }
}

fn parameter(param: Param, own: &str) -> String {
    match param {
        Param::Own => own.to_owned(),
        Param::Lane => "element".to_owned(),
        Param::EachLane => "element, …".to_owned(),
        Param::Array => "array".to_owned(),
        Param::Int => "int".to_owned(),
        Param::Single => "float".to_owned(),
        Param::Named(name) => name.to_owned(),
        Param::OwnPointer => format!("ref {own}"),
        Param::Span => "span".to_owned(),
        Param::Pointer => "out".to_owned(),
        Param::LanePointer => "pointer".to_owned(),
        Param::HalfOfOwn => "Vector64".to_owned(),
        Param::NativeInt => "nuint".to_owned(),
        Param::Byte => "byte".to_owned(),
        Param::Any => "…".to_owned(),
    }
}

/// The method's signature in C# syntax.
fn signature(row: &VectorRow, own: &str) -> String {
    let params: Vec<String> = row.params.iter().map(|param| parameter(*param, own)).collect();
    let list = params.join(", ");
    let operator = match row.method {
        "op_Addition" | "op_UnaryPlus" => "+",
        "op_Subtraction" | "op_UnaryNegation" => "-",
        "op_Multiply" => "*",
        "op_Division" => "/",
        "op_BitwiseAnd" => "&",
        "op_BitwiseOr" => "|",
        "op_ExclusiveOr" => "^",
        "op_OnesComplement" => "~",
        "op_Equality" => "==",
        "op_Inequality" => "!=",
        "op_LeftShift" => "<<",
        "op_RightShift" => ">>",
        "op_UnsignedRightShift" => ">>>",
        "op_Explicit" => return format!("(other){own}"),
        ".ctor" => return format!("new({list})"),
        "get_Item" | "get_Component" => return "[int]".to_owned(),
        "set_Component" => return "[int] = element".to_owned(),
        name => {
            return match name.strip_prefix("get_") {
                Some(property) => property.to_owned(),
                None => format!("{name}({list})"),
            };
        }
    };
    match &params[..] {
        [a] => format!("{operator}{a}"),
        [a, b] => format!("{a} {operator} {b}"),
        _ => format!("{operator}({list})"),
    }
}

/// Describes the replacement of the call in words.
fn becomes(call: VectorCall) -> String {
    use MatrixCall as M;
    use VectorCall as C;
    let name = |op: VectorOp| match op {
        VectorOp::Min | VectorOp::Max => "minimum or maximum",
        VectorOp::Eq | VectorOp::Lt | VectorOp::Le | VectorOp::Gt | VectorOp::Ge | VectorOp::Unordered => "comparison",
        VectorOp::And | VectorOp::AndNot | VectorOp::Or | VectorOp::Xor | VectorOp::Not => "bitwise",
        VectorOp::Add | VectorOp::Sub | VectorOp::Mul | VectorOp::Div | VectorOp::Neg => "arithmetic",
        VectorOp::AddSaturated | VectorOp::SubSaturated => "saturating arithmetic",
        VectorOp::Average => "average",
        VectorOp::MultiplyHigh => "products of twice the width, and their upper halves",
        VectorOp::Abs => "magnitude",
        VectorOp::Sqrt => "square root",
        VectorOp::HighBits => "highest bits",
        VectorOp::PackSigned | VectorOp::PackUnsigned => "saturating narrowing",
        VectorOp::ToFloat | VectorOp::ToInteger | VectorOp::ToDouble | VectorOp::ToSingle => "conversion",
        VectorOp::WidenLow | VectorOp::WidenHigh => "widening",
        VectorOp::Floor | VectorOp::Ceil | VectorOp::Truncate | VectorOp::Round => "rounding",
        VectorOp::ShuffleBytes => "shuffle",
        VectorOp::MultiplyAddPairs => "products, added by pairs",
        VectorOp::ShiftLeft | VectorOp::ShiftRight | VectorOp::ShiftRightLogical => "shift",
        _ => "vector operation",
    };
    match call {
        C::AsWritten => "as written".to_owned(),
        C::Nothing => "nothing".to_owned(),
        C::Constant(number) => format!("{number}"),
        C::AccelerationMode => "SSE1 to SSE42".to_owned(),
        C::Bytes(_) | C::One => "a constant".to_owned(),
        C::Unary(op) | C::Binary(op) | C::Swapped(op) | C::Convert(op) => name(op).to_owned(),
        C::Complement(op) => format!("{}, turned over", name(op)),
        C::ByScalar(op) | C::OfScalar(op) | C::ScalarFirst(op) => {
            format!("{} with the element in every lane", name(op))
        }
        C::Magnitude => "magnitude and a check".to_owned(),
        C::AllEqual(_) => "comparison and test of all lanes".to_owned(),
        C::All(_) => "comparison and test of all lanes".to_owned(),
        C::AnyOf(_) => "comparison and test for any lane".to_owned(),
        C::FromZero => "arithmetic".to_owned(),
        C::Select => "bitwise".to_owned(),
        C::Reinterpret => "nothing: the same bits".to_owned(),
        C::Dot => "products, added; floats from the first lane on".to_owned(),
        C::Splat => "one element in every lane".to_owned(),
        C::Elements | C::Joined => "elements put into lanes".to_owned(),
        C::FromArray | C::ArrayPart => "checks and a load".to_owned(),
        C::CopyTo | C::SetArray => "checks and a store, or the call where it throws".to_owned(),
        C::Item => "a lane, or a check and a load".to_owned(),
        C::Component => "a lane, or a check and a load, or the call where it throws".to_owned(),
        C::SetComponent => "a lane, or a check and a store, or the call where it throws".to_owned(),
        C::Widen => "widening of both halves".to_owned(),
        C::Narrow => "narrowing".to_owned(),
        C::ConvertEach(_) => "conversions of scalars, lane by lane".to_owned(),
        C::Quotients => "divisions of scalars, lane by lane".to_owned(),
        C::Roots => "square roots of scalars, lane by lane".to_owned(),
        C::Lerp | C::Mix => "arithmetic".to_owned(),
        C::Reflect | C::ReflectScalarsFirst => "dot product and arithmetic".to_owned(),
        C::LengthSquared => "dot product".to_owned(),
        C::Length => "dot product and its square root".to_owned(),
        C::FromSpan => "a check and a load".to_owned(),
        C::Clamp => "maximum and minimum".to_owned(),
        C::Cross => "shuffles and arithmetic".to_owned(),
        C::Shift(op) | C::ShiftModulo(op) | C::ShiftBeyond(op) => name(op).to_owned(),
        C::SplatOf => "one element in every lane".to_owned(),
        C::ElementsOf | C::ScalarOf | C::OfHalves | C::WithHalf(_) => "elements put into lanes".to_owned(),
        C::Element | C::First | C::Half(_) => "a lane, if its number is constant".to_owned(),
        C::WithElement => "an element put into a lane, if its number is constant".to_owned(),
        C::Load | C::LoadScalar => "a load".to_owned(),
        C::Store | C::StoreTo | C::StoreScalar => "a store".to_owned(),
        C::Sum => "the lanes, added; floats by pairs".to_owned(),
        C::Extreme(_) => "comparisons and a selection".to_owned(),
        C::SelectLanes => "shuffle; of lanes of more than a byte, if their numbers are constant".to_owned(),
        C::AlignRight | C::SelectFours => "shuffle".to_owned(),
        C::NoCommonBits => "bitwise, and a test".to_owned(),
        C::Bits(_) | C::Log2 => "a count of bits".to_owned(),
        C::Permute(_) => "shuffle".to_owned(),
        C::PermuteBy(_) => "shuffle, if the selection is constant".to_owned(),
        C::Propagating(_) => "comparisons and a selection".to_owned(),
        C::Pairwise(_) | C::SubtractAdd => "shuffles and arithmetic".to_owned(),
        C::Reciprocal => "exact division (not the estimate of `rcpps`)".to_owned(),
        C::InverseRoot => "division and square root in doubles (not the estimate of `rsqrtps`)".to_owned(),
        C::Rounded | C::Truncated => "conversion".to_owned(),
        C::Differences => "widening, arithmetic and sums".to_owned(),
        C::Matrix(M::Transform | M::TransformNormal) => "rows times lanes, added".to_owned(),
        C::Matrix(M::Product) => "rows times lanes, added, for each row".to_owned(),
        C::Matrix(M::Transpose) => "shuffles".to_owned(),
        C::Matrix(M::QuaternionProduct | M::Concatenate) => "shuffles and arithmetic".to_owned(),
        C::Matrix(M::Quotient) => "dot product, shuffles and arithmetic".to_owned(),
        C::Matrix(M::Conjugate) => "bitwise".to_owned(),
        C::Matrix(M::Rotate | M::RotatePlane | M::RotateRows) => {
            "a matrix of shuffles and arithmetic; rows times lanes, added".to_owned()
        }
        C::Matrix(M::Normalize | M::Inverse) => "dot product and arithmetic".to_owned(),
        C::Matrix(M::PlaneDot) => "products, added from the first lane on".to_owned(),
        C::Matrix(M::Equal(_) | M::PlanesEqual(_)) => "comparison and test of all lanes".to_owned(),
        C::Matrix(M::Rows(_) | M::EachRow(_) | M::RowsByScalar(_) | M::Lerp) => "arithmetic, row by row".to_owned(),
    }
}

fn write_group(text: &mut String, group: &VectorRows) {
    let is_generic = group.types == ["Vector`1"] || group.types == ["Vector"];
    let has_elements = is_generic || group.family != Family::Numerics;
    let own = match group.types {
        ["Matrix4x4"] | ["Matrix3x2", _] => "matrix",
        ["Quaternion"] => "quaternion",
        ["Plane"] => "plane",
        _ => "vector",
    };
    let names: Vec<String> = group.types.iter().map(|name| format!("`{}`", name.replace("`1", "<T>"))).collect();
    writeln!(text, "\n### {}\n", names.join(", ")).unwrap();
    let columns = if has_elements { "| method | operands | becomes |" } else { "| method | becomes |" };
    writeln!(text, "{columns}\n{}", if has_elements { "|---|---|---|" } else { "|---|---|" }).unwrap();
    for row in group.rows.iter().filter(|row| row.call != VectorCall::AsWritten) {
        let operands = if has_elements { format!(" {} |", elements(row.lanes)) } else { String::new() };
        let method = signature(row, own).replace('|', "\\|");
        writeln!(text, "| `{method}` |{operands} {} |", becomes(row.call)).unwrap();
    }
    let written: BTreeSet<String> = group
        .rows
        .iter()
        .filter(|row| row.call == VectorCall::AsWritten)
        .map(|row| format!("`{}`", signature(row, own).replace('|', "\\|")))
        .collect();
    if !written.is_empty() {
        let list: Vec<String> = written.into_iter().collect();
        writeln!(text, "\nAs written: {}.", list.join(", ")).unwrap();
    }
}

fn document() -> String {
    let mut text = HEAD.to_owned();
    let mut family = None;
    for group in groups() {
        if family != Some(group.family) {
            family = Some(group.family);
            text.push_str(match group.family {
                Family::Numerics => "\n## System.Numerics\n",
                Family::MonoSimd => "\n## Mono.Simd\n",
                Family::Net => NET,
            });
        }
        write_group(&mut text, group);
    }
    text
}

/// `UPDATE_EXPECT=1 cargo test -p saki-il document` writes the document.
#[test]
fn the_document_lists_the_rows() {
    expect_test::expect_file!["../../../../../docs/simd.md"].assert_eq(&document());
}

/// A row is never found if an earlier row matches all methods that it matches.
#[test]
fn no_row_hides_another() {
    for group in groups() {
        for (at, row) in group.rows.iter().enumerate() {
            for earlier in &group.rows[..at] {
                let overlaps = LANES.iter().any(|lanes| row.lanes.contains(*lanes) && earlier.lanes.contains(*lanes));
                let is_same = earlier.method == row.method && earlier.params == row.params;
                assert!(!(is_same && overlaps), "{} {:?}", row.method, row.params);
            }
        }
    }
}
