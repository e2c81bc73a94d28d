//! The `MethodTable`s by which managed code of .NET's class libraries looks at types (`abi::method_table`), and the
//! type handles that are their addresses.
//!
//! A type gets its table with its vtable or its type object. Invariant: a type has one table, which lives as long as
//! its record.

use saki_abi::method_table::{MethodTable, TYPE_DESC, method_table_flags as f};
use saki_types::{ElementType, LoadResult, Ty, Type, collectible, universe};
use std::sync::atomic::Ordering;

/// Whether the class libraries read such tables.
pub fn are_wanted() -> bool {
    universe().profile().reads_method_tables
}

/// The type's table.
///
/// # Errors
/// The errors of the type's layout.
pub fn method_table(ty: Ty) -> LoadResult<*const MethodTable> {
    // Acquire: pairs with the Release below.
    let known = ty.runtime.method_table.load(Ordering::Acquire);
    if !known.is_null() {
        return Ok(known.cast_const().cast());
    }
    let made: &MethodTable = collectible::keep_beside(ty, make(ty)?);
    let address = std::ptr::from_ref(made).cast_mut().cast::<u8>();
    // AcqRel: publishes the table. The first to publish wins, so that handles can be compared.
    let exchanged =
        ty.runtime.method_table.compare_exchange(std::ptr::null_mut(), address, Ordering::AcqRel, Ordering::Acquire);
    Ok(exchanged.map_or_else(|earlier| earlier.cast_const().cast(), |_| made))
}

/// The type's handle: `RuntimeType.m_handle`.
///
/// # Errors
/// The errors of the type's layout.
pub fn type_handle(ty: Ty) -> LoadResult<usize> {
    let is_class = !(ty.is_pointer() || ty.is_byref() || is_variable(ty) || ty.element_type == ElementType::FnPtr);
    Ok(method_table(ty)?.addr() | if is_class { 0 } else { TYPE_DESC })
}

fn is_variable(ty: Ty) -> bool {
    matches!(ty.element_type, ElementType::Var | ElementType::MVar)
}

/// The type of a handle, which is not null.
///
/// # Safety
/// The handle is one that `type_handle` gave, or the address of a table.
pub unsafe fn type_of_handle(handle: usize) -> Ty {
    let table = (handle & !TYPE_DESC) as *const MethodTable;
    // SAFETY: as this function demands; tables name the record of their type, which lives as long as they do.
    unsafe { &*(*table).ty.cast::<Type>() }
}

/// Words of a table in which managed code keeps what it has found out. It writes them without synchronisation, each
/// time with the same bits.
type Auxiliary = [std::cell::UnsafeCell<u64>; 8];

fn make(ty: Ty) -> LoadResult<MethodTable> {
    let has_layout = !ty.is_open && ty.def().is_some();
    let mut flags = flags_of(ty)?;
    let holds_references = |ty: Ty| -> LoadResult<bool> {
        Ok(match ty.element() {
            Some(element) if ty.is_array() => !element.is_open && element.contains_references()?,
            _ => has_layout && !ty.is_interface() && !ty.ref_offsets()?.is_empty(),
        })
    };
    if holds_references(ty)? {
        flags |= f::CONTAINS_REFERENCES;
    }
    let component_size_bytes = match ty.element() {
        Some(element) if ty.is_array() && !element.is_open => element.value_size_bytes()?,
        _ if ty.element_type == ElementType::String => 2,
        _ => 0,
    };
    if component_size_bytes != 0 {
        flags = flags & 0xffff_0000 | f::HAS_COMPONENT_SIZE | component_size_bytes & 0xffff;
    }
    let parent = match ty.parent()? {
        Some(parent) => method_table(parent)?,
        None => std::ptr::null(),
    };
    Ok(MethodTable {
        flags,
        base_size_bytes: if ty.is_array() || has_layout && !ty.is_interface() { ty.instance_size_bytes()? } else { 0 },
        flags2: 0,
        virtual_count: 0,
        interface_count: 0,
        parent,
        module: std::ptr::null(),
        auxiliary: std::ptr::from_ref(collectible::keep_beside(ty, Auxiliary::default())).cast_mut().cast(),
        class: std::ptr::null(),
        element_type: ty.element().map_or(Ok(0), type_handle)?,
        interfaces: std::ptr::null(),
        ty: std::ptr::from_ref(ty).cast(),
        rank: if ty.element_type == ElementType::SzArray { 0 } else { ty.array_rank() },
    })
}

fn flags_of(ty: Ty) -> LoadResult<u32> {
    use ElementType as E;
    let mut flags = if ty.is_array() {
        if ty.element_type == E::SzArray { f::SZ_ARRAY } else { f::ARRAY }
    } else if ty.is_interface() {
        f::INTERFACE
    } else if ty.is_nullable() {
        f::NULLABLE
    } else if ty.is_enum() {
        f::PRIMITIVE_ENUM
    } else if ty.is_value_type() && !matches!(ty.element_type, E::ValueType | E::TypedByRef | E::Void) {
        f::PRIMITIVE
    } else if ty.is_value_type() {
        f::VALUE_TYPE
    } else {
        0
    };
    if ty.is_open && is_variable(ty) {
        return Ok(f::CONTAINS_VARIABLES);
    }
    if ty.is_generic_definition() {
        flags |= f::GENERIC_DEFINITION;
    } else if !ty.args.is_empty() {
        flags |= f::GENERIC_INSTANCE;
    }
    if ty.is_open {
        flags |= f::CONTAINS_VARIABLES;
    }
    if ty.is_byref_like()? {
        flags |= f::IS_BY_REF_LIKE;
    }
    if ty.def().is_some() {
        let is_class = !ty.is_value_type() && !ty.is_interface() && ty.parent()?.is_some();
        if is_class && !ty.is_open && ty.finalizer()?.is_some() {
            flags |= f::HAS_FINALIZER;
        }
        if ty.find_method_sig(".ctor", &[])?.is_some() {
            flags |= f::HAS_DEFAULT_CONSTRUCTOR;
        }
    }
    Ok(flags)
}
