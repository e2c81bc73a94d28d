//! Transparent proxies: objects of System.Runtime.Remoting.Proxies.TransparentProxy whose vtable names the class that
//! they stand for as their type, and all of whose slots lead to stubs that hand the call to the RealProxy
//! (`types::RemotingStub::Invoke`).
//!
//! Casts to the class, its bases and its interfaces work as for other objects. Further interfaces that a proxy has, and
//! types that its RealProxy allows casts to (IRemotingTypeInfo), are in its `RemoteClass`; when a cast to another such
//! type succeeds, the proxy gets a new `RemoteClass`. Left out: functions that run managed code for a proxy
//! (`exec::proxy_calls`), and COM objects.

use crate::entries::{entry_address, slot_target};
use crate::exceptions::ToManaged;
use crate::fields::ManagedField;
use crate::object;
use crate::references::{Obj, Word};
use crate::thread::{CurrentThread, Managed};
use crate::upcalls::upcalls;
use crate::vtables::{self, class_display, vtable_of};
use rustc_hash::FxHashMap;
use saki_abi::stubs::StubId;
use saki_abi::vtable::{IMT_SLOTS, VTable, VTableFlags};
use saki_base::locks::{Mutex, rank};
use saki_types::collectible::{self, Owner};
use saki_types::{LibraryType, LoadError, LoadResult, Method, RemotingStub, Ty, Type, universe};
use std::sync::atomic::{AtomicPtr, Ordering};

pub static REAL_PROXY: ManagedField = ManagedField::new(LibraryType::TransparentProxy, "_rp");
static CLASS: ManagedField = ManagedField::new(LibraryType::TransparentProxy, "_class");
pub(crate) static HAS_TYPE_INFO: ManagedField = ManagedField::new(LibraryType::TransparentProxy, "_custom_type_info");

/// The class and interfaces that a proxy stands for. There is one record for each combination. It begins like the class
/// library's own structure.
#[repr(C)]
pub struct RemoteClass {
    default_vtable: *const VTable,
    other_vtable: *const VTable,
    proxy_class: *const Type,
    class_name: usize,
    interface_count: u32,
    interfaces: Vec<Ty>,
}

// SAFETY: immutable once made; the records that it points to live as long as its domain.
unsafe impl Send for RemoteClass {}
// SAFETY: nothing in it changes once it is made, so threads may read it at the same time.
unsafe impl Sync for RemoteClass {}

impl RemoteClass {
    /// The class; MarshalByRefObject for a proxy of an interface.
    pub fn class(&self) -> Ty {
        // SAFETY: the address of a `&'static Type`.
        unsafe { &*self.proxy_class }
    }

    /// The interfaces that the proxy has beside those of the class.
    pub(crate) fn interfaces(&self) -> &[Ty] {
        &self.interfaces
    }
}

type Classes = FxHashMap<(Ty, Vec<Ty>), &'static RemoteClass>;
static CLASSES: Mutex<rank::ProxyClasses, Option<Classes>> = Mutex::new(None);

/// The class and interfaces that `proxy` stands for.
pub fn remote_class(proxy: Obj) -> &'static RemoteClass {
    // SAFETY: stored by `make` or `upgrade`; lives while a proxy has it.
    unsafe { &*CLASS.get::<*const RemoteClass>(proxy) }
}

/// The result of a proxy's `GetType`: its class, or the interface that it was made for.
pub fn shown_type(proxy: Obj) -> Ty {
    let remote = remote_class(proxy);
    match remote.interfaces.first() {
        Some(interface) if remote.class().is(LibraryType::MarshalByRefObject) => interface,
        _ => remote.class(),
    }
}

fn class_for(class: Ty, interfaces: Vec<Ty>) -> LoadResult<&'static RemoteClass> {
    let key = (class, interfaces);
    if let Some(known) = CLASSES.lock().as_ref().and_then(|classes| classes.get(&key)) {
        return Ok(known);
    }
    // Proxies refer to the record by their vtable, which lies among the owner's records, and by its address.
    let owner = collectible::owner_of_all(types_of(&key).map(|ty| std::ptr::from_ref(ty).addr()));
    let vtable = build_vtable(class, owner)?;
    let remote = RemoteClass {
        default_vtable: vtable,
        other_vtable: vtable,
        proxy_class: class,
        class_name: 0,
        interface_count: key.1.len() as u32,
        interfaces: key.1.clone(),
    };
    let mut classes = CLASSES.lock();
    Ok(classes.get_or_insert_default().entry(key).or_insert_with(|| collectible::keep_with(owner, remote)))
}

fn types_of((class, interfaces): &(Ty, Vec<Ty>)) -> impl Iterator<Item = Ty> {
    std::iter::once(*class).chain(interfaces.iter().copied())
}

/// Drops remote classes for types of dead assemblies and domains.
pub(crate) fn forget_dead() {
    if let Some(classes) = CLASSES.lock().as_mut() {
        classes.retain(|key, _| !types_of(key).any(|ty| collectible::is_dead(std::ptr::from_ref(ty).addr())));
    }
}

