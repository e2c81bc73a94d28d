//! System.Globalization.RegionInfo.

use super::data;
use crate::arguments::{non_null, non_null_this, optional_string};
use saki_runtime::{CurrentThread, InternalCall, Managed, ManagedField, Obj, Str};
use saki_types::LibraryType;

macro_rules! texts {
    ($($name:ident = $field:literal;)*) => {
        $(static $name: ManagedField = ManagedField::new(LibraryType::RegionInfo, $field);)*
        /// Texts, whose keys in the data are the fields' names.
        static TEXTS: &[(&ManagedField, &str)] = &[$((&$name, $field),)*];
    };
}

texts! {
    ISO2_NAME = "iso2Name";
    ISO3_NAME = "iso3Name";
    WIN3_NAME = "win3Name";
    ENGLISH_NAME = "englishName";
    NATIVE_NAME = "nativeName";
    CURRENCY_SYMBOL = "currencySymbol";
    ISO_CURRENCY_SYMBOL = "isoCurrencySymbol";
    CURRENCY_ENGLISH_NAME = "currencyEnglishName";
    CURRENCY_NATIVE_NAME = "currencyNativeName";
}

static REGION_ID: ManagedField = ManagedField::new(LibraryType::RegionInfo, "regionId");

/// `name` is in upper case. False: not known.
fn from_name(t: CurrentThread, this: Option<Obj>, name: Option<Str>) -> Managed<bool> {
    let this = non_null_this(t, this)?;
    let name = non_null(t, name, "name")?;
    let Some(region) = data::region_named(&name.to_rust()) else { return Ok(false) };
    REGION_ID.set(this, region.number("regionId"));
    for (field, key) in TEXTS {
        let text = optional_string(t, region.text(key))?;
        field.set_ref(t, this, text);
    }
    Ok(true)
}

/// The internal calls of `System.Globalization.RegionInfo`.
pub const TABLE: &[InternalCall] =
    &[InternalCall::new("System.Globalization.RegionInfo::construct_internal_region_from_name", &from_name)];
