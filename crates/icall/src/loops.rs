//! Rust functions in place of the class library's loops over memory and text (`saki_runtime::exec::library_loops`).
//!
//! Only innermost loops are here, behind the class library's own checks of its arguments. Functions that go through
//! whole inputs do so in slices with a safepoint between them (`slices`). Left out: methods that keep a state between
//! calls (decoders, encoders), or for which cultures give different results.

mod arrays;
mod big_numbers;
mod collation;
mod compare;
mod decimal;
mod digits;
mod elements;
mod encodings;
mod ignore_case;
mod memory;
mod search;
mod slices;
mod spans;
mod strings;
mod words;

use saki_runtime::exec::library_loops::LoopRow;

/// Methods of mscorlib that are not generic.
const TABLES: [&[LoopRow]; 14] = [
    arrays::TABLE,
    memory::TABLE,
    search::TABLE,
    compare::TABLE,
    strings::TABLE,
    words::TABLE,
    ignore_case::TABLE,
    collation::TABLE,
    digits::TABLE,
    elements::TABLE,
    encodings::UTF8,
    encodings::UTF16,
    encodings::ASCII,
    encodings::LATIN1,
];

/// Methods of System.Numerics.
const NUMERICS: [&[LoopRow]; 2] = [big_numbers::TABLE, decimal::TABLE];

/// Methods of mscorlib that do nothing where .NET's do something.
const CORE_CORRECTIONS: [&[LoopRow]; 3] =
    [crate::system::array::CORRECTIONS, crate::threading::spinning::CORRECTIONS, crate::threading::thread::CORRECTIONS];

/// Methods of System that do otherwise than .NET's.
const CORRECTIONS: [&[LoopRow]; 2] = [crate::net::CORRECTIONS, crate::process::CORRECTIONS];

pub(crate) fn tables() -> Vec<&'static [LoopRow]> {
    TABLES
        .iter()
        .chain(&NUMERICS)
        .chain(&CORE_CORRECTIONS)
        .chain(&CORRECTIONS)
        .chain(&search::OF_TYPES)
        .chain(&elements::OF_TYPES)
        .copied()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::LoopRow;
    use saki_contract::{Contract, Difference, LineKind, Version, claimed_version, compare};
    use saki_metadata::Image;
    use std::path::Path;

    /// Whether the rows name methods of the assembly.
    fn check(file: &str, assembly: &str, tables: &[&[LoopRow]]) {
        let path = Path::new("/usr/lib/mono/4.5").join(file);
        let image = match Image::open(&path) {
            Ok(image) if is_of_mono_6_8() => image,
            _ => {
                eprintln!("skipped: {} is not that of Mono 6.8", path.display());
                return;
            }
        };
        let lines: Vec<String> =
            tables.iter().copied().flatten().map(|row| format!("method {}\n", row.signature)).collect();
        let text = format!("[{assembly}]\n{}", lines.concat());
        let contract = Contract::parse(&text).expect("lines of methods");
        let differences = compare(&image, contract.section(assembly), Version::Mono6_8).expect("a class library");
        let gone: Vec<&Difference> =
            differences.iter().filter(|d| matches!(d, Difference::Gone(LineKind::Method, _))).collect();
        assert!(gone.is_empty(), "{gone:?}");
    }

    fn is_of_mono_6_8() -> bool {
        let corlib = Image::open(Path::new("/usr/lib/mono/4.5/mscorlib.dll"));
        corlib.is_ok_and(|image| claimed_version(&image) == Some(Version::Mono6_8))
    }

    /// A row that names no method would never be used. Instantiations are not in the file by name.
    #[test]
    fn each_row_names_a_method_of_the_class_library() {
        check("mscorlib.dll", "mscorlib", &super::TABLES);
        check("mscorlib.dll", "mscorlib", &super::CORE_CORRECTIONS);
        check("System.Numerics.dll", "System.Numerics", &super::NUMERICS);
        check("System.dll", "System", &super::CORRECTIONS);
    }
}
