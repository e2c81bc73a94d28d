//! System.String. Its constructors are redirected to `CreateString` by the importer and have no internal calls.

use crate::arguments::non_null;
use saki_abi::ObjRef;
use saki_runtime::{CurrentThread, InternalCall, exceptions, strings};

extern "C" fn fast_allocate_string(t: CurrentThread, length: i32) -> ObjRef {
    t.run(|| match usize::try_from(length) {
        Ok(length) => strings::alloc_string(t, length),
        Err(_) => Err(exceptions::out_of_memory(t)),
    })
}

extern "C" fn internal_intern(t: CurrentThread, string: ObjRef) -> ObjRef {
    t.run(|| {
        non_null(t, string, "str")?;
        strings::intern_object(t, string)
    })
}

extern "C" fn internal_is_interned(t: CurrentThread, string: ObjRef) -> ObjRef {
    t.run(|| {
        non_null(t, string, "str")?;
        Ok(strings::is_interned(strings::units(string)))
    })
}

pub const TABLE: &[InternalCall] = &[
    ("System.String::FastAllocateString", fast_allocate_string as *const ()),
    ("System.String::InternalIntern", internal_intern as *const ()),
    ("System.String::InternalIsInterned", internal_is_interned as *const ()),
];
