//! Linking: what code names becomes addresses, and the code is placed.
//!
//! `fill` makes the managed objects that code names (strings, type objects, marshal descriptors) and gives their cells'
//! addresses; it may throw. `place` then resolves everything else, copies the code into the code heap and publishes it
//! in the code map. Invariant: `place` makes no managed object and throws no managed exception.

use super::noted;
use super::thunks::{helper_thunk, native_address, with_target};
use crate::entries::{code_error, entry_address, entry_of, lasting_code, lives_with_domain, unbox_entry_address};
use crate::internal_calls;
use crate::library_loops;
use crate::object::overrides;
use crate::statics;
use crate::strings;
use crate::thread::{CurrentThread, Managed};
use crate::type_objects;
use crate::upcalls::upcalls;
use crate::upper_layers::{native_cell, upper_layers, vararg_cookie};
use crate::vtables::vtable_of;
use saki_abi::{AddressUse, HelperId};
use saki_code::{CodeInfo, CodeKind, NewBody, PlacedTarget};
use saki_il::ir::Symbol;
use saki_jit::{CompiledCode, RelocTarget};
use saki_types::{LoadResult, Method, Type, collectible};

/// Addresses of cells, in the order in which the code's relocations name them, those of its filters first.
#[derive(Default)]
pub(super) struct Cells(Vec<usize>);

/// Makes the managed objects that the code names.
///
/// # Errors
/// Out of memory; the exceptions of marshal descriptors.
pub(super) fn fill(t: CurrentThread, code: &CompiledCode) -> Managed<Cells> {
    let mut cells = Cells::default();
    fill_into(t, code, &mut cells)?;
    Ok(cells)
}

fn fill_into(t: CurrentThread, code: &CompiledCode, cells: &mut Cells) -> Managed<()> {
    for filter in &code.filters {
        fill_into(t, filter, cells)?;
    }
    for reloc in &code.relocs {
        let RelocTarget::Symbol(symbol) = reloc.target else { continue };
        let address = match symbol {
            Symbol::StringLiteral(image, token) => strings::literal_cell(t, image, token)?.address(),
            Symbol::TypeObject(ty) => type_objects::cell_of(t, ty)?.address(),
            Symbol::MarshalInfo(method, index) => (upper_layers().interop.marshal_info)(t, method, index)?,
            Symbol::NativeEntry(method) => (upper_layers().interop.native_entry)(t, method)?,
            _ => continue,
        };
        cells.0.push(address);
    }
    Ok(())
}

/// Where code that names a method's entry is led.
///
/// A function pointer always names the stub. A call goes to the code, if there is any, and follows it from version to
/// version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum MethodTarget {
    /// The code that names it, a recursive call; the method ends before its domain, and has one version.
    OwnBody,
    /// As before, and the call follows the method's versions.
    OwnVersion,
    /// The code of a method that ends with its domain or later; the calling code ends before it.
    Lasting(usize),
    /// The current version, which the call follows; both methods stay as long as their domain.
    Version,
    /// The stub, for ever.
    Entry,
}

/// Whether two methods stay as long as their domain.
#[derive(Clone, Copy)]
struct Staying {
    caller: bool,
    callee: bool,
}

impl MethodTarget {
    /// `is_own`: the code that names the method is its body. `lasting`: the method's code, if it has code that lasts.
    fn of(usage: AddressUse, is_own: bool, lasting: Option<usize>, staying: Staying) -> MethodTarget {
        match (usage, staying, lasting) {
            (AddressUse::AddressTaken, ..) => MethodTarget::Entry,
            (AddressUse::Called, Staying { callee: false, .. }, _) if is_own => MethodTarget::OwnBody,
            (AddressUse::Called, ..) if is_own => MethodTarget::OwnVersion,
            (AddressUse::Called, Staying { caller: true, callee: true }, _) => MethodTarget::Version,
            (AddressUse::Called, _, Some(code)) => MethodTarget::Lasting(code),
            (AddressUse::Called, _, None) => MethodTarget::Entry,
        }
    }
}

