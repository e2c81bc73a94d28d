//! System.Runtime.InteropServices.TypeMapping (.NET 10): the attributes of assemblies that map names and types to
//! types.
//!
//! Managed code gives C functions that take an entry each, and keeps the maps. Invariant: assemblies are read once
//! each, the entry assembly first, then those that `TypeMapAssemblyTargetAttribute` names, all for one group. Left out:
//! loading the types of entries, which managed code does when one is asked for.

use crate::arguments::{AssemblyArgument, TypeArgument};
use saki_abi::ObjRef;
use saki_metadata::{ElementType, TableId, Token};
use saki_reflect::objects::assembly_object;
use saki_runtime::object::exceptions;
use saki_runtime::{CurrentThread, ExceptionType, InternalCall, Managed, Obj, ToManaged, Word};
use saki_types::binder::AssemblyName;
use saki_types::{Assembly, GenericContext, LoadError, LoadErrorKind, LoadResult, Ty, TypeKind, universe};

/// `ProcessAttributesCallbackArg`: two texts in UTF-8.
#[repr(C)]
struct Entry {
    first: *const u8,
    second: *const u8,
    first_bytes: i32,
    second_bytes: i32,
}

/// An UnmanagedCallersOnly method that takes an entry; 0 if it kept an exception in the context.
type TakeEntry = unsafe extern "C" fn(*mut ObjRef, *const Entry) -> i32;

const NAMESPACE: &str = "System.Runtime.InteropServices";
/// The attributes' names, in the order in which an assembly's are read.
const TARGET: &str = "TypeMapAssemblyTargetAttribute`1";
const EXTERNAL: &str = "TypeMapAttribute`1";
const PROXY: &str = "TypeMapAssociationAttribute`1";

/// The first text of a blob of serialized texts (ECMA-335 §II.23.3), and the rest; None where it ends early. Null is
/// empty.
fn split_text(blob: &'static [u8]) -> Option<(&'static [u8], &'static [u8])> {
    const NULL: u8 = 0xff;
    let (&first, rest) = blob.split_first()?;
    let (length, rest) = match first {
        NULL => (0, rest),
        _ if first & 0x80 == 0 => (usize::from(first), rest),
        _ if first & 0x40 == 0 => {
            let (&low, rest) = rest.split_first()?;
            (usize::from(first & 0x3f) << 8 | usize::from(low), rest)
        }
        _ => {
            let (bytes, rest) = rest.split_at_checked(3)?;
            (bytes.iter().fold(usize::from(first & 0x1f), |length, byte| length << 8 | usize::from(*byte)), rest)
        }
    };
    rest.split_at_checked(length)
}

/// The arguments of an assembly's attributes of this name for the group, in metadata order: a text and, where there are
/// two, another. A type is written as its name. The texts lie in the metadata, to which managed code keeps references.
fn texts_of(assembly: &'static Assembly, attribute: &str, group: Ty) -> LoadResult<Vec<[&'static [u8]; 2]>> {
    const PROLOG_BYTES: usize = 2;
    let image = assembly.image;
    let definition = universe().corlib().find_type(NAMESPACE, attribute)?;
    let mut found = Vec::new();
    for row in image.meta.custom_attributes(Token::new(TableId::Assembly, 1)) {
        let row = row?;
        // The constructor of an instance is named through a TypeSpec row.
        if row.constructor.table() != TableId::MemberRef
            || image.meta.member_ref(row.constructor.rid())?.class.table() != TableId::TypeSpec
        {
            continue;
        }
        let constructor = image.resolve_method(row.constructor, &GenericContext::NONE)?;
        let class = constructor.owner;
        if class.args.first() != Some(&group) || class.generic_definition() != definition {
            continue;
        }
        let malformed = || {
            let message = "Binary format of the specified custom attribute was invalid.";
            LoadError::new(LoadErrorKind::BadImageFormat, message, image.meta.path().display().to_string())
        };
        let blob = image.meta.blob(row.value)?.get(PROLOG_BYTES..).ok_or_else(malformed)?;
        let (first, rest) = split_text(blob).ok_or_else(malformed)?;
        let second = match constructor.sig()?.params.len() {
            1 => &[],
            _ => split_text(rest).ok_or_else(malformed)?.0,
        };
        found.push([first, second]);
    }
    Ok(found)
}

