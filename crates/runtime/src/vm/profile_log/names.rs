//! The numbers by which a log names methods, classes, images and domains. A number is assigned when an entity is first
//! named, and its description is written then.
//!
//! Addresses cannot serve as names: those of dynamic methods and of unloaded domains are reused, and readers would take
//! the new entity for the old one. For the same reason each method gets an invented range of addresses, and samples in
//! the method are written with addresses in that range.
//!
//! Invariant: in the log the description of a number precedes its first use. The lock of a table is held while a
//! description is written; names are built before the lock is taken.

use super::now_ns;
use crate::domains::Domain;
use crate::object::versions;
use rustc_hash::FxHashMap;
use saki_base::locks::{Mutex, MutexGuard, rank};
use saki_profile::mlpd::event::{self, metadata};
use saki_profile::mlpd::log::LogWriter;
use saki_types::{Image, Method, Ty, Universe, collectible};
use std::sync::atomic::{AtomicU64, Ordering};

/// The distance between two numbers, which makes them look like the addresses that Mono writes.
pub(super) const STEP: u64 = 16;
/// The start of the invented ranges of methods, above all addresses that a program can map.
const FIRST_CODE: u64 = 1 << 47;
/// The start of the ranges of native functions, behind those of all methods.
const FIRST_NATIVE: u64 = 1 << 62;
/// The size of a method's range.
const CODE_ROOM: u64 = 1 << 20;

/// The code of a method that is meant, as a tag in the low bits of the method's address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    Body = 0,
    /// The code around native code that managed code calls.
    ToNative = 1,
    /// The code by which native code calls the method.
    FromNative = 2,
}

impl Part {
    const MASK: usize = 3;

    fn prefix(self) -> &'static str {
        match self {
            Part::Body => "",
            Part::ToNative => "(wrapper managed-to-native) ",
            Part::FromNative => "(wrapper native-to-managed) ",
        }
    }
}

/// See the module header.
#[derive(Default)]
pub(super) struct Names {
    last: AtomicU64,
    /// Numbers of methods, by address and part.
    methods: Mutex<rank::LoggedMethods, FxHashMap<usize, u64>>,
    /// Numbers of vtables, by address.
    vtables: Mutex<rank::LoggedVTables, FxHashMap<usize, u64>>,
    classes: Mutex<rank::LoggedClasses, FxHashMap<usize, u64>>,
    images: Mutex<rank::LoggedImages, FxHashMap<usize, u64>>,
    domains: Mutex<rank::LoggedDomains, FxHashMap<usize, u64>>,
    threads: Mutex<rank::LoggedThreads, FxHashMap<u64, String>>,
    natives: Mutex<rank::LoggedNatives, FxHashMap<String, u64>>,
}

impl Names {
    fn next(&self) -> u64 {
        // Relaxed: only uniqueness matters.
        (self.last.fetch_add(1, Ordering::Relaxed) + 1) * STEP
    }

    /// The number of a method.
    pub fn method(&self, log: &LogWriter, method: &'static Method, part: Part) -> u64 {
        let key = std::ptr::from_ref(method).addr() | part as usize;
        if let Some(&id) = self.methods.lock().get(&key) {
            return id;
        }
        let name = format!("{}{}", part.prefix(), name_of(method));
        let version = versions::current(method).filter(|_| part == Part::Body);
        let len_bytes = version.map_or(1, |version| version.body.len_bytes);
        let mut methods = self.methods.lock();
        let id = *methods.entry(key).or_insert_with(|| {
            let id = self.next();
            describe_method(log, id, len_bytes, &name);
            id
        });
        drop(methods);
        id
    }

    /// To be called when a method was compiled: writes the length of its code.
    pub fn compiled(&self, log: &LogWriter, method: &'static Method, len_bytes: u32) {
        let known = self.methods.lock().get(&std::ptr::from_ref(method).addr()).copied();
        match known {
            Some(id) => describe_method(log, id, len_bytes, &name_of(method)),
            None => _ = self.method(log, method, Part::Body),
        }
    }

    /// The address of the method's record may be reused from now on.
    pub fn forget_method(&self, method: &Method) {
        let key = std::ptr::from_ref(method).addr();
        let mut methods = self.methods.lock();
        for part in [Part::Body, Part::ToNative, Part::FromNative] {
            methods.remove(&(key | part as usize));
        }
    }

    /// The number of a vtable. Also while the world is stopped.
    pub fn vtable(&self, log: &LogWriter, vtable: usize, ty: Ty) -> u64 {
        if let Some(&id) = self.vtables.lock().get(&vtable) {
            return id;
        }
        let class = self.class(log, ty);
        let domain = self.domain_id(ty.universe());
        described(&self.vtables, vtable, || {
            let id = self.next();
            log.write_metadata(|buffer| {
                buffer.event(event::METADATA_LOAD, now_ns()).byte(metadata::VTABLE);
                buffer.pointer(id).pointer(domain).pointer(class);
            });
            id
        })
    }

    fn class(&self, log: &LogWriter, ty: Ty) -> u64 {
        let key = std::ptr::from_ref(ty).addr();
        if let Some(&id) = self.classes.lock().get(&key) {
            return id;
        }
        let (name, image) = (ty.full_name(), self.image(log, ty.image()));
        described(&self.classes, key, || {
            let id = self.next();
            log.write_metadata(|buffer| {
                buffer.event(event::METADATA_LOAD, now_ns()).byte(metadata::CLASS);
                buffer.pointer(id).pointer(image).text(&name);
            });
            id
        })
    }