/// Places the code, whose cells `fill` has made. `method`: the `&'static Method` that it belongs to, or null.
///
/// # Errors
/// Those of the types and members that the code names; `NotSupported` when the code region is full.
pub(super) fn place(
    code: CompiledCode,
    kind: CodeKind,
    method: *const (),
    cells: &Cells,
) -> LoadResult<&'static CodeInfo> {
    place_with(code, kind, method, &mut cells.0.iter().copied())
}

fn place_with(
    mut compiled: CompiledCode,
    kind: CodeKind,
    method: *const (),
    cells: &mut impl Iterator<Item = usize>,
) -> LoadResult<&'static CodeInfo> {
    let mut filter_addresses = Vec::new();
    for filter in std::mem::take(&mut compiled.filters) {
        filter_addresses.push(place_with(filter, CodeKind::Filter, method, cells)?.start);
    }
    let mut relocs = Vec::with_capacity(compiled.relocs.len());
    // SAFETY: null or a `&'static Method`.
    let caller = unsafe { method.cast::<Method>().as_ref() };
    let stays = caller.is_none_or(lives_with_domain);
    for reloc in &compiled.relocs {
        let target = match reloc.target {
            RelocTarget::Symbol(Symbol::MethodEntry(callee)) => {
                // Wrappers around a method are not its body, and neither are continuations.
                let is_body = kind == CodeKind::Method && !compiled.is_continuation;
                let is_own = is_body && std::ptr::eq(callee, method as *const Method);
                let end_together = caller.is_none_or(|caller| end_together(caller, callee));
                let staying = Staying { caller: stays && end_together, callee: lives_with_domain(callee) };
                match MethodTarget::of(reloc.usage, is_own, lasting_code(callee), staying) {
                    MethodTarget::OwnBody => PlacedTarget::OwnOffset(0),
                    MethodTarget::OwnVersion => PlacedTarget::OwnMethod(entry_of(callee)?),
                    MethodTarget::Lasting(code) => PlacedTarget::Address(code),
                    MethodTarget::Version => PlacedTarget::Method(entry_of(callee)?),
                    MethodTarget::Entry => {
                        if reloc.usage == AddressUse::AddressTaken {
                            keep_named(reloc.target, method);
                        }
                        PlacedTarget::Address(entry_address(callee)?)
                    }
                }
            }
            named => {
                keep_named(named, method);
                PlacedTarget::Address(address_of(named, &compiled, cells)?)
            }
        };
        relocs.push(with_target(reloc, target));
    }
    let is_named_by_method = caller.is_some() && kind.is_shown_as_method();
    let name = match caller {
        _ if is_named_by_method => "".into(),
        // A function that is the method's own code has no name beside it.
        Some(method) if compiled.name.is_empty() => method.full_name().into(),
        _ => compiled.name,
    };
    let mut body = NewBody::new(kind, method, name);
    body.tables = compiled.tables.bind(
        |method| std::ptr::from_ref(method).cast(),
        |ty| std::ptr::from_ref(ty).cast(),
        |index| filter_addresses[index as usize],
    );
    let placed = saki_code::place(compiled.bytes, compiled.alignment_bytes, &relocs, body).map_err(code_error)?;
    if let Some(owner) = collectible::of(method.addr()) {
        owner.add_body(std::ptr::from_ref(placed).addr());
    }
    Ok(placed)
}

/// Whether two methods that stay as long as their domain have the same: the list of a callee's calls must not name code
/// of a domain that ended before.
fn end_together(caller: &Method, callee: &Method) -> bool {
    let owner = |method| collectible::owner_of::<Method>(method).map(std::ptr::from_ref);
    owner(caller) == owner(callee)
}

/// Keeps a dynamic method for ever once code takes its address, because holders of the address cannot be tracked.
fn keep_named(target: RelocTarget, by: *const ()) {
    if let RelocTarget::Symbol(Symbol::MethodEntry(named) | Symbol::MethodHandle(named)) = target
        && named.is_dynamic()
        && !std::ptr::eq(named, by.cast())
    {
        upcalls().keep_dynamic_method(named);
    }
}

