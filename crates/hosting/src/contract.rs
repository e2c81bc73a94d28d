//! The functions that .NET's host offers to the runtime that it has loaded (`host_runtime_contract`, dotnet/runtime
//! `src/native/corehost/host_runtime_contract.h`).
//!
//! The host passes the address of a structure as the property HOST_RUNTIME_CONTRACT. The structure begins with its
//! size, by which its form is known: .NET 10 put a function in the middle.
//!
//! | offset | until .NET 9 (40 bytes) | since .NET 10 (48 bytes) |
//! |---|---|---|
//! | 0 | size | size |
//! | 8 | context | context |
//! | 16 | get_runtime_property | get_runtime_property |
//! | 24 | bundle_probe | external_assembly_probe |
//! | 32 | pinvoke_override | bundle_probe |
//! | 40 | | pinvoke_override |
//!
//! Invariant: a [`HostContract`] is made of a structure that the host keeps as long as the process lives; only
//! [`HostContract::read`] makes one. Left out: external_assembly_probe, which Android's host has.

use std::ffi::{CString, c_char, c_void};

/// The property with the structure's address.
pub const HOST_CONTRACT: &str = "HOST_RUNTIME_CONTRACT";

type GetRuntimeProperty = extern "C" fn(*const c_char, *mut c_char, usize, *mut c_void) -> usize;
type BundleProbe = extern "C" fn(*const c_char, *mut i64, *mut i64, *mut i64) -> bool;
type PinvokeOverride = extern "C" fn(*const c_char, *const c_char) -> *const c_void;

/// The form until .NET 9.
#[repr(C)]
struct ContractOf9 {
    size_bytes: usize,
    context: *mut c_void,
    get_runtime_property: Option<GetRuntimeProperty>,
    bundle_probe: Option<BundleProbe>,
    pinvoke_override: Option<PinvokeOverride>,
}

/// The form since .NET 10.
#[repr(C)]
struct ContractOf10 {
    size_bytes: usize,
    context: *mut c_void,
    get_runtime_property: Option<GetRuntimeProperty>,
    external_assembly_probe: *const c_void,
    bundle_probe: Option<BundleProbe>,
    pinvoke_override: Option<PinvokeOverride>,
}

/// The host's functions.
#[derive(Clone, Copy, Debug)]
pub struct HostContract {
    context: *mut c_void,
    get_runtime_property: Option<GetRuntimeProperty>,
    bundle_probe: Option<BundleProbe>,
    pinvoke_override: Option<PinvokeOverride>,
}

// SAFETY: the functions may be called by any thread: CoreCLR, for which they are made, does so. The context is the
// host's own.
unsafe impl Send for HostContract {}
// SAFETY: calling a function changes nothing in the value.
unsafe impl Sync for HostContract {}

/// Where an assembly lies in the bundle that the host's program is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BundlePlace {
    /// Bytes from the beginning of the host's file.
    pub offset_bytes: i64,
    /// Bytes of the assembly.
    pub size_bytes: i64,
    /// Bytes in the file; 0 if it is not compressed.
    pub compressed_bytes: i64,
}

impl HostContract {
    /// Reads the structure at the address that the property HOST_RUNTIME_CONTRACT states ("0x7f…"). None: the text is
    /// no address, or the structure has another form.
    ///
    /// # Safety
    /// The property's value is what the host that started this runtime gave it.
    pub unsafe fn read(value: &str) -> Option<HostContract> {
        let digits = value.strip_prefix("0x").unwrap_or(value);
        let address = usize::from_str_radix(digits, 16).ok()?;
        let size = std::ptr::with_exposed_provenance::<usize>(address);
        if address == 0 || !size.is_aligned() {
            return None;
        }
        // SAFETY: the host states the address of its structure, which begins with this word.
        let size_bytes = unsafe { size.read() };
        let (context, get_runtime_property, bundle_probe, pinvoke_override) = if size_bytes == size_of::<ContractOf9>()
        {
            // SAFETY: the host's structure has this size, which only this form has.
            let form = unsafe { size.cast::<ContractOf9>().read() };
            (form.context, form.get_runtime_property, form.bundle_probe, form.pinvoke_override)
        } else if size_bytes >= size_of::<ContractOf10>() {
            // SAFETY: the host's structure has at least this size; later forms add words at the end.
            let form = unsafe { size.cast::<ContractOf10>().read() };
            (form.context, form.get_runtime_property, form.bundle_probe, form.pinvoke_override)
        } else {
            return None;
        };
        Some(HostContract { context, get_runtime_property, bundle_probe, pinvoke_override })
    }

