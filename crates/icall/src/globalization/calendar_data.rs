//! System.Globalization.CalendarData: date formats and names. All calendars of a culture get those of its first
//! calendar.

use super::data;
use crate::arguments::{non_null, non_null_this, optional_string, string_array};
use saki_runtime::{CurrentThread, InternalCall, Managed, ManagedField, Obj, Str};
use saki_types::LibraryType;

macro_rules! lists {
    ($($name:ident = $field:literal;)*) => {
        $(static $name: ManagedField = ManagedField::new(LibraryType::CalendarData, $field);)*
        /// Lists, whose keys in the data are the fields' names.
        static LISTS: &[(&ManagedField, &str)] = &[$((&$name, $field),)*];
    };
}

lists! {
    SHORT_DATES = "saShortDates";
    YEAR_MONTHS = "saYearMonths";
    LONG_DATES = "saLongDates";
    DAY_NAMES = "saDayNames";
    ABBREVIATED_DAY_NAMES = "saAbbrevDayNames";
    SHORTEST_DAY_NAMES = "saSuperShortDayNames";
    MONTH_NAMES = "saMonthNames";
    ABBREVIATED_MONTH_NAMES = "saAbbrevMonthNames";
    MONTH_GENITIVE_NAMES = "saMonthGenitiveNames";
    ABBREVIATED_MONTH_GENITIVE_NAMES = "saAbbrevMonthGenitiveNames";
}

static NATIVE_NAME: ManagedField = ManagedField::new(LibraryType::CalendarData, "sNativeName");
static MONTH_DAY: ManagedField = ManagedField::new(LibraryType::CalendarData, "sMonthDay");

/// `name` is the culture's name in lower case. False: not known.
fn fill_calendar_data(t: CurrentThread, this: Option<Obj>, name: Option<Str>, _calendar: i32) -> Managed<bool> {
    let this = non_null_this(t, this)?;
    let name = non_null(t, name, "localeName")?;
    let Some(index) = data::culture_named(&name.to_rust()) else { return Ok(false) };
    let culture = &data::cultures()[index];
    let native_name = optional_string(t, culture.text("nativename"))?;
    NATIVE_NAME.set_ref(t, this, native_name);
    let month_day = optional_string(t, culture.text("sMonthDay"))?;
    MONTH_DAY.set_ref(t, this, month_day);
    for (field, key) in LISTS {
        let list = string_array(t, &culture.list(key).unwrap_or_default())?;
        field.set_ref(t, this, list);
    }
    Ok(true)
}

/// The internal calls of `System.Globalization.CalendarData`.
pub const TABLE: &[InternalCall] =
    &[InternalCall::new("System.Globalization.CalendarData::fill_calendar_data", &fill_calendar_data)];
