//! What `mono/metadata/image.h` asks of the file around the metadata: resources of Windows, signatures.

use crate::assemblies::mono_image_open;
use saki_types::Image;
use std::ffi::{c_char, c_int};
use std::ptr;

/// The numbers of data directories.
const RESOURCES: usize = 2;
const CERTIFICATES: usize = 4;

fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(offset..)?.first_chunk()?))
}

fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(offset..)?.first_chunk()?))
}

/// Address and bytes of a data directory; None if the file has none.
fn directory(image: &Image, number: usize) -> Option<(u32, u32)> {
    /// Where the file says where its header is, the bytes of signature and file header, and those of the optional
    /// header before the number of directories.
    const HEADER_PLACE: usize = 0x3c;
    const FILE_HEADER_BYTES: usize = 24;
    let (bytes, fixed_bytes) = (image.meta.bytes(), if image.meta.is_pe32_plus() { 108 } else { 92 });
    let count = u32_at(bytes, HEADER_PLACE)? as usize + FILE_HEADER_BYTES + fixed_bytes;
    if number >= u32_at(bytes, count)? as usize {
        return None;
    }
    let entry = count + 4 + 8 * number;
    Some((u32_at(bytes, entry)?, u32_at(bytes, entry + 4)?)).filter(|(address, _)| *address != 0)
}

/// Whether the file has a signature of Authenticode.
#[unsafe(no_mangle)]
pub extern "C" fn mono_image_has_authenticode_entry(image: &'static Image) -> c_int {
    /// The header before the signature.
    const HEADER_BYTES: u32 = 8;
    c_int::from(directory(image, CERTIFICATES).is_some_and(|(_, size_bytes)| size_bytes > HEADER_BYTES))
}

/// Opens the image in a file: [`mono_image_open`]. A file without metadata is none.
///
/// # Safety
/// That of [`mono_image_open`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_pe_file_open(name: *const c_char, status: *mut c_int) -> Option<&'static Image> {
    // SAFETY: the host's text and variable.
    unsafe { mono_image_open(name, status) }
}

/// The offset of the first data entry below a directory of resources at an offset, of this id and language; 0 is any
/// language. Level 0 has types, level 1 ids, level 2 languages.
fn find(resources: &[u8], offset: usize, id: u32, language: u32, level: u32) -> Option<usize> {
    const HEADER_BYTES: usize = 16;
    const HIGHEST: u32 = 1 << 31;
    let count = usize::from(u16_at(resources, offset + 12)?) + usize::from(u16_at(resources, offset + 14)?);
    (0..count).find_map(|index| {
        let entry = offset + HEADER_BYTES + 8 * index;
        let (name, place) = (u32_at(resources, entry)?, u32_at(resources, entry + 4)?);
        let is_named = name & HIGHEST != 0;
        let fits = match level {
            0 => !is_named,
            1 => name & !HIGHEST == id,
            _ => !is_named && (language == 0 || name == language),
        };
        let below = (place & !HIGHEST) as usize;
        match (fits, place & HIGHEST != 0) {
            (false, _) => None,
            (true, false) => Some(below),
            (true, true) if level < 2 => find(resources, below, id, language, level + 1),
            (true, true) => None,
        }
    })
}

/// The data entry of a resource of Windows: address, bytes, code page and a word more, of the C heap. Null if there is
/// none. The name is not looked at, as under Mono.
#[unsafe(no_mangle)]
pub extern "C" fn mono_image_lookup_resource(
    image: Option<&'static Image>,
    id: u32,
    language: u32,
    _name: *const u16,
) -> *mut u8 {
    const ENTRY_BYTES: usize = 16;
    let found = image.and_then(|image| {
        let (address, _) = directory(image, RESOURCES)?;
        let resources = image.meta.rva_to_tail(address).ok()?;
        resources.get(find(resources, 0, id, language, 0)?..)?.get(..ENTRY_BYTES)
    });
    let Some(entry) = found else { return ptr::null_mut() };
    crate::text::given(entry).cast()
}
