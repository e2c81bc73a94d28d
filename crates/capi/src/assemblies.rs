//! Assemblies.

use crate::arguments::{Items, Out, Text, given};
use crate::failures::{CallFailure, Returned, run};
use crate::strings::TextOut;
use saki::{Assembly, Thread};

fn give(
    assembly: Out<Option<Assembly>>,
    find: impl for<'t> FnOnce(Thread<'t>) -> Result<Assembly, CallFailure<'t>>,
) -> Returned {
    assembly.put(None);
    run(|t| {
        let room = assembly.required("assembly")?;
        room.put(Some(find(t)?));
        Ok(())
    })
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_load(path: Text, assembly: Out<Option<Assembly>>) -> Returned {
    give(assembly, |t| Ok(t.load(path.path("path")?)?))
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_load_named(name: Text, assembly: Out<Option<Assembly>>) -> Returned {
    give(assembly, |t| Ok(t.load_named(name.get("name")?)?))
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_load_bytes(bytes: Items<u8>, size: usize, assembly: Out<Option<Assembly>>) -> Returned {
    give(assembly, |t| Ok(t.load_bytes(bytes.get(size, "bytes")?)?))
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_assembly_name(assembly: Option<Assembly>, name: TextOut, length: Out<usize>) -> Returned {
    name.give(length, |_| Ok(given(assembly, "assembly")?.name().to_owned()))
}
