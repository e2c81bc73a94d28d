//! What is made for the host besides the machine's own records, and lives as long as the process: once for each thing
//! that it is about, so that the host gets one address.

use crate::assembly_names::MonoAssemblyName;
use crate::jit_info::MonoJitInfo;
use crate::tables::MonoTableInfo;
use crate::types::MonoArrayType;
use saki_base::locks::{Mutex, rank};
use saki_metadata::TableId;
use saki_types::{Assembly, Image, Method, MethodSig, Ty};
use std::collections::{HashMap, HashSet};

#[derive(Default)]
struct Records {
    /// Methods by the addresses of their signatures.
    methods: HashMap<usize, &'static Method>,
    /// By the address of the type.
    array_types: HashMap<usize, usize>,
    /// By the address of the image and the table's number.
    tables: HashMap<(usize, u8), usize>,
    /// By the address of the code and that of the method.
    bodies: HashMap<(usize, usize), usize>,
    /// Names by the address of the assembly.
    names: HashMap<usize, usize>,
    /// The probes of methods that have some, by the methods' addresses.
    probes: HashMap<usize, u32>,
    /// The addresses of methods whose statements are counted.
    covered: HashSet<usize>,
    /// What Mono identifies threads by, by their managed ids.
    tids: HashMap<u32, usize>,
}

static RECORDS: Mutex<rank::HostRecords, Option<Records>> = Mutex::new(None);

/// Notes whose signature it is.
pub(crate) fn note_signature(sig: &'static MethodSig, method: &'static Method) {
    RECORDS.lock().get_or_insert_default().methods.insert(std::ptr::from_ref(sig).addr(), method);
}

/// The method that has this signature, if [`note_signature`] was told.
pub(crate) fn method_of(sig: &'static MethodSig) -> Option<&'static Method> {
    RECORDS.lock().get_or_insert_default().methods.get(&std::ptr::from_ref(sig).addr()).copied()
}

/// The description of an array type.
pub(crate) fn array_type(ty: Ty, make: impl FnOnce() -> MonoArrayType) -> *const MonoArrayType {
    let mut records = RECORDS.lock();
    let known = &mut records.get_or_insert_default().array_types;
    let address = known.entry(std::ptr::from_ref(ty).addr());
    std::ptr::with_exposed_provenance(*address.or_insert_with(|| Box::into_raw(Box::new(make())).expose_provenance()))
}

/// The handle of a table.
pub(crate) fn table(image: &'static Image, table: TableId) -> *const MonoTableInfo {
    let mut records = RECORDS.lock();
    let key = (std::ptr::from_ref(image).addr(), table as u8);
    let address = records.get_or_insert_default().tables.entry(key);
    let make = || Box::into_raw(Box::new(MonoTableInfo { image, table })).expose_provenance();
    std::ptr::with_exposed_provenance(*address.or_insert_with(make))
}

/// The name of an assembly.
pub(crate) fn name_of(assembly: &'static Assembly) -> *mut MonoAssemblyName {
    let mut records = RECORDS.lock();
    let address = records.get_or_insert_default().names.entry(std::ptr::from_ref(assembly).addr());
    let make = || Box::into_raw(Box::new(MonoAssemblyName::of(assembly))).expose_provenance();
    std::ptr::with_exposed_provenance_mut(*address.or_insert_with(make))
}

/// The record of compiled code.
pub(crate) fn jit_info(info: MonoJitInfo) -> *const MonoJitInfo {
    let mut records = RECORDS.lock();
    let address = records.get_or_insert_default().bodies.entry(info.key());
    std::ptr::with_exposed_provenance(*address.or_insert_with(|| Box::into_raw(Box::new(info)).expose_provenance()))
}

/// Notes by what Mono identifies the calling thread.
pub(crate) fn note_thread(tid: usize) {
    if let Some(thread) = saki_thread::current() {
        RECORDS.lock().get_or_insert_default().tids.insert(thread.managed_id(), tid);
    }
}

/// By what Mono identifies a thread, if [`note_thread`] was told.
pub(crate) fn tid_of(managed_id: u32) -> Option<usize> {
    RECORDS.lock().get_or_insert_default().tids.get(&managed_id).copied()
}

/// Notes which probes a method gets.
pub(crate) fn note_probes(method: &'static Method, probes: u32) {
    RECORDS.lock().get_or_insert_default().probes.insert(std::ptr::from_ref(method).addr(), probes);
}

/// Which probes a method gets; 0 = none.
pub(crate) fn probes_of(method: &'static Method) -> u32 {
    RECORDS.lock().get_or_insert_default().probes.get(&std::ptr::from_ref(method).addr()).copied().unwrap_or(0)
}

/// Notes that the method's statements are counted.
pub(crate) fn note_covered(method: &'static Method) {
    RECORDS.lock().get_or_insert_default().covered.insert(std::ptr::from_ref(method).addr());
}

/// Whether the method's statements are counted.
pub(crate) fn is_covered(method: &'static Method) -> bool {
    RECORDS.lock().get_or_insert_default().covered.contains(&std::ptr::from_ref(method).addr())
}
