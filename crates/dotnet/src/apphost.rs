//! Executables that start a .NET program: what `dotnet build` and `dotnet publish` put beside, or around, the program's
//! assembly.
//!
//! All are made from one of two templates, in whose data a mark of 32 bytes follows an offset of eight. If the offset
//! is 0, the executable starts the assembly of its own name beside it. Else it is a *single file*: at the offset lies a
//! list of the files that were appended to it. Little-endian numbers, a string is its length in groups of seven bits,
//! and UTF-8 (dotnet/designs, `accepted/2020/single-file/bundler.md`; dotnet/runtime, `src/native/corehost/bundle`):
//!
//! | what | since | bytes |
//! |---|---|---|
//! | major and minor version of the format, number of files | 1 | 4, 4, 4 |
//! | name of the whole | 1 | string |
//! | place and size of `deps.json`, then of `runtimeconfig.json`; flags | 2 | 8 each |
//! | for each file: place, size | 1 | 8, 8 |
//! | … size of the compressed file (deflate), 0 if it is not | 6 | 8 |
//! | … kind, path below the program's folder | 1 | 1, string |
//!
//! Invariant: a list that is returned names only files inside the executable, with paths that lead nowhere but below a
//! folder. Left out: writing the files anywhere.

use miniz_oxide::inflate::decompress_to_vec_with_limit;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Component, Path};

/// The mark in the templates: SHA-256 of ".net core bundle".
const MARK: [u8; 32] = [
    0x8b, 0x12, 0x02, 0xb9, 0x6a, 0x61, 0x20, 0x38, 0x72, 0x7b, 0x93, 0x02, 0x14, 0xd7, 0xa0, 0x32, 0x13, 0xf5, 0xb9,
    0xe6, 0xef, 0xae, 0x33, 0x18, 0xee, 0x3b, 0x2d, 0xce, 0x24, 0xb3, 0x6a, 0xae,
];

/// The formats that are known, by major version.
const FIRST_FORMAT: u32 = 1;
const FORMAT_WITH_FLAGS: u32 = 2;
const LAST_FORMAT: u32 = 6;
const FORMAT_WITH_COMPRESSION: u32 = 6;

/// The flag of programs that want all files in a folder of their own, as those of .NET Core 3 have them.
const EXTRACTS_ALL: u64 = 1;

/// The longest list that is read, and the largest file: limits against damaged executables.
const MAX_LIST_BYTES: u64 = 1 << 26;
const MAX_FILE_BYTES: u64 = 1 << 31;

/// An executable made from one of .NET's templates.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Apphost {
    /// It starts the assembly of its own name that lies beside it.
    Beside,
    /// It has the program in it.
    SingleFile(FileList),
}

/// What a single file has in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileList {
    /// The name that its maker gave to the whole.
    pub id: String,
    /// `AppContext.BaseDirectory` is where the files are written to, not the executable's folder.
    pub extracts_all: bool,
    pub files: Vec<PackedFile>,
}

/// A file in a single file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PackedFile {
    /// Relative, of plain names alone.
    pub path: String,
    /// Bytes, when it is unpacked.
    pub size: u64,
    offset: u64,
    /// Bytes in the executable; None if it is not compressed.
    compressed_size: Option<u64>,
}

/// Why an executable of .NET's cannot be read. Displayed, it is one line without the executable's name.
#[derive(Debug)]
pub enum ApphostError {
    Io(io::Error),
    /// A list in a format that is not known; the major version.
    Format(u32),
    /// The executable was shortened or changed; what is wrong.
    Damaged(&'static str),
}

impl std::fmt::Display for ApphostError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ApphostError::Io(error) => error.fmt(f),
            ApphostError::Format(major) => {
                write!(f, "a single file of .NET in format {major}; known are {FIRST_FORMAT} to {LAST_FORMAT}")
            }
            ApphostError::Damaged(what) => write!(f, "a damaged single file of .NET: {what}"),
        }
    }
}

