//! Vararg calls and `arglist`. ECMA-335 §I.12.3.2.3, §III.3.4.
//!
//! The variable arguments go into a block in the caller's frame: a word that names the call site's signature, then one
//! 8-byte slot for each (small integers extended, structs as the address of a copy). Its address is the last argument
//! of every vararg method.

use super::builder::plain;
use super::emitter::Emitter;
use super::kinds::{ir_type, mem_type, this_type};
use super::stack::{Effect, StackEntry, Val};
use crate::ir::{AliasClass, CallSig, CallTarget, IrType, MemType, Op, Symbol};
use saki_metadata::Token;
use saki_types::{LibraryType, LoadError, LoadResult, Method, MethodSig, universe};

impl Emitter<'_> {
    pub(super) fn call_vararg(
        &mut self,
        method: &'static Method,
        site: &'static MethodSig,
        token: Token,
        is_virtual: bool,
    ) -> LoadResult<()> {
        if universe().profile().refuses_varargs {
            return Err(LoadError::invalid_program("Vararg calling convention not supported."));
        }
        let mut args = self.pop_args(site, !method.is_static())?;
        if is_virtual {
            self.null_check(&mut args[0])?;
        }
        self.spill(Effect::Memory)?;
        let fixed = site.sentinel.unwrap_or(site.params.len()).min(method.sig()?.params.len());
        let this = this_type(method);
        let fixed_args = fixed + usize::from(this.is_some());
        let variable = args.split_off(fixed_args);
        let mut operands = self.operands(this.is_some(), &site.params[..fixed], &args)?;

        let block = self.b.temp(IrType::Block(8 + 8 * variable.len() as u32));
        self.b.expose(block);
        let base = self.b.addr_of(block);
        let cookie = self.b.symbol(Symbol::VarArgCookie(self.s.image, token.0));
        let flags = plain(AliasClass::Any);
        self.b.store(base, 0, cookie, MemType::I64, flags);
        for (index, (entry, ty)) in variable.iter().zip(&site.params[fixed..]).enumerate() {
            let offset = 8 + 8 * index as i32;
            let (value, mem) = match mem_type(ty)? {
                None => {
                    let local = self.own_struct(entry)?;
                    (self.b.addr_of(local), MemType::I64)
                }
                Some(mem) => {
                    let value = self.coerce(entry, ty)?;
                    match mem.loaded() {
                        IrType::I32 => (self.fit(value, IrType::I64), MemType::I64),
                        _ => (value, mem),
                    }
                }
            };
            self.b.store(base, offset, value, mem, flags);
        }
        operands.push(base);
        let mut params: Vec<IrType> = this.into_iter().collect();
        for param in &site.params[..fixed] {
            params.push(ir_type(param)?);
        }
        params.push(IrType::ByRef);
        let ret = ir_type(site.ret)?;
        let sig = CallSig { params, ret: (ret != IrType::Void).then_some(ret), has_this: this.is_some() };
        let result = self.emit_raw_call(CallTarget::Direct(method), sig, operands, site.ret)?;
        self.push_result(result);
        Ok(())
    }

    pub(super) fn arg_list(&mut self) -> LoadResult<()> {
        let (Some(block), None, false) = (self.arg_block, &self.parent, self.s.is_inlined) else {
            return Err(LoadError::invalid_program("arglist in a method without variable arguments"));
        };
        let value = self.b.get(block);
        let ty = universe().library_type(LibraryType::RuntimeArgumentHandle)?;
        let temp = self.b.temp(IrType::Struct(ty));
        let addr = self.b.addr_of(temp);
        self.b.effect(Op::InitStruct { addr, ty });
        self.b.store(addr, 0, value, MemType::I64, plain(AliasClass::Any));
        self.push(StackEntry::of_struct(Val::Temp(temp), ty));
        Ok(())
    }
}
