//! The words and the lock of the process's stop protocol.
//!
//! Left out: stopping (`safepoint`), the protocol (`protocol`).

use crate::protocol::StopWords;
use saki_sync::RawLock;

pub(crate) static STOP_WORDS: StopWords = StopWords::new();
/// Held during a stop, and for every change of the list of carriers.
pub(crate) static STOP_LOCK: RawLock = RawLock::new();