impl std::error::Error for ApphostError {}

impl From<io::Error> for ApphostError {
    fn from(error: io::Error) -> ApphostError {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => ApphostError::Damaged("it ends too early"),
            _ => ApphostError::Io(error),
        }
    }
}

/// Looks whether the file is an executable of .NET's; None for everything else.
///
/// # Errors
/// The file cannot be read, or its list is damaged.
pub fn read(file: &File) -> Result<Option<Apphost>, ApphostError> {
    let Some(offset) = offset_at_mark(file)? else { return Ok(None) };
    if offset == 0 {
        return Ok(Some(Apphost::Beside));
    }
    let length = file.metadata()?.len();
    let rest = length.checked_sub(offset).ok_or(ApphostError::Damaged("it ends before its list of files"))?;
    let mut bytes = vec![0; usize::try_from(rest.min(MAX_LIST_BYTES)).unwrap_or(0)];
    file.read_exact_at(&mut bytes, offset)?;
    file_list(&mut Reader(&bytes), length).map(|list| Some(Apphost::SingleFile(list)))
}

/// The offset in front of the mark, which lies in the writable data of an ELF file.
fn offset_at_mark(file: &File) -> Result<Option<u64>, ApphostError> {
    const HEADER_BYTES: usize = 64;
    const ELF_64_LITTLE_ENDIAN: [u8; 6] = [0x7f, b'E', b'L', b'F', 2, 1];
    const LOAD: u32 = 1;
    const WRITABLE: u32 = 2;
    const SEGMENT_BYTES: u16 = 56;
    /// Of the templates' data, some hundred KiB.
    const MAX_DATA_BYTES: u64 = 1 << 26;
    let mut header = [0; HEADER_BYTES];
    match file.read_exact_at(&mut header, 0) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        outcome => outcome?,
    }
    let number = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
    if !header.starts_with(&ELF_64_LITTLE_ENDIAN) || number(54) != SEGMENT_BYTES {
        return Ok(None);
    }
    let mut table = vec![0; usize::from(SEGMENT_BYTES) * usize::from(number(56))];
    let place = Reader(&header[32..]).u64()?;
    if file.read_exact_at(&mut table, place).is_err() {
        return Ok(None);
    }
    for segment in table.chunks_exact(usize::from(SEGMENT_BYTES)) {
        let mut words = Reader(segment);
        let (kind, flags, offset) = (words.u32()?, words.u32()?, words.u64()?);
        let size = Reader(&segment[32..]).u64()?;
        if kind != LOAD || flags & WRITABLE == 0 || size > MAX_DATA_BYTES {
            continue;
        }
        let mut data = vec![0; usize::try_from(size).unwrap_or(0)];
        if file.read_exact_at(&mut data, offset).is_err() {
            return Ok(None);
        }
        let found = data.windows(8 + MARK.len()).find(|window| window[8..] == MARK);
        if let Some(window) = found {
            return Reader(window).u64().map(Some);
        }
    }
    Ok(None)
}

fn file_list(reader: &mut Reader, length: u64) -> Result<FileList, ApphostError> {
    let (major, _minor, count) = (reader.u32()?, reader.u32()?, reader.u32()?);
    if !(FIRST_FORMAT..=LAST_FORMAT).contains(&major) {
        return Err(ApphostError::Format(major));
    }
    let id = reader.string()?;
    let mut flags = 0;
    if major >= FORMAT_WITH_FLAGS {
        for _ in 0..4 {
            reader.u64()?;
        }
        flags = reader.u64()?;
    }
    let mut files = Vec::new();
    for _ in 0..count {
        let (offset, size) = (reader.u64()?, reader.u64()?);
        let packed = if major >= FORMAT_WITH_COMPRESSION { reader.u64()? } else { 0 };
        let compressed_size = (packed != 0).then_some(packed);
        let _kind = reader.u8()?;
        let path = reader.string()?;
        let end = offset.checked_add(compressed_size.unwrap_or(size));
        if end.is_none_or(|end| end > length) || size > MAX_FILE_BYTES {
            return Err(ApphostError::Damaged("a file lies outside of it"));
        }
        if path.is_empty() || !Path::new(&path).components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(ApphostError::Damaged("a file's path leads elsewhere"));
        }
        files.push(PackedFile { path, size, offset, compressed_size });
    }
    // .NET Core 3 had no other way.
    Ok(FileList { id, extracts_all: major < FORMAT_WITH_FLAGS || flags & EXTRACTS_ALL != 0, files })
}

