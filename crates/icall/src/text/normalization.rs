//! System.Text.Normalization: the tables behind `String.Normalize`, from `data/normalization.bin` (written by
//! `data/dump-normalization.cs`, which describes the layout).

use saki_runtime::{CurrentThread, InternalCall, Place};

/// The file, aligned for the tables of 32-bit numbers in it.
#[repr(C, align(8))]
struct Aligned<T: ?Sized>(T);

static FILE: &Aligned<[u8]> = &Aligned(*include_bytes!("../../data/normalization.bin"));

const TABLE_COUNT: usize = 6;
const HEADER_BYTES: usize = TABLE_COUNT * 4;

/// The tables in the order of the parameters.
fn tables() -> [&'static [u8]; TABLE_COUNT] {
    let (header, mut rest) = FILE.0.split_at(HEADER_BYTES);
    let lengths: [usize; TABLE_COUNT] = std::array::from_fn(|index| {
        let word = [header[index * 4], header[index * 4 + 1], header[index * 4 + 2], header[index * 4 + 3]];
        u32::from_le_bytes(word) as usize
    });
    lengths.map(|length| {
        let (table, behind) = rest.split_at(length);
        rest = behind;
        table
    })
}

fn load(
    _t: CurrentThread,
    props: Place<*const u8>,
    mapped_chars: Place<*const u8>,
    char_map_index: Place<*const u8>,
    helper_index: Place<*const u8>,
    map_index_to_composite: Place<*const u8>,
    combining_class: Place<*const u8>,
) {
    let places = [props, mapped_chars, char_map_index, helper_index, map_index_to_composite, combining_class];
    for (place, table) in places.into_iter().zip(tables()) {
        place.set(table.as_ptr());
    }
}

/// The internal calls of `System.Text.Normalization`.
pub const TABLE: &[InternalCall] =
    &[InternalCall::new("System.Text.Normalization::load_normalization_resource", &load)];

#[cfg(test)]
mod tests {
    use super::{FILE, HEADER_BYTES, tables};

    #[test]
    fn tables_fill_the_file_and_are_aligned() {
        let tables = tables();
        assert_eq!(tables.iter().map(|t| t.len()).sum::<usize>() + HEADER_BYTES, FILE.0.len());
        assert_eq!(tables[1].as_ptr() as usize % 4, 0);
        assert!(tables[2..5].iter().all(|t| (t.as_ptr() as usize).is_multiple_of(2)));
    }
}
