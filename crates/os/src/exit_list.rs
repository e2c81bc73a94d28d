//! The virtual machine's actions at the end of the process, in a fixed order.
//!
//! A process may end by the program's last line, by `exit` in native code, or by an error of the command; the C library
//! then calls the functions registered with `atexit`, last registration first. The machine registers one function there
//! when the first action is added; that function runs the actions in the order of [`ExitStage`], whatever the order in
//! which they were added.
//!
//! A forked child (`fork`) runs the action of the code cache only, once it has come back to the machine: the others'
//! files, terminals and reports are the parent's.
//!
//! Invariant: an action runs at most once and neither unwinds nor ends the process. A process that is killed, or ends
//! by `_exit`, runs none.

use crate::fork;
use std::sync::{Once, OnceLock};

/// The actions of an exit, first to last. Each may count on the stages after it to be still to come: statistics are
/// printed after the profile's table, and count the bodies that the code cache then writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub enum ExitStage {
    /// Restores the terminal's settings, before anything else is printed on it.
    Terminal,
    /// Reports that there is no heap snapshot if the program did not run to its end.
    HeapSnapshot,
    /// Writes the profile that is still being made.
    Profile,
    /// Ends Mono's profiler log.
    ProfileLog,
    /// Tells the service threads that nobody needs them any more, so that none begins another round beside the stages
    /// that follow. Waits for none.
    Services,
    /// `--stats`, `--missing`, `--check-walks`.
    Statistics,
    /// Writes the compiled bodies to the code cache.
    CodeCache,
    /// Ends the dump of compiled code for `perf`.
    JitDump,
    /// Removes files that the command itself made for the run.
    TemporaryFiles,
}

const STAGES: usize = ExitStage::TemporaryFiles as usize + 1;

static ACTIONS: [OnceLock<fn()>; STAGES] = [const { OnceLock::new() }; STAGES];

/// Registers `action` to run in its stage when the process ends. The first action of a stage stays.
pub fn at_exit(stage: ExitStage, action: fn()) {
    static REGISTERED: Once = Once::new();
    let _ = ACTIONS[stage as usize].set(action);
    REGISTERED.call_once(|| {
        // SAFETY: a function without arguments that does not unwind. It cannot fail: the C library keeps room for 32 of
        // them, and there is one.
        unsafe { libc::atexit(run) };
    });
}

/// Runs the actions, and ends the process by SIGABRT with the signal's default action, whatever handlers there are.
pub fn abort() -> ! {
    run();
    // SAFETY: sets the default action of a signal, which needs no other state.
    unsafe { libc::signal(libc::SIGABRT, libc::SIG_DFL) };
    std::process::abort()
}

extern "C" fn run() {
    if !fork::is_child() {
        run_actions(&ACTIONS);
    } else if !fork::is_restart_due() {
        run_actions(&ACTIONS[ExitStage::CodeCache as usize..=ExitStage::CodeCache as usize]);
    }
}

fn run_actions(actions: &[OnceLock<fn()>]) {
    for action in actions.iter().filter_map(OnceLock::get) {
        action();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// Later stages undo what earlier ones need, so the order must not depend on which action was added first.
    #[test]
    fn stages_run_in_their_order_whatever_was_added_first() {
        static RAN: Mutex<Vec<ExitStage>> = Mutex::new(Vec::new());
        let actions: [OnceLock<fn()>; STAGES] = [const { OnceLock::new() }; STAGES];
        let _ = actions[ExitStage::TemporaryFiles as usize].set(|| RAN.lock().unwrap().push(ExitStage::TemporaryFiles));
        let _ = actions[ExitStage::CodeCache as usize].set(|| RAN.lock().unwrap().push(ExitStage::CodeCache));
        let _ = actions[ExitStage::Terminal as usize].set(|| RAN.lock().unwrap().push(ExitStage::Terminal));
        run_actions(&actions);
        assert_eq!(*RAN.lock().unwrap(), [ExitStage::Terminal, ExitStage::CodeCache, ExitStage::TemporaryFiles]);
    }
}
