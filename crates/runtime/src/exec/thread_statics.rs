//! Addresses of statics that each thread, or each remoting context, has of its own.

use crate::exceptions::ToManaged;
use crate::thread::{CurrentThread, Managed};
use crate::{context_statics, statics};
use saki_thread::BlockScan;
use saki_types::{Field, collectible};

/// Address of a thread-static field for this thread, or of a context-static one for its context.
///
/// # Errors
/// The type's layout errors; OutOfMemoryException.
pub fn thread_static_address(t: CurrentThread, field: &'static Field) -> Managed<*mut u8> {
    if field.is_context_static {
        return context_statics::address(t, field);
    }
    let offset = field.offset_bytes().to_managed(t)? as usize;
    let number = statics::thread_block_number(field.owner) as usize;
    let thread = t.managed();
    let mut block = thread.static_block(number);
    if block.is_null() {
        let layout = field.owner.static_layout().to_managed(t)?;
        let map = statics::thread_block_map(field.owner, &layout.thread_ref_offsets);
        let scan = match collectible::owner_of(field.owner).filter(|owner| !owner.is_domain()) {
            Some(owner) => BlockScan::Conditional { map, owner: std::ptr::from_ref(owner).addr() },
            None => BlockScan::Precise(map),
        };
        block = thread.ensure_static_block(number, layout.thread_size_bytes as usize, scan);
    }
    Ok(block.wrapping_add(offset))
}
