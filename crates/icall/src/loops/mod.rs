//! Rust functions in place of the class library's loops over memory and text (`saki_runtime::library_loops`).
//!
//! Only innermost loops are here, behind the class library's own checks of its arguments. Functions that look at whole inputs do so in slices with a safepoint between them (`slices`).
//! Left out: whatever has a state from call to call (decoders, encoders) or a culture.

mod arrays;
mod compare;
mod encodings;
pub(crate) mod kernels;
mod memory;
mod search;
mod strings;

use saki_runtime::library_loops::Row;
use saki_runtime::{Thread, exceptions};

/// Methods of types that are not generic.
const TABLES: [&[Row]; 8] = [
    arrays::TABLE,
    memory::TABLE,
    search::TABLE,
    compare::TABLE,
    strings::TABLE,
    encodings::UTF8,
    encodings::ASCII,
    encodings::LATIN1,
];

pub(crate) fn tables() -> Vec<&'static [Row]> {
    TABLES.iter().chain(&search::OF_TYPES).copied().collect()
}

/// A row of a function that does all of the method.
const fn whole(signature: &'static str, function: *const ()) -> Row {
    Row { signature, function, may_decline: false }
}

/// A row of a function that may give `DECLINED`.
const fn may_decline(signature: &'static str, function: *const ()) -> Row {
    Row { signature, function, may_decline: true }
}

/// What is done between two safepoints: some ten microseconds.
const SLICE_BYTES: usize = 1 << 18;

/// Lets `work` look at `count` elements of that size in slices, `(first, number)`, with a safepoint between them, until it gives something.
fn slices<R>(
    t: Thread,
    count: usize,
    element_size_bytes: usize,
    mut work: impl FnMut(usize, usize) -> Option<R>,
) -> Option<R> {
    let most = SLICE_BYTES / element_size_bytes;
    let mut first = 0;
    loop {
        let number = most.min(count - first);
        if let Some(result) = work(first, number) {
            return Some(result);
        }
        first += number;
        if first == count {
            return None;
        }
        // Requests other than to stop wait for compiled code's next safepoint.
        t.managed().poll();
    }
}

/// As `slices`, from the end on.
fn slices_from_end<R>(
    t: Thread,
    count: usize,
    element_size_bytes: usize,
    mut work: impl FnMut(usize, usize) -> Option<R>,
) -> Option<R> {
    let most = SLICE_BYTES / element_size_bytes;
    let mut end = count;
    loop {
        let number = most.min(end);
        end -= number;
        if let Some(result) = work(end, number) {
            return Some(result);
        }
        if end == 0 {
            return None;
        }
        t.managed().poll();
    }
}

/// Addresses below this are null with a field's or element's offset; the kernel maps nothing there.
const FIRST_MAPPED_BYTE: usize = 4096;

/// Whether an access there would be one through null: NullReferenceException is pending then.
fn throws_for_null(t: Thread, address: *const u8) -> bool {
    if address as usize >= FIRST_MAPPED_BYTE {
        return false;
    }
    t.run(|| Err::<(), _>(exceptions::throw_null_reference(t)));
    true
}

#[cfg(test)]
mod tests {
    use saki_contract::{Contract, Difference, Kind, Version, claimed_version, compare};
    use saki_metadata::Image;
    use std::path::Path;

    /// A row that names no method would never be used. Instantiations are not in the file by name.
    #[test]
    fn each_row_names_a_method_of_the_class_library() {
        let corlib = Path::new("/usr/lib/mono/4.5/mscorlib.dll");
        let image = match Image::open(corlib) {
            Ok(image) if claimed_version(&image) == Some(Version::Mono6_8) => image,
            _ => {
                eprintln!("skipped: {} is not that of Mono 6.8", corlib.display());
                return;
            }
        };
        let lines: Vec<String> =
            super::TABLES.iter().copied().flatten().map(|row| format!("method {}\n", row.signature)).collect();
        let text = format!("[mscorlib]\n{}", lines.concat());
        let contract = Contract::parse(&text).expect("lines of methods");
        let differences = compare(&image, contract.section("mscorlib"), Version::Mono6_8).expect("a class library");
        let gone: Vec<&Difference> =
            differences.iter().filter(|d| matches!(d, Difference::Gone(Kind::Method, _))).collect();
        assert!(gone.is_empty(), "{gone:?}");
    }
}
