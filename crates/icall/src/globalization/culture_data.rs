//! System.Globalization.CultureData: time formats and number formats of a culture, by its index in `data`.

use super::data::{self, Culture};
use crate::arguments::{argument_error, non_null_this, optional_string, string_array};
use saki_base::locks::{Mutex, rank};
use saki_runtime::{CurrentThread, InternalCall, Managed, ManagedField, Obj, Place};
use saki_types::LibraryType;

static AM: ManagedField = ManagedField::new(LibraryType::CultureData, "sAM1159");
static PM: ManagedField = ManagedField::new(LibraryType::CultureData, "sPM2359");
static TIME_SEPARATOR: ManagedField = ManagedField::new(LibraryType::CultureData, "sTimeSeparator");
static LONG_TIMES: ManagedField = ManagedField::new(LibraryType::CultureData, "saLongTimes");
static SHORT_TIMES: ManagedField = ManagedField::new(LibraryType::CultureData, "saShortTimes");
static FIRST_DAY: ManagedField = ManagedField::new(LibraryType::CultureData, "iFirstDayOfWeek");
static FIRST_WEEK: ManagedField = ManagedField::new(LibraryType::CultureData, "iFirstWeekOfYear");

fn culture_at(t: CurrentThread, index: i32) -> Managed<(usize, &'static Culture)> {
    let index = usize::try_from(index).unwrap_or(usize::MAX);
    let culture = data::cultures().get(index);
    culture.map(|culture| (index, culture)).ok_or_else(|| argument_error(t, "There is no culture with this number."))
}

fn fill_culture_data(t: CurrentThread, this: Option<Obj>, index: i32) -> Managed<()> {
    let this = non_null_this(t, this)?;
    let (_, culture) = culture_at(t, index)?;
    for (field, key) in [(&AM, "sAM1159"), (&PM, "sPM2359"), (&TIME_SEPARATOR, "sTimeSeparator")] {
        let text = optional_string(t, culture.text(key))?;
        field.set_ref(t, this, text);
    }
    for (field, key) in [(&LONG_TIMES, "saLongTimes"), (&SHORT_TIMES, "saShortTimes")] {
        let list = string_array(t, &culture.list(key).unwrap_or_default())?;
        field.set_ref(t, this, list);
    }
    FIRST_DAY.set(this, culture.number("iFirstDayOfWeek"));
    FIRST_WEEK.set(this, culture.number("iFirstWeekOfYear"));
    Ok(())
}

/// How a member of `NumberFormatEntryManaged` is computed.
enum Part {
    Number(&'static str),
    /// Offset of the text in the string pool.
    Text(&'static str),
    /// First or second element of a list, −1 when there is none.
    GroupSize(&'static str, usize),
}

/// The members of `CultureData.NumberFormatEntryManaged`, in order; each is an int.
const PARTS: [Part; 23] = [
    Part::Number("currencyDecimalDigits"),
    Part::Text("currencyDecimalSeparator"),
    Part::Text("currencyGroupSeparator"),
    Part::GroupSize("currencyGroupSizes", 0),
    Part::GroupSize("currencyGroupSizes", 1),
    Part::Number("currencyNegativePattern"),
    Part::Number("currencyPositivePattern"),
    Part::Text("currencySymbol"),
    Part::Text("nanSymbol"),
    Part::Text("negativeInfinitySymbol"),
    Part::Text("negativeSign"),
    Part::Number("numberDecimalDigits"),
    Part::Text("numberDecimalSeparator"),
    Part::Text("numberGroupSeparator"),
    Part::GroupSize("numberGroupSizes", 0),
    Part::GroupSize("numberGroupSizes", 1),
    Part::Number("numberNegativePattern"),
    Part::Text("perMilleSymbol"),
    Part::Number("percentNegativePattern"),
    Part::Number("percentPositivePattern"),
    Part::Text("percentSymbol"),
    Part::Text("positiveInfinitySymbol"),
    Part::Text("positiveSign"),
];

/// A culture's number format in the form that managed code reads; never freed.
struct NumberData {
    entry: [i32; PARTS.len()],
    /// NUL-terminated UTF-8 strings.
    pool: Vec<u8>,
}

fn number_data(culture: &'static Culture) -> NumberData {
    let mut pool = Vec::new();
    let entry = PARTS.map(|part| match part {
        Part::Number(key) => culture.number(key),
        Part::Text(key) => {
            let offset = pool.len() as i32;
            pool.extend_from_slice(culture.text(key).unwrap_or_default().as_bytes());
            pool.push(0);
            offset
        }
        Part::GroupSize(key, place) => {
            let sizes = culture.list(key).unwrap_or_default();
            sizes.get(place).and_then(|size| size.parse().ok()).unwrap_or(-1)
        }
    });
    NumberData { entry, pool }
}

/// Fills the entry and returns the string pool to which its offsets refer.
fn fill_number_data(t: CurrentThread, index: i32, entry: Place<[i32; PARTS.len()]>) -> Managed<*const u8> {
    static MADE: Mutex<rank::NumberFormats, Vec<Option<&'static NumberData>>> = Mutex::new(Vec::new());
    let (index, culture) = culture_at(t, index)?;
    let mut made = MADE.lock();
    if made.is_empty() {
        made.resize(data::cultures().len(), None);
    }
    let found: &'static NumberData = made[index].get_or_insert_with(|| Box::leak(Box::new(number_data(culture))));
    entry.set(found.entry);
    Ok(found.pool.as_ptr())
}

/// The internal calls of `System.Globalization.CultureData`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Globalization.CultureData::fill_culture_data", &fill_culture_data),
    InternalCall::new("System.Globalization.CultureData::fill_number_data", &fill_number_data),
];