/// Gives the entries of an assembly to managed code. False: it has kept an exception.
fn give(t: CurrentThread, entries: &[[&'static [u8]; 2]], take: TakeEntry, context: *mut ObjRef) -> bool {
    for [first, second] in entries {
        let entry = Entry {
            first: first.as_ptr(),
            second: second.as_ptr(),
            first_bytes: first.len() as i32,
            second_bytes: second.len() as i32,
        };
        // SAFETY: managed code passes a C function of this signature, and its own variable, which lives for the call;
        // the entry does so, too. A C function enters managed code by itself.
        if t.managed().blocking(|| unsafe { take(context, &entry) }) == 0 {
            return false;
        }
    }
    true
}

fn process_attributes(
    t: CurrentThread,
    start: AssemblyArgument,
    group: TypeArgument,
    take_external: *const (),
    take_proxy: *const (),
    context: *mut ObjRef,
) -> Managed<()> {
    let group = group.ty();
    // SAFETY: managed code passes null or an UnmanagedCallersOnly method with this signature.
    let take = |function: *const ()| unsafe { std::mem::transmute::<*const (), Option<TakeEntry>>(function) };
    let maps = [(EXTERNAL, take(take_external)), (PROXY, take(take_proxy))];
    let mut assemblies = vec![start.assembly()];
    let mut next = 0;
    while let Some(&assembly) = assemblies.get(next) {
        next += 1;
        for texts in texts_of(assembly, TARGET, group).to_managed(t)? {
            let Some(name) = AssemblyName::parse(&saki_metadata::text_of(texts[0])) else {
                return Err(exceptions::throw(t, ExceptionType::FileLoad, "The given assembly name was invalid."));
            };
            let target = universe().binder().resolve(&name, Some(assembly.image)).to_managed(t)?;
            if !assemblies.iter().any(|known| std::ptr::eq(*known, target)) {
                assemblies.push(target);
            }
        }
        let object: Obj = assembly_object(t, assembly)?;
        // SAFETY: the first field of managed code's own variable is a reference to a RuntimeAssembly; it lies on the
        // stack, where stores need no barrier.
        unsafe { context.write(object.word()) };
        for (attribute, take) in maps {
            let Some(take) = take else { continue };
            if !give(t, &texts_of(assembly, attribute, group).to_managed(t)?, take, context) {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The hash of a name, over its bytes in UTF-8.
fn hash_of_name(name: &str) -> u32 {
    const START: u32 = 0x6da3_b944;
    if name.is_empty() {
        return 0;
    }
    let add =
        |hash: u32, byte: u8| hash.wrapping_add(hash.rotate_left(5)) ^ i32::from(byte.cast_signed()).cast_unsigned();
    let (mut even, mut odd) = (START, 0);
    for pair in name.as_bytes().chunks(2) {
        even = add(even, pair[0]);
        odd = pair.get(1).map_or(odd, |byte| add(odd, *byte));
    }
    even.wrapping_add(even.rotate_left(8)) ^ odd.wrapping_add(odd.rotate_left(8))
}

/// The hash of a type that managed code computes from the type's name (`VersionResilientHashCode`). Types that have no
/// such name, which no entry can have either, have the hash 0.
fn hash_of_type(ty: Ty) -> LoadResult<u32> {
    const ARRAY: u32 = 0xd531_3556;
    const POINTER: u32 = 4816;
    const BY_REF: u32 = 19589;
    let mixed = |hash: u32, bits: u32| hash.wrapping_add(hash.rotate_left(bits));
    if let Some(element) = ty.element() {
        let element = hash_of_type(element)?;
        return Ok(match ty.element_type {
            ElementType::Ptr => mixed(element, 5) ^ POINTER,
            ElementType::ByRef => mixed(element, 7) ^ BY_REF,
            _ => mixed(mixed(ARRAY.wrapping_add(ty.array_rank()), 13) ^ element, 15),
        });
    }
    let TypeKind::Def(row) = &ty.generic_definition().unwrap_or(ty).kind else { return Ok(0) };
    let mut hash = hash_of_name(row.namespace) ^ hash_of_name(row.name);
    if let Some(enclosing) = ty.enclosing_type()? {
        hash ^= mixed(hash_of_type(enclosing)?, 11);
    }
    if ty.generic_definition().is_none_or(|definition| definition == ty) {
        return Ok(hash);
    }
    for argument in ty.args {
        hash = mixed(hash, 13) ^ hash_of_type(argument)?;
    }
    Ok(mixed(hash, 15))
}

fn type_hash(t: CurrentThread, ty: TypeArgument) -> Managed<i32> {
    hash_of_type(ty.ty()).to_managed(t).map(u32::cast_signed)
}

/// The internal calls of `TypeMapLazyDictionary` and `VersionResilientHashCode`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@net10 QCall::TypeMapLazyDictionary_ProcessAttributes", &process_attributes),
    InternalCall::new("@net10 QCall::VersionResilientHashCode_TypeHashCode", &type_hash),
];
