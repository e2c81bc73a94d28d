//! What an embedding host says about itself, and programs ask: a debugger, a configuration.

use saki_base::locks::{Mutex, rank};
use std::sync::atomic::{AtomicBool, Ordering};

/// Relaxed: nothing depends on it.
static IS_DEBUGGER_ATTACHED: AtomicBool = AtomicBool::new(false);

static MACHINE_CONFIG: Mutex<rank::HostConfig, Option<String>> = Mutex::new(None);

/// Sets what `Debugger.IsAttached` gives.
pub fn set_debugger_attached(is_attached: bool) {
    IS_DEBUGGER_ATTACHED.store(is_attached, Ordering::Relaxed);
}

/// What `Debugger.IsAttached` gives; false unless a host has set it.
pub fn is_debugger_attached() -> bool {
    IS_DEBUGGER_ATTACHED.load(Ordering::Relaxed)
}

/// Sets the text that stands for the file machine.config.
pub fn set_machine_config(text: Option<String>) {
    *MACHINE_CONFIG.lock() = text;
}

/// The text that stands for the file machine.config, if a host has set one.
pub fn machine_config() -> Option<String> {
    MACHINE_CONFIG.lock().clone()
}
