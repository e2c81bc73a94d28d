//! The names that profiles give to the code of a frame: its method and the methods inlined there, with source lines
//! where there are symbols.
//!
//! This runs on the thread that reads samples, which is not a managed thread; that thread's walk of the code map keeps
//! bodies and methods from being freed (`saki_sampler`). Left out: native frames.

use crate::exception_trace::NO_IL_OFFSET;
use crate::source_lines::source_position;
use saki_abi::position;
use saki_code::{CodeInfo, CodeKind};
use saki_sampler::SourcePlace;
use saki_types::{Method, collectible};
use std::borrow::Cow;

/// See `saki_sampler::Resolve`. Stubs and wrappers between methods are shown only as innermost frames: as callers they
/// would only clutter the stack.
pub fn resolve(
    info: &CodeInfo,
    native_offset: u32,
    is_innermost: bool,
    visit: &mut dyn FnMut(SourcePlace<'_>),
) -> bool {
    let is_method = matches!(info.kind, CodeKind::Method | CodeKind::NativeThunk | CodeKind::Filter);
    if !is_method || info.method.is_null() {
        if is_innermost {
            visit(SourcePlace { name: Cow::Borrowed(info.name()), file: Cow::Borrowed(""), line: 0 });
        }
        // Glue code of a domain may be freed with it.
        return false;
    }
    let mut at = info.position(native_offset);
    while let Some((place, site)) = at.and_then(|at| Some((at, info.inline_site(at)?))) {
        // SAFETY: inline sites are recorded with their `&'static Method`.
        let method = unsafe { &*(site.method as *const Method) };
        visit_method(method, position::unpack(place).1, method.frame_name(), visit);
        at = Some(site.call_position);
    }
    // SAFETY: code of these kinds is placed with its `&'static Method`.
    let method = unsafe { &*(info.method as *const Method) };
    let il_offset = at.map_or(NO_IL_OFFSET, |at| position::unpack(at).1);
    if method.is_dynamic() {
        // The type that owns the method means nothing to the user.
        visit(SourcePlace { name: Cow::Borrowed(method.name), file: Cow::Borrowed(""), line: 0 });
        return false;
    }
    let name = method.frame_name();
    let name = if info.kind == CodeKind::Filter { name + " [filter]" } else { name };
    visit_method(method, il_offset, name, visit);
    collectible::owner_of(method).is_none()
}

fn visit_method(method: &'static Method, il_offset: u32, name: String, visit: &mut dyn FnMut(SourcePlace<'_>)) {
    let found = source_position(method, il_offset);
    let line = found.as_ref().map_or(0, |found| found.line);
    let file = found.map_or(Cow::Borrowed(""), |found| Cow::Owned(found.file));
    visit(SourcePlace { name: Cow::Owned(name), file, line });
}