    /// A property that the host knows besides those that it passed, "APP_PATHS" for example.
    pub fn runtime_property(&self, name: &str) -> Option<String> {
        let function = self.get_runtime_property?;
        let name = CString::new(name).ok()?;
        let mut room: Vec<u8> = vec![0; 256];
        loop {
            let needed = function(name.as_ptr(), room.as_mut_ptr().cast(), room.len(), self.context);
            match needed {
                usize::MAX => return None,
                needed if needed > room.len() => room.resize(needed, 0),
                _ => break,
            }
        }
        let end = room.iter().position(|&byte| byte == 0)?;
        room.truncate(end);
        String::from_utf8(room).ok()
    }

    /// Where the bundle has the file of this path.
    pub fn bundle_probe(&self, path: &str) -> Option<BundlePlace> {
        let function = self.bundle_probe?;
        let path = CString::new(path).ok()?;
        let mut place = BundlePlace { offset_bytes: 0, size_bytes: 0, compressed_bytes: 0 };
        let is_there =
            function(path.as_ptr(), &mut place.offset_bytes, &mut place.size_bytes, &mut place.compressed_bytes);
        is_there.then_some(place)
    }

    /// The function that the host has for a P/Invoke, in place of the library's.
    pub fn pinvoke_override(&self, library: &str, entry: &str) -> Option<*const c_void> {
        let function = self.pinvoke_override?;
        let (library, entry) = (CString::new(library).ok()?, CString::new(entry).ok()?);
        Some(function(library.as_ptr(), entry.as_ptr())).filter(|address| !address.is_null())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    extern "C" fn property(name: *const c_char, room: *mut c_char, room_bytes: usize, context: *mut c_void) -> usize {
        assert_eq!(context.addr(), 7);
        // SAFETY: `runtime_property` passes a `CString`.
        let name = unsafe { CStr::from_ptr(name) };
        if name != c"LONG" {
            return usize::MAX;
        }
        let value = [vec![b'x'; 300], vec![0]].concat();
        if room_bytes >= value.len() {
            // SAFETY: the room has enough bytes.
            unsafe { std::ptr::copy_nonoverlapping(value.as_ptr().cast(), room, value.len()) };
        }
        value.len()
    }

    extern "C" fn bundled(_: *const c_char, offset: *mut i64, size: *mut i64, compressed: *mut i64) -> bool {
        for (place, value) in [(offset, 4096), (size, 10), (compressed, 0)] {
            // SAFETY: `bundle_probe` passes the addresses of three fields.
            unsafe { place.write(value) };
        }
        true
    }

    extern "C" fn overridden(library: *const c_char, _: *const c_char) -> *const c_void {
        // SAFETY: `pinvoke_override` passes a `CString`.
        let is_own = unsafe { CStr::from_ptr(library) } == c"libSystem.Native";
        if is_own { std::ptr::without_provenance(0x10) } else { std::ptr::null() }
    }

    fn check<T>(structure: &T) {
        let address = std::ptr::from_ref(structure).expose_provenance();
        // SAFETY: the address of a structure that is alive.
        let contract = unsafe { HostContract::read(&format!("{address:#x}")) }.expect("a contract");
        assert_eq!(contract.runtime_property("LONG").map(|value| value.len()), Some(300));
        assert_eq!(contract.runtime_property("OTHER"), None);
        let place = BundlePlace { offset_bytes: 4096, size_bytes: 10, compressed_bytes: 0 };
        assert_eq!(contract.bundle_probe("/app/a.dll"), Some(place));
        assert_eq!(contract.pinvoke_override("libSystem.Native", "f").map(|address| address.addr()), Some(0x10));
        assert_eq!(contract.pinvoke_override("libc", "f"), None);
    }

    #[test]
    fn both_forms_are_read() {
        let context = std::ptr::without_provenance_mut(7);
        let mut of_9 = ContractOf9 {
            size_bytes: size_of::<ContractOf9>(),
            context,
            get_runtime_property: Some(property),
            bundle_probe: Some(bundled),
            pinvoke_override: Some(overridden),
        };
        check(&of_9);
        check(&ContractOf10 {
            size_bytes: size_of::<ContractOf10>(),
            context,
            get_runtime_property: Some(property),
            external_assembly_probe: std::ptr::null(),
            bundle_probe: Some(bundled),
            pinvoke_override: Some(overridden),
        });
        of_9.size_bytes = 16;
        let address = std::ptr::from_ref(&of_9).expose_provenance();
        // SAFETY: the address of a structure that is alive.
        assert!(unsafe { HostContract::read(&format!("{address:#x}")) }.is_none(), "another form");
        // SAFETY: no address is read.
        assert!(unsafe { HostContract::read("nothing") }.is_none());
    }
}
