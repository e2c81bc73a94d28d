//! Which objects escape, and why.

use super::aliases::{Alias, Aliases};
use super::reasons::Escape;
use super::sites::{Sites, is_empty_constructor};
use crate::ir::{CallTarget, CmpOp, Function, LocalId, Op, Terminator, ValueId, verify};
use crate::opt::leaves::access_bytes;
use rustc_hash::FxHashMap;
use saki_abi::HelperId;
use saki_abi::object::OBJECT_HEADER_BYTES;

/// The objects that escape, each with the first reason.
pub(super) fn find(function: &Function, sites: &Sites, aliases: &Aliases) -> Vec<(ValueId, Escape)> {
    let mut search = Search { function, sites, aliases, found: FxHashMap::default() };
    for site in sites.values() {
        if let Some(refusal) = sites.get(site).and_then(|site| site.refusal) {
            search.found.insert(site, refusal);
        }
    }
    for (block, body) in function.blocks.iter().enumerate() {
        for value in &body.insts {
            if aliases.is_reachable(block) {
                search.inst(*value);
            } else {
                verify::operands(&function.insts[value.0 as usize].op, &mut |used| {
                    search.escape(used, Escape::Other);
                });
            }
        }
        let reason = match body.terminator {
            Terminator::Brif { .. } => continue,
            Terminator::Ret(_) => Escape::Returned,
            Terminator::Throw(_) | Terminator::Rethrow(_) => Escape::Thrown,
            Terminator::TailCall { target: CallTarget::Direct(method), .. } => Escape::Method(method),
            _ => Escape::Call,
        };
        verify::terminator_operands(&body.terminator, &mut |used| search.escape(used, reason));
    }
    let found = search.found;
    sites.values().filter_map(|site| found.get(&site).map(|escape| (site, *escape))).collect()
}

struct Search<'a> {
    function: &'a Function,
    sites: &'a Sites,
    aliases: &'a Aliases,
    found: FxHashMap<ValueId, Escape>,
}

impl Search<'_> {
    /// The object into which a value leads escapes, if it is one of these.
    fn escape(&mut self, value: ValueId, reason: Escape) {
        if let Some(alias) = self.aliases.get(value) {
            self.found.entry(alias.site).or_insert(reason);
        }
    }

    /// An access of so many bytes: the object escapes if not all of them are in its fields.
    fn access(&mut self, addr: ValueId, offset: i32, bytes: i32, is_plain: bool) {
        let Some(Alias { site, offset: start }) = self.aliases.get(addr) else { return };
        let Some(info) = self.sites.get(site) else { return };
        let first = start + offset;
        let is_inside = first >= OBJECT_HEADER_BYTES as i32 && first + bytes <= info.size_bytes as i32;
        // The fields of a delegate that are not known are not its program's.
        if !is_plain || !is_inside || info.delegate.is_some() {
            self.escape(addr, Escape::Other);
        }
    }

    fn inst(&mut self, value: ValueId) {
        let op = &self.function.insts[value.0 as usize].op;
        match *op {
            Op::LocalSet(local, stored) => self.set(local, stored),
            Op::NullCheck(_) => {}
            Op::Load { addr, offset, mem, flags } => {
                self.access(addr, offset, access_bytes(mem), !flags.volatile);
            }
            Op::Store { addr, offset, value: stored, mem, flags } => {
                self.escape(stored, Escape::Stored);
                self.access(addr, offset, access_bytes(mem), !flags.volatile);
            }
            Op::StoreRef { object, addr, offset, value: stored, flags } => {
                self.escape(stored, Escape::Stored);
                self.access(addr, offset, access_bytes(crate::ir::MemType::Ref), !flags.volatile);
                let owner = self.aliases.get(addr).map(|alias| alias.site);
                if let Some(object) = object
                    && self.aliases.get(object).map(|alias| alias.site) != owner
                {
                    self.escape(object, Escape::Other);
                    self.escape(addr, Escape::Other);
                }
            }
            Op::CopyStruct { dst, src, ty, flags, .. } => {
                let bytes = ty.value_size_bytes().map_or(i32::MAX / 2, |bytes| bytes as i32);
                for addr in [dst, src] {
                    self.access(addr, 0, bytes, !flags.volatile);
                }
            }
            Op::InitStruct { addr, ty } => {
                let bytes = ty.value_size_bytes().map_or(i32::MAX / 2, |bytes| bytes as i32);
                self.access(addr, 0, bytes, true);
            }
            Op::Cmp(CmpOp::Eq | CmpOp::NeUn, a, b) => {
                // Nothing but its own places holds an object that does not escape.
                for addr in [a, b] {
                    if self.aliases.get(addr).is_some_and(|alias| alias.offset != 0) {
                        self.escape(addr, Escape::Other);
                    }
                }
            }
            // These are places of the object, too.
            Op::Bin(..) | Op::CastClass(..) | Op::IsInst(..) | Op::Unbox(..) if self.aliases.get(value).is_some() => {}
            Op::Call { target: CallTarget::Helper(HelperId::DelegateInit), ref args, .. } => {
                let made = self.sites.get(args[0]).and_then(|site| site.delegate.as_ref());
                let is_made_here = made.filter(|delegate| delegate.init == value);
                match is_made_here {
                    Some(delegate) => {
                        let is_open = delegate.kind.passes_no_target();
                        if !is_open && !self.is_object(delegate.target) {
                            self.escape(args[0], Escape::NullTarget);
                        }
                    }
                    None => self.escape(args[0], Escape::UnknownDelegate),
                }
                args[1..].iter().for_each(|used| self.escape(*used, Escape::Stored));
            }
            Op::Call { ref target, .. } if is_empty_constructor(target) => {}
            Op::Call { ref target, .. } => {
                let reason = match *target {
                    CallTarget::Direct(method)
                    | CallTarget::Virtual { method, .. }
                    | CallTarget::Interface { method }
                    | CallTarget::InternalCall(method) => Escape::Method(method),
                    CallTarget::Helper(helper) => Escape::Helper(helper),
                    CallTarget::Indirect(_) | CallTarget::Native { .. } => Escape::Call,
                };
                verify::operands(op, &mut |used| self.escape(used, reason));
            }
            _ => verify::operands(op, &mut |used| self.escape(used, Escape::Other)),
        }
    }

    fn is_object(&self, value: ValueId) -> bool {
        self.aliases.object(value).is_some() || self.sites.is_object(self.function, value)
    }

    fn set(&mut self, local: LocalId, stored: ValueId) {
        if !self.aliases.is_tracked(local) {
            self.escape(stored, Escape::Stored);
        } else if self.aliases.is_merged(local) {
            self.escape(stored, Escape::Merged);
        }
    }
}