impl PackedFile {
    /// The file's bytes; `executable` is the one whose list names it.
    ///
    /// # Errors
    /// The executable cannot be read, or does not hold what its list says.
    pub fn contents(&self, executable: &File) -> Result<Vec<u8>, ApphostError> {
        let size = usize::try_from(self.size).unwrap_or(usize::MAX);
        let stored = self.compressed_size.unwrap_or(self.size);
        let mut bytes = vec![0; usize::try_from(stored).unwrap_or(usize::MAX)];
        executable.read_exact_at(&mut bytes, self.offset)?;
        if self.compressed_size.is_none() {
            return Ok(bytes);
        }
        match decompress_to_vec_with_limit(&bytes, size) {
            Ok(contents) if contents.len() == size => Ok(contents),
            _ => Err(ApphostError::Damaged("a compressed file in it is not what its list says")),
        }
    }
}

/// The rest of some bytes.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], ApphostError> {
        let (taken, rest) =
            self.0.split_at_checked(count).ok_or(ApphostError::Damaged("its list of files ends too early"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const COUNT: usize>(&mut self) -> Result<[u8; COUNT], ApphostError> {
        let mut array = [0; COUNT];
        array.copy_from_slice(self.take(COUNT)?);
        Ok(array)
    }

    fn u8(&mut self) -> Result<u8, ApphostError> {
        self.array().map(u8::from_le_bytes)
    }

    fn u32(&mut self) -> Result<u32, ApphostError> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, ApphostError> {
        self.array().map(u64::from_le_bytes)
    }

    fn string(&mut self) -> Result<String, ApphostError> {
        const DAMAGED: ApphostError = ApphostError::Damaged("a name in its list of files is none");
        let mut length = 0_usize;
        // Two groups: paths have less than 16,384 bytes.
        for shift in [0, 7] {
            let group = self.u8()?;
            length |= usize::from(group & 0x7f) << shift;
            if group & 0x80 == 0 {
                return String::from_utf8(self.take(length)?.to_vec()).map_err(|_| DAMAGED);
            }
        }
        Err(DAMAGED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::installed::tests::Folder;
    use miniz_oxide::deflate::compress_to_vec;

    /// An ELF file whose only segment is writable data: the offset and the mark.
    fn template(offset: u64, mark: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; 64 + 56];
        bytes[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1]);
        bytes[32..40].copy_from_slice(&64_u64.to_le_bytes());
        bytes[54..56].copy_from_slice(&56_u16.to_le_bytes());
        bytes[56..58].copy_from_slice(&1_u16.to_le_bytes());
        bytes[64..68].copy_from_slice(&1_u32.to_le_bytes());
        bytes[68..72].copy_from_slice(&6_u32.to_le_bytes());
        bytes[72..80].copy_from_slice(&120_u64.to_le_bytes());
        bytes[96..104].copy_from_slice(&(3 + 8 + mark.len() as u64).to_le_bytes());
        bytes.extend([9, 9, 9]);
        bytes.extend(offset.to_le_bytes());
        bytes.extend(mark);
        bytes
    }

    fn text(bytes: &mut Vec<u8>, text: &str) {
        bytes.push(u8::try_from(text.len()).expect("a short text"));
        bytes.extend(text.as_bytes());
    }

    /// A single file of this format with one file in it.
    fn single_file(major: u32, flags: u64, path: &str, contents: &[u8], is_compressed: bool) -> Vec<u8> {
        let stored = if is_compressed { compress_to_vec(contents, 6) } else { contents.to_vec() };
        let place = template(0, &MARK).len() as u64;
        let mut bytes = template(place + stored.len() as u64, &MARK);
        bytes.extend(&stored);
        bytes.extend([major, 0, 1].iter().flat_map(|number| number.to_le_bytes()));
        text(&mut bytes, "id");
        if major >= 2 {
            bytes.extend([0, 0, 0, 0, flags].iter().flat_map(|number: &u64| number.to_le_bytes()));
        }
        bytes.extend(place.to_le_bytes());
        bytes.extend((contents.len() as u64).to_le_bytes());
        if major >= 6 {
            bytes.extend((if is_compressed { stored.len() as u64 } else { 0 }).to_le_bytes());
        }
        bytes.push(1);
        text(&mut bytes, path);
        bytes
    }

    fn read_bytes(folder: &Folder, bytes: &[u8]) -> (File, Result<Option<Apphost>, ApphostError>) {
        let path = folder.path().join("app");
        std::fs::write(&path, bytes).expect("written");
        let file = File::open(path).expect("a file");
        let read = read(&file);
        (file, read)
    }

    #[test]
    fn files_of_each_format_are_found() {
        let folder = Folder::new("apphost");
        let contents = b"contents contents contents contents";
        let cases = [(1, 0, false, true), (2, 0, false, false), (6, 0, true, false), (6, EXTRACTS_ALL, false, true)];
        for (major, flags, is_compressed, extracts_all) in cases {
            let bytes = single_file(major, flags, "de/app.dll", contents, is_compressed);
            let (file, read) = read_bytes(&folder, &bytes);
            let Ok(Some(Apphost::SingleFile(list))) = read else { panic!("format {major}: {read:?}") };
            assert_eq!((&*list.id, list.extracts_all, list.files.len()), ("id", extracts_all, 1), "format {major}");
            assert_eq!(list.files[0].path, "de/app.dll");
            assert_eq!(list.files[0].contents(&file).expect("contents"), contents);
        }
    }

    #[test]
    fn other_executables_are_none() {
        let folder = Folder::new("no-apphost");
        assert_eq!(read_bytes(&folder, &template(0, &MARK)).1.expect("read"), Some(Apphost::Beside));
        assert_eq!(read_bytes(&folder, &template(0, &[7; 32])).1.expect("read"), None);
        assert_eq!(read_bytes(&folder, b"#!/bin/sh").1.expect("read"), None);
        assert_eq!(read_bytes(&folder, &template(0, &MARK)[..100]).1.expect("read"), None);
        assert_eq!(read(&File::open("/proc/self/exe").expect("itself")).expect("read"), None, "this test");
    }

    #[test]
    fn damage_is_one_line() {
        let folder = Folder::new("damaged-apphost");
        let check = |bytes: &[u8], expect: &str| {
            let error = read_bytes(&folder, bytes).1.expect_err(expect).to_string();
            assert!(error.contains(expect) && !error.contains('\n'), "{error}");
        };
        let whole = single_file(6, 0, "app.dll", b"contents", false);
        check(&whole[..whole.len() - 1], "ends too early");
        check(&single_file(7, 0, "app.dll", b"contents", false), "format 7");
        check(&template(1 << 40, &MARK), "ends before its list");
        for path in ["../app.dll", "/app.dll", "a/../../b", ""] {
            check(&single_file(6, 0, path, b"contents", false), "leads elsewhere");
        }
        let mut packed = single_file(6, 0, "app.dll", b"contents contents contents", true);
        packed[template(0, &MARK).len()] ^= 0xff;
        let (file, read) = read_bytes(&folder, &packed);
        let Ok(Some(Apphost::SingleFile(list))) = read else { panic!("{read:?}") };
        assert!(list.files[0].contents(&file).is_err());
    }
}
