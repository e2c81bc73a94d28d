//! System.String. Its constructors are redirected to `CreateString` by the importer and have no internal calls.

use crate::arguments::non_null;
use saki_abi::ObjRef;
use saki_runtime::{CurrentThread, InternalCall, exceptions, strings};

fn fast_allocate_string(t: CurrentThread, length: i32) -> ObjRef {
    t.run(|| match usize::try_from(length) {
        Ok(length) => strings::alloc_string(t, length),
        Err(_) => Err(exceptions::out_of_memory(t)),
    })
}

fn internal_intern(t: CurrentThread, string: ObjRef) -> ObjRef {
    t.run(|| {
        non_null(t, string, "str")?;
        strings::intern_object(t, string)
    })
}

fn internal_is_interned(t: CurrentThread, string: ObjRef) -> ObjRef {
    t.run(|| {
        non_null(t, string, "str")?;
        Ok(strings::is_interned(strings::units(string)))
    })
}

pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.String::FastAllocateString", &fast_allocate_string),
    InternalCall::new("System.String::InternalIntern", &internal_intern),
    InternalCall::new("System.String::InternalIsInterned", &internal_is_interned),
];
