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
mod slices;
mod strings;

use saki_runtime::library_loops::Row;

/// Methods of types that are not generic.
const TABLES: [&[Row]; 9] = [
    arrays::TABLE,
    memory::TABLE,
    search::TABLE,
    compare::TABLE,
    strings::TABLE,
    encodings::UTF8,
    encodings::UTF16,
    encodings::ASCII,
    encodings::LATIN1,
];

pub(crate) fn tables() -> Vec<&'static [Row]> {
    TABLES.iter().chain(&search::OF_TYPES).copied().collect()
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
