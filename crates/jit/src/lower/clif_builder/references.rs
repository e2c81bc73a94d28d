//! Names that a function refers to: each symbol, callee and signature is declared once.

use crate::symbols::{RelocTarget, SymbolTable};
use cranelift_codegen::ir::{self as clif, FuncRef, GlobalValue, InstBuilder, SigRef, Value, types};
use cranelift_frontend::FunctionBuilder;
use rustc_hash::FxHashMap;

/// What has been declared so far, by number in the symbol table.
pub(super) struct References<'a> {
    symbols: &'a mut SymbolTable,
    functions: FxHashMap<(u32, SigRef), FuncRef>,
    globals: FxHashMap<u32, GlobalValue>,
    signatures: FxHashMap<clif::Signature, SigRef>,
    /// By function: the same one, called by another signature.
    called_otherwise: FxHashMap<(FuncRef, SigRef), FuncRef>,
}

impl<'a> References<'a> {
    pub(super) fn new(symbols: &'a mut SymbolTable) -> References<'a> {
        References {
            symbols,
            functions: FxHashMap::default(),
            globals: FxHashMap::default(),
            signatures: FxHashMap::default(),
            called_otherwise: FxHashMap::default(),
        }
    }

    /// The address of `target`, loaded where the builder is.
    pub(super) fn address(&mut self, b: &mut FunctionBuilder<'_>, target: RelocTarget) -> Value {
        let number = self.symbols.intern(target);
        let global = *self.globals.entry(number).or_insert_with(|| {
            let name = external_name(b, number);
            b.create_global_value(clif::GlobalValueData::Symbol {
                name,
                offset: 0.into(),
                colocated: target.is_near(),
                tls: false,
            })
        });
        b.ins().symbol_value(types::I64, global)
    }

    pub(super) fn function(
        &mut self,
        b: &mut FunctionBuilder<'_>,
        target: RelocTarget,
        signature: clif::Signature,
    ) -> FuncRef {
        let signature = self.signature(b, signature);
        let number = self.symbols.intern(target);
        *self.functions.entry((number, signature)).or_insert_with(|| {
            let name = external_name(b, number);
            b.import_function(clif::ExtFuncData { name, signature, colocated: target.is_near(), patchable: false })
        })
    }

    /// The function, called by this signature.
    pub(super) fn with_signature(
        &mut self,
        b: &mut FunctionBuilder<'_>,
        function: FuncRef,
        signature: SigRef,
    ) -> FuncRef {
        *self.called_otherwise.entry((function, signature)).or_insert_with(|| {
            let data = clif::ExtFuncData { signature, ..b.func.dfg.ext_funcs[function].clone() };
            b.import_function(data)
        })
    }

    pub(super) fn signature(&mut self, b: &mut FunctionBuilder<'_>, signature: clif::Signature) -> SigRef {
        if let Some(&known) = self.signatures.get(&signature) {
            return known;
        }
        let reference = b.import_signature(signature.clone());
        self.signatures.insert(signature, reference);
        reference
    }
}

fn external_name(b: &mut FunctionBuilder<'_>, number: u32) -> clif::ExternalName {
    let name = clif::UserExternalName::new(0, number);
    clif::ExternalName::user(b.func.declare_imported_user_function(name))
}