    /// The number of an image, whose assembly is described with it.
    pub fn image(&self, log: &LogWriter, image: &'static Image) -> u64 {
        described(&self.images, std::ptr::from_ref(image).addr(), || {
            let (id, assembly_id) = (self.next(), self.next());
            let assembly = image.assembly();
            let file = if assembly.path.as_os_str().is_empty() {
                assembly.name.to_owned()
            } else {
                assembly.path.display().to_string()
            };
            log.write_metadata(|buffer| {
                buffer.event(event::METADATA_LOAD, now_ns()).byte(metadata::IMAGE).pointer(id).text(&file);
                buffer.text(&guid_text(&image.meta.mvid()));
                buffer.event(event::METADATA_LOAD, now_ns()).byte(metadata::ASSEMBLY);
                buffer.pointer(assembly_id).pointer(id).text(&assembly.display_name());
            });
            id
        })
    }

    fn domain_id(&self, universe: &Universe) -> u64 {
        let key = std::ptr::from_ref(universe).addr();
        *self.domains.lock().entry(key).or_insert_with(|| self.next())
    }

    pub fn domain(&self, log: &LogWriter, domain: &Domain) -> u64 {
        let key = std::ptr::from_ref(domain).addr();
        if let Some(&id) = self.domains.lock().get(&key) {
            return id;
        }
        let id = self.domain_id(domain.universe);
        let name = domain.friendly_name();
        described(&self.domains, key, || {
            log.write_metadata(|buffer| {
                buffer.event(event::METADATA_LOAD, now_ns()).byte(metadata::DOMAIN).pointer(id);
                buffer.event(event::METADATA_NAME, now_ns()).byte(metadata::DOMAIN).pointer(id).text(&name);
            });
            id
        })
    }

    /// To be called when a domain has ended.
    pub fn domain_unloaded(&self, log: &LogWriter, domain: &Domain) {
        let id = self.domain(log, domain);
        log.write_metadata(|buffer| {
            buffer.event(event::METADATA_UNLOAD, now_ns()).byte(metadata::DOMAIN).pointer(id);
        });
    }

    /// The addresses of dead records may be reused from now on (`profile_log::forget_dead`).
    pub fn forget_dead(&self) {
        fn forget<R: rank::Rank>(table: &Mutex<R, FxHashMap<usize, u64>>) {
            table.lock().retain(|key, _| !collectible::is_dead(key & !Part::MASK));
        }
        forget(&self.methods);
        forget(&self.vtables);
        forget(&self.classes);
        forget(&self.images);
    }

    /// The invented address of a native function in the log, so that a function has one row in reports however many of
    /// its instructions were hit.
    pub fn native(&self, log: &LogWriter, name: &str) -> u64 {
        let mut natives = self.natives.lock();
        if let Some(&address) = natives.get(name) {
            return address;
        }
        let address = FIRST_NATIVE + natives.len() as u64 * STEP;
        natives.insert(name.to_owned(), address);
        log.write_metadata(|buffer| {
            buffer.event(event::UNMANAGED_SYMBOL, now_ns()).pointer(address).number(STEP).text(name);
        });
        address
    }

    pub fn is_new_thread_name(&self, thread: u64, name: &str) -> bool {
        let before = self.threads.lock().insert(thread, name.to_owned());
        before.is_none_or(|before| before != name)
    }

    pub fn forget_thread(&self, thread: u64) {
        self.threads.lock().remove(&thread);
    }
}

/// The number from the table, or a new one that `describe` writes to the log.
fn described<R: rank::Rank>(
    table: &Mutex<R, FxHashMap<usize, u64>>,
    key: usize,
    describe: impl FnOnce() -> u64,
) -> u64 {
    let mut table: MutexGuard<'_, R, _> = table.lock();
    *table.entry(key).or_insert_with(describe)
}

fn describe_method(log: &LogWriter, id: u64, len_bytes: u32, name: &str) {
    log.write_metadata(|buffer| {
        buffer.event(event::JIT, now_ns()).method(id).pointer(code_of(id)).number(len_bytes.into()).text(name);
    });
}

/// The invented address of a method's code in the log.
pub(super) fn code_of(method: u64) -> u64 {
    FIRST_CODE + method / STEP * CODE_ROOM
}

fn name_of(method: &Method) -> String {
    if method.is_dynamic() { method.name.to_owned() } else { method.tool_name() }
}

/// Separates a tagged address into the method's address and its `Part`.
pub(super) fn part_of(tagged: usize) -> (usize, Part) {
    let part = match tagged & Part::MASK {
        0 => Part::Body,
        1 => Part::ToNative,
        _ => Part::FromNative,
    };
    (tagged & !Part::MASK, part)
}

fn guid_text(guid: &[u8; 16]) -> String {
    let [a, b, c, d, e, f, g, h, i, j, tail @ ..] = *guid;
    let first = u32::from_le_bytes([a, b, c, d]);
    let (second, third) = (u16::from_le_bytes([e, f]), u16::from_le_bytes([g, h]));
    let tail: String = tail.iter().map(|byte| format!("{byte:02X}")).collect();
    format!("{first:08X}-{second:04X}-{third:04X}-{i:02X}{j:02X}-{tail}")
}