/// A proxy's vtable: ancestors and slots of the class, memory layout of TransparentProxy.
fn build_vtable(class: Ty, owner: Option<&'static Owner>) -> LoadResult<&'static VTable> {
    let own = universe().library_type(LibraryType::TransparentProxy)?;
    let own = vtable_of(own)?;
    let display = class_display(class)?;
    let slots = &class.vtable_layout()?.slots;
    let header = VTable {
        ty: class as *const Type as *const (),
        ref_map: own.ref_map,
        instance_size_bytes: own.instance_size_bytes,
        flags: VTableFlags(VTableFlags::PROXY),
        depth: display.len() as u32,
        display: display.as_ptr(),
        slot_count: slots.len() as u32,
        ..VTable::empty()
    };
    let vtable = vtables::make(owner, header);
    for (index, &method) in slots.iter().enumerate() {
        // Relaxed: the vtable is not published yet.
        let stub = entry_address(RemotingStub::Invoke(method).method())?;
        vtable.slot(index as u32).store(stub, Ordering::Relaxed);
    }
    let resolver =
        saki_code::veneer(saki_code::stub_address(StubId::ImtResolve)).map_err(crate::entries::code_error)?;
    for index in 0..IMT_SLOTS {
        // Relaxed: the vtable is still not published.
        vtable.imt_slot(index).store(resolver, Ordering::Relaxed);
    }
    Ok(vtable)
}

/// The transparent proxy of a RealProxy for a class or interface.
///
/// # Errors
/// TypeLoadException; OutOfMemoryException.
pub fn make<'t>(t: CurrentThread<'t>, real_proxy: Option<Obj>, ty: Ty, has_type_info: bool) -> Managed<Obj<'t>> {
    let class = if ty.is_interface() {
        let base = universe().library_type(LibraryType::MarshalByRefObject);
        base.and_then(|base| class_for(base, vec![ty]))
    } else {
        class_for(ty, Vec::new())
    }
    .to_managed(t)?;
    // SAFETY: vtables are never freed while their domain lives.
    let proxy = object::new_instance_of(t, unsafe { &*class.default_vtable })?;
    REAL_PROXY.set_ref(t, proxy, real_proxy);
    CLASS.set(proxy, std::ptr::from_ref(class));
    HAS_TYPE_INFO.set(proxy, u8::from(has_type_info));
    Ok(proxy)
}

/// Makes the proxy stand for `ty` as well.
pub(crate) fn upgrade(proxy: Obj, class: &RemoteClass, ty: Ty) -> LoadResult<()> {
    let mut interfaces = class.interfaces.clone();
    let known = class.class();
    let better = if ty.is_interface() {
        interfaces.push(ty);
        known
    } else if ty.is_subclass_of(known)? {
        ty
    } else {
        return Err(LoadError::type_load(format!("a proxy of {} as {}", known.full_name(), ty.full_name()), ""));
    };
    let new = class_for(better, interfaces)?;
    // SAFETY: the field lies at this address in the object, for a pointer that other threads read meanwhile.
    let class = unsafe { AtomicPtr::from_ptr(CLASS.address::<*mut RemoteClass>(proxy)) };
    // Release, both: whoever finds the class or the vtable finds it filled; what is read of it depends on the address.
    class.store(std::ptr::from_ref(new).cast_mut(), Ordering::Release);
    // SAFETY: the first word of an object, which other threads read meanwhile; the layouts agree.
    let vtable = unsafe { AtomicPtr::from_ptr((&raw mut (*proxy.word().0).vtable).cast::<*mut VTable>()) };
    vtable.store(new.default_vtable.cast_mut(), Ordering::Release);
    Ok(())
}

/// The method that a call of `method` on `receiver` runs, or would run where a proxy's object is.
///
/// # Errors
/// `TypeLoad`; `MissingMethod` when the type of an object that is no proxy does not implement the interface method.
pub fn resolve_on(receiver: Obj, method: &'static Method) -> LoadResult<&'static Method> {
    let exact = receiver.ty();
    if !receiver.is_proxy() {
        return exact.resolve_virtual(method);
    }
    // If the class does not have the interface, the interface's method itself is called.
    match exact.is_assignable_to(method.owner)? {
        true => exact.resolve_virtual(method),
        false => Ok(method),
    }
}

/// The method to call for `method`, which is already resolved, on `receiver`.
pub fn stub_for(receiver: Obj, method: &'static Method) -> &'static Method {
    if receiver.is_proxy() { RemotingStub::Invoke(method).method() } else { method }
}

/// The method that implements an interface method for an object that decides itself which interfaces it has; None for
/// other objects, and if its type has the interface.
///
/// # Errors
/// What the object throws, and the exceptions for what it may not answer (`exec::dynamic_casts`).
fn dynamic_implementation(
    t: CurrentThread,
    receiver: Obj,
    method: &'static Method,
) -> Managed<Option<&'static Method>> {
    let exact = receiver.ty();
    if !method.owner.is_interface() || receiver.is_proxy() || exact.is_assignable_to(method.owner).to_managed(t)? {
        return Ok(None);
    }
    upcalls().dynamic_method(t, receiver, method)
}

/// The method that a call of `method` on `receiver` runs, or would run where a proxy's object is. Unlike `resolve_on`, it
/// asks an object that decides itself which interfaces it has.
///
/// # Errors
/// The exceptions for the errors of `resolve_on`; what the object throws, and what it may not answer.
pub fn implementation_on(t: CurrentThread, receiver: Obj, method: &'static Method) -> Managed<&'static Method> {
    match dynamic_implementation(t, receiver, method)? {
        Some(found) => Ok(found),
        None => resolve_on(receiver, method).to_managed(t),
    }
}

/// Code address for a virtual call of `method` on `receiver`.
///
/// # Errors
/// The exceptions for a type that does not load, and for an interface method that the type of an object that is no
/// proxy does not implement.
pub fn virtual_target(t: CurrentThread, receiver: Obj, method: &'static Method) -> Managed<usize> {
    let target = implementation_on(t, receiver, method)?;
    if receiver.is_proxy() {
        return entry_address(RemotingStub::Invoke(target).method()).to_managed(t);
    }
    slot_target(receiver.ty(), target).to_managed(t)
}
