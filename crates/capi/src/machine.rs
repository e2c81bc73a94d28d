//! Options, start and end of the machine, the threads of the host, and the count of kept objects.
//!
//! - **Threads.** Each function brings the calling thread into the machine and back. Between calls, also while managed
//!   code waits for a function of the host, the thread is in native code, for which no collection waits.
//! - **Signals.** Handlers of faults pass on what is not the machine's to those that were there before. SIGPIPE, SIGINT
//!   and SIGQUIT stay the host's, as do streams, locale, working folder, allocator and signal masks.

use crate::arguments::{Out, Text};
use crate::failures::{CallFailure, Returned, outside, run};
use crate::kept;
use saki::{Vm, VmBuilder};
use std::ffi::c_char;

/// What a machine is to be like.
pub struct MachineOptions(VmBuilder);

fn vm() -> Result<&'static Vm, CallFailure<'static>> {
    kept::machine().ok_or_else(|| CallFailure::state("no machine has been started"))
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_options_new() -> Option<Box<MachineOptions>> {
    Some(Box::new(MachineOptions(Vm::builder())))
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_options_free(options: Option<Box<MachineOptions>>) {
    drop(options);
}

fn change(
    options: Option<&mut MachineOptions>,
    with: impl FnOnce(VmBuilder) -> Result<VmBuilder, CallFailure<'static>>,
) -> Returned {
    outside(|| {
        let options = options.ok_or_else(|| CallFailure::null("options"))?;
        options.0 = with(options.0.clone())?;
        Ok(())
    })
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_options_set(options: Option<&mut MachineOptions>, name: Text, value: Text) -> Returned {
    change(options, |builder| {
        builder.option(name.get("name")?, value.get("value")?).map_err(|error| CallFailure::wrong(error.to_string()))
    })
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_options_class_libraries(options: Option<&mut MachineOptions>, folder: Text) -> Returned {
    change(options, |builder| Ok(builder.class_libraries(folder.path("folder")?)))
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_start(options: Option<&MachineOptions>) -> Returned {
    outside(|| {
        let builder = options.map_or_else(Vm::builder, |options| options.0.clone());
        let started = builder.start()?;
        // One start in a process succeeds, so that this place is free.
        if kept::set_machine(started) {
            Ok(())
        } else {
            Err(CallFailure::state("this process had its machine already"))
        }
    })
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_end(exit_code: Out<i32>) -> Returned {
    outside(|| {
        exit_code.put(vm()?.end()?);
        Ok(())
    })
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_attach() -> Returned {
    outside(|| {
        vm()?.attach()?.keep();
        Ok(())
    })
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_detach() -> Returned {
    outside(|| if saki::detach() { Ok(()) } else { Err(CallFailure::state("the thread has no attachment to end")) })
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_is_running() -> bool {
    kept::machine().is_some_and(Vm::is_running)
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_collect() -> Returned {
    run(|t| {
        t.collect();
        Ok(())
    })
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_live_objects() -> usize {
    if saki_is_running() { kept::count() } else { 0 }
}
