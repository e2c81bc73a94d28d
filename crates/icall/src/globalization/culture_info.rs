//! System.Globalization.CultureInfo.

use super::data::{self, Culture};
use crate::arguments::{non_null, non_null_this, optional_string, string_array};
use saki_base::locks::{Mutex, rank};
use saki_runtime::exec::invoke::{self, Slot};
use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, ManagedField, Obj, Str};
use saki_types::{LibraryType, universe};

macro_rules! culture_fields {
    ($($name:ident = $field:literal;)*) => {
        $(static $name: ManagedField = ManagedField::new(LibraryType::CultureInfo, $field);)*
    };
}

culture_fields! {
    LCID = "cultureID";
    PARENT_LCID = "parent_lcid";
    DATETIME_INDEX = "datetime_index";
    NUMBER_INDEX = "number_index";
    CALENDAR_TYPE = "default_calendar_type";
    USE_USER_OVERRIDE = "m_useUserOverride";
    NAME = "m_name";
    ENGLISH_NAME = "englishname";
    NATIVE_NAME = "nativename";
    ISO3_LANGUAGE = "iso3lang";
    ISO2_LANGUAGE = "iso2lang";
    WIN3_LANGUAGE = "win3lang";
    TERRITORY = "territory";
    NATIVE_CALENDAR_NAMES = "native_calendar_names";
    TEXT_INFO_DATA = "textinfo_data";
}

/// `CultureInfo.Data`, which managed code reads through a pointer.
#[repr(C)]
struct TextInfoData {
    ansi: i32,
    ebcdic: i32,
    mac: i32,
    oem: i32,
    right_to_left: u8,
    /// An ASCII character.
    list_separator: u8,
}

/// The native text data of a culture, made once.
fn text_info_data(index: usize, culture: &'static Culture) -> *const TextInfoData {
    static MADE: Mutex<rank::TextInfos, Vec<Option<&'static TextInfoData>>> = Mutex::new(Vec::new());
    let mut made = MADE.lock();
    if made.len() <= index {
        made.resize(data::cultures().len(), None);
    }
    *made[index].get_or_insert_with(|| {
        Box::leak(Box::new(TextInfoData {
            ansi: culture.number("ansi"),
            ebcdic: culture.number("ebcdic"),
            mac: culture.number("mac"),
            oem: culture.number("oem"),
            right_to_left: u8::from(culture.number("right_to_left") != 0),
            list_separator: culture.number("list_sep") as u8,
        }))
    })
}

fn fill(t: CurrentThread, this: Obj, index: usize) -> Managed<()> {
    let culture = &data::cultures()[index];
    let put = |field: &ManagedField, text: Option<&str>| -> Managed<()> {
        let text = optional_string(t, text)?;
        field.set_ref(t, this, text);
        Ok(())
    };
    LCID.set(this, culture.number("lcid"));
    PARENT_LCID.set(this, culture.number("parent_lcid"));
    put(&NAME, Some(culture.name))?;
    put(&ENGLISH_NAME, culture.text("englishname"))?;
    put(&NATIVE_NAME, culture.text("nativename"))?;
    put(&WIN3_LANGUAGE, culture.text("win3lang"))?;
    put(&ISO3_LANGUAGE, culture.text("iso3lang"))?;
    put(&ISO2_LANGUAGE, culture.text("iso2lang"))?;
    put(&TERRITORY, culture.text("territory"))?;
    let calendars = string_array(t, &culture.list("native_calendar_names").unwrap_or_default())?;
    NATIVE_CALENDAR_NAMES.set_ref(t, this, calendars);
    DATETIME_INDEX.set(this, index as i32);
    NUMBER_INDEX.set(this, index as i32);
    CALENDAR_TYPE.set(this, culture.number("calendar_type"));
    TEXT_INFO_DATA.set(this, text_info_data(index, culture));
    Ok(())
}

/// `name` is in lower case. False: not known.
fn from_name(t: CurrentThread, this: Option<Obj>, name: Option<Str>) -> Managed<bool> {
    let this = non_null_this(t, this)?;
    let name = non_null(t, name, "name")?;
    match data::culture_named(&name.to_rust()) {
        Some(index) => fill(t, this, index).map(|()| true),
        None => Ok(false),
    }
}

fn from_lcid(t: CurrentThread, this: Option<Obj>, lcid: i32) -> Managed<bool> {
    let this = non_null_this(t, this)?;
    match data::culture_with_lcid(lcid) {
        Some(index) => fill(t, this, index).map(|()| true),
        None => Ok(false),
    }
}

/// Name of the user's culture in lower case; None = the invariant one.
fn locale_name() -> Option<String> {
    let locale = std::env::var("LC_ALL").or_else(|_| std::env::var("LANG")).ok().filter(|name| name != "C")?;
    let language = locale.split(['.', '@']).next().unwrap_or_default();
    Some(language.replacen('_', "-", 1).to_ascii_lowercase())
}

fn current_locale_name<'t>(t: CurrentThread<'t>) -> Managed<Option<Str<'t>>> {
    optional_string(t, locale_name().as_deref())
}

/// When neutral cultures are wanted, the first element is null and stands for the invariant culture.
fn all_cultures<'t>(t: CurrentThread<'t>, neutral: bool, specific: bool, _installed: bool) -> Managed<Array<'t>> {
    let wanted: Vec<usize> = data::cultures()
        .iter()
        .enumerate()
        .filter(|(_, culture)| if culture.is_neutral() { neutral } else { specific })
        .map(|(index, _)| index)
        .collect();
    let ty = universe().library_type(LibraryType::CultureInfo).to_managed(t)?;
    let ctor = ty.find_method_sig(".ctor", &[]).to_managed(t)?;
    let first = usize::from(neutral);
    let array = Array::new(t, ty, wanted.len() + first)?;
    for (place, index) in wanted.into_iter().enumerate() {
        let culture = Obj::new(t, ty)?;
        if let Some(ctor) = ctor {
            invoke::invoke(t, ctor, &[Slot::from_ref(culture)])?;
        }
        fill(t, culture, index)?;
        USE_USER_OVERRIDE.set(culture, 1u8);
        array.set(t, place + first, Some(culture));
    }
    Ok(array)
}

/// The internal calls of `System.Globalization.CultureInfo`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Globalization.CultureInfo::construct_internal_locale_from_name", &from_name),
    InternalCall::new("System.Globalization.CultureInfo::construct_internal_locale_from_lcid", &from_lcid),
    InternalCall::new("System.Globalization.CultureInfo::get_current_locale_name", &current_locale_name),
    InternalCall::new("System.Globalization.CultureInfo::internal_get_cultures", &all_cultures),
];