/// The address of a relocation's target.
fn address_of(
    target: RelocTarget,
    compiled: &CompiledCode,
    cells: &mut impl Iterator<Item = usize>,
) -> LoadResult<usize> {
    if let RelocTarget::Symbol(symbol) = target {
        return address_of_symbol(symbol, cells);
    }
    match native_address(target) {
        Some(address) => Ok(address),
        None => saki_base::bug!("{}: a callback thunk is placed by `thunks`", compiled.name),
    }
}

fn address_of_symbol(symbol: Symbol, cells: &mut impl Iterator<Item = usize>) -> LoadResult<usize> {
    Ok(match symbol {
        Symbol::StringLiteral(..) | Symbol::TypeObject(_) | Symbol::MarshalInfo(..) | Symbol::NativeEntry(_) => {
            match cells.next() {
                Some(address) => address,
                None => saki_base::bug!("no cell was made for {symbol:?}"),
            }
        }
        Symbol::TypeHandle(ty) => ty as *const Type as usize,
        Symbol::MethodHandle(method) => method as *const Method as usize,
        Symbol::FieldHandle(field) => field as *const saki_types::Field as usize,
        Symbol::VTable(ty) => std::ptr::from_ref(vtable_of(ty)?).addr(),
        Symbol::MethodEntry(method) => entry_address(method)?,
        Symbol::UnboxEntry(method) => unbox_entry_address(method)?,
        Symbol::StaticField(field) => statics::static_field_address(field)? as usize,
        Symbol::ThreadStaticPlace(field) => statics::thread_static_place(field)?,
        Symbol::ClassInitFlag(ty) => ty.runtime.init_done.as_ptr() as usize,
        Symbol::Helper(id) => helper_thunk(id)?,
        Symbol::InternalCall(method) => match internal_call_address(method) {
            Some(address) => address,
            None => upcalls().helper_function(HelperId::MissingInternalCall),
        },
        Symbol::NativeCell(method) => native_cell(method),
        Symbol::VarArgCookie(image, token) => vararg_cookie(image, token),
        Symbol::Overrides(method) => overrides::relied_on_byte(method),
        Symbol::Noted(method, il_offset) => std::ptr::from_ref(noted::cell(method, il_offset)).addr(),
        Symbol::BlockCounts(method, count) => noted::counters(method, count as usize).as_ptr().addr(),
    })
}

/// The Rust function that implements a method, or replaces its loop.
fn internal_call_address(method: &'static Method) -> Option<usize> {
    match library_loops::find(method) {
        Some(row) => Some(row.function as usize),
        None => internal_calls::find(method).map(|row| row.function as usize),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: Option<usize> = Some(0x1000);

    #[test]
    fn calls_are_led_to_code_and_function_pointers_to_the_entry() {
        use AddressUse::{AddressTaken, Called};
        let check = |usage, is_own, code, (caller, callee), expected| {
            let found = MethodTarget::of(usage, is_own, code, Staying { caller, callee });
            assert_eq!(found, expected, "{usage:?} {is_own} {code:?} {caller} {callee}");
        };
        for code in [None, CODE] {
            check(Called, false, code, (true, true), MethodTarget::Version);
            check(Called, true, code, (true, true), MethodTarget::OwnVersion);
            check(Called, true, code, (false, false), MethodTarget::OwnBody);
        }
        // A list of calls must not outlive a method that may end before its domain.
        for staying in [(true, false), (false, true), (false, false)] {
            check(Called, false, CODE, staying, MethodTarget::Lasting(0x1000));
            check(Called, false, None, staying, MethodTarget::Entry);
        }
        // Function pointers are compared: each names the stub, whenever and by whichever code it was taken.
        for (is_own, code) in [(false, None), (false, CODE), (true, CODE), (true, None)] {
            for staying in [(true, true), (true, false), (false, true), (false, false)] {
                check(AddressTaken, is_own, code, staying, MethodTarget::Entry);
            }
        }
    }
}
