//! Imports every method of the installed class libraries and verifies the result; skipped where they are absent.
//!
//! `SAKI_IMPORT_TEST=System.Core,System` names assemblies or files to import instead of mscorlib;
//! `SAKI_DUMP=Type:Method` prints IR; `SAKI_NO_INLINE` switches inlining off, for comparison.

use saki_il::import::{Continuation, Facts, ImportOptions, NothingInitialised, import, import_continuation};
use saki_il::ir::Op;
use saki_metadata::opcodes::{Operand, decode_at};
use saki_types::binder::{Binder, SearchPaths};
use saki_types::{Assumption, Image, Method, Ty};
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU32;
use std::time::Instant;

const ROOT: &str = "/usr/lib/mono";

struct Totals {
    imported: usize,
    continuations: usize,
    guards: u32,
    /// Cold blocks of functions whose blocks were counted.
    cold: usize,
    refused: Vec<String>,
    instructions: usize,
    deferred: usize,
}

/// Facts of a machine in which calls have nearly always run some method of the library that fits.
struct Guesses {
    classes: Vec<Ty>,
    methods: Vec<&'static Method>,
    receivers: RefCell<HashMap<Ty, [Option<Ty>; 2]>>,
    targets: RefCell<HashMap<*const Method, [Option<&'static Method>; 2]>>,
}

impl Guesses {
    fn of(image: &'static Image) -> Guesses {
        let rids = 1..=image.meta.row_count(saki_metadata::TableId::TypeDef);
        let types: Vec<Ty> = rids.filter_map(|rid| image.type_def(rid).ok().and_then(closed)).collect();
        let is_class = |ty: &&Ty| !ty.is_abstract() && !ty.is_interface();
        let methods = types.iter().filter_map(|ty| ty.methods().ok()).flatten();
        Guesses {
            classes: types.iter().filter(is_class).copied().collect(),
            methods: methods.filter(|method| !method.is_generic_definition() && !method.is_abstract()).collect(),
            receivers: RefCell::default(),
            targets: RefCell::default(),
        }
    }

    fn callee(caller: &'static Method, il_offset: u32) -> Option<&'static Method> {
        let call = decode_at(caller.body().ok()??.code, il_offset).next()?.ok()?;
        let Operand::Token(token) = call.operand else { return None };
        Some(caller.image().resolve_method_call(token, &caller.context()).ok()?.0)
    }

    /// The owner of the callee, or the type of a cast.
    fn named_type(method: &'static Method, il_offset: u32) -> Option<Ty> {
        if let Some(callee) = Self::callee(method, il_offset) {
            return Some(callee.owner);
        }
        let cast = decode_at(method.body().ok()??.code, il_offset).next()?.ok()?;
        let Operand::Token(token) = cast.operand else { return None };
        method.image().resolve_type(token, &method.context()).ok()
    }
}

impl Facts for Guesses {
    fn is_initialised(&self, _: Ty) -> bool {
        true
    }

    fn usual_classes(&self, method: &'static Method, il_offset: u32) -> [Option<Ty>; 2] {
        let Some(named) = Self::named_type(method, il_offset) else { return [None; 2] };
        let find = || {
            let mut fitting = self.classes.iter().copied().filter(|ty| ty.is_assignable_to(named).unwrap_or(false));
            [fitting.next(), fitting.next()]
        };
        *self.receivers.borrow_mut().entry(named).or_insert_with(find)
    }

    fn usual_delegates(&self, method: &'static Method, il_offset: u32) -> [Option<&'static Method>; 2] {
        let Some(invoke) = Self::callee(method, il_offset) else { return [None; 2] };
        let Ok(wanted) = invoke.sig() else { return [None; 2] };
        let fits = |method: &&'static Method| {
            method.sig().is_ok_and(|has| has.params == wanted.params && has.ret == wanted.ret)
        };
        let find = || {
            let mut fitting = self.methods.iter().copied().filter(fits);
            [fitting.next(), fitting.next()]
        };
        *self.targets.borrow_mut().entry(invoke).or_insert_with(find)
    }

    fn block_counts(&self, _: &'static Method) -> &'static [AtomicU32] {
        &BLOCK_COUNTS
    }

    fn assume(&self, _: Assumption) {}
}

/// Runs of a method's blocks: of three, one never ran, and one ran seldom.
static BLOCK_COUNTS: [AtomicU32; 3000] = {
    let mut counts = [const { AtomicU32::new(0) }; 3000];
    let mut number = 0;
    while number < counts.len() {
        counts[number] = AtomicU32::new([5000, 0, 70][number % 3]);
        number += 1;
    }
    counts
};

/// Imports the method with a guess at each call whose callee is not certain.
fn import_guarded(method: &'static Method, guesses: &Guesses, totals: &mut Totals) {
    match import(method, &ImportOptions::default(), guesses) {
        Ok(function) => {
            totals.guards += function.guards;
            totals.cold += function.blocks.iter().filter(|block| block.cold).count();
            if let Err(problem) = function.verify() {
                totals.refused.push(format!("VERIFY guarded: {problem}\n{function}"));
            }
        }
        Err(error) => totals.refused.push(format!("guarded {}: {error}", method.full_name())),
    }
}

fn import_image(image: &'static Image, env: &dyn Facts, guesses: &Guesses, totals: &mut Totals) {
    let dump = std::env::var("SAKI_DUMP").ok();
    let inline = std::env::var_os("SAKI_NO_INLINE").is_none();
    let options = ImportOptions { inline, ..ImportOptions::default() };
    for rid in 1..=image.meta.row_count(saki_metadata::TableId::TypeDef) {
        let Ok(ty) = image.type_def(rid) else { continue };
        // Only closed methods have code: generic types are instantiated over object, or int where only structs may
        // stand.
        let Some(ty) = closed(ty) else { continue };
        let Ok(methods) = ty.methods() else { continue };
        for method in methods {
            let method = if method.is_generic_definition() {
                let args = arguments(method.generic_args());
                match saki_types::universe().instantiate_method(method, &args) {
                    Ok(method) => method,
                    Err(_) => continue,
                }
            } else {
                method
            };
            if !matches!(method.body(), Ok(Some(_))) {
                continue;
            }
            match import(method, &options, env) {
                Ok(function) => {
                    totals.imported += 1;
                    totals.instructions += function.blocks.iter().map(|b| b.insts.len()).sum::<usize>();
                    totals.deferred += function.deferred_errors.len();
                    for error in &function.deferred_errors {
                        println!("deferred in {}: {error}", function.name);
                    }
                    if dump.as_deref().is_some_and(|d| function.name.contains(d)) {
                        println!("{function}");
                    }
                    if let Err(problem) = function.verify() {
                        totals.refused.push(format!("VERIFY {problem}\n{function}"));
                    }
                    import_continuations(method, env, totals);
                    import_guarded(method, guesses, totals);
                }
                Err(error) => totals.refused.push(format!("{}: {:?} {error}", method.full_name(), error.kind)),
            }
        }
    }
}

/// Imports the method as the first tier has it, and a continuation at each of its loops.
fn import_continuations(method: &'static Method, env: &dyn Facts, totals: &mut Totals) {
    let options = ImportOptions { inline: false, count: true, promote_locals: false, ..ImportOptions::default() };
    let counted = match import(method, &options, env) {
        Ok(counted) => counted,
        Err(error) => return totals.refused.push(format!("counted {}: {error}", method.full_name())),
    };
    if let Err(problem) = counted.verify() {
        totals.refused.push(format!("VERIFY counted: {problem}\n{counted}"));
    }
    let slots: Vec<i32> = (0..counted.variables.len() as i32).map(|index| -8 * (index + 1)).collect();
    let loops = counted.insts.iter().filter_map(|inst| match inst.op {
        Op::CountLoop(il_offset) => Some(il_offset),
        _ => None,
    });
    for il_offset in loops {
        let at = Continuation { il_offset, slots: &slots, makes_pointers: counted.makes_pointers };
        let function = match import_continuation(method, &ImportOptions::default(), env, &at) {
            Ok(function) => function,
            Err(error) => {
                totals.refused.push(format!("{} at IL_{il_offset:04x}: {error}", method.full_name()));
                continue;
            }
        };
        totals.continuations += 1;
        if let Err(problem) = function.verify() {
            totals.refused.push(format!("VERIFY IL_{il_offset:04x}: {problem}\n{function}"));
        }
        // The entry lies outside the regions of the loop, whose handlers an abort must find.
        let entry = function.blocks[0].insts.iter().map(|id| &function.insts[id.0 as usize].op);
        if let Some(op) = entry.into_iter().find(|op| matches!(op, Op::Poll | Op::Call { .. })) {
            totals.refused.push(format!("{op:?} at the entry of\n{function}"));
        }
    }
}

fn closed(ty: Ty) -> Option<Ty> {
    if !ty.is_generic_definition() {
        return Some(ty);
    }
    let args = arguments(ty.args);
    saki_types::universe().instantiate(ty, &args).ok()
}

/// Arguments for these generic parameters.
fn arguments(parameters: &[Ty]) -> Vec<Ty> {
    /// `GenericParamAttributes.NotNullableValueTypeConstraint`, ECMA-335 §II.23.1.7.
    const MUST_BE_STRUCT: u32 = 0x08;
    let universe = saki_types::universe();
    let int = universe.corlib_type("System", "Int32").expect("corlib has it");
    let argument = |parameter: &Ty| match parameter.generic_param() {
        Some(parameter) if parameter.flags & MUST_BE_STRUCT != 0 => int,
        _ => universe.object(),
    };
    parameters.iter().map(argument).collect()
}

#[test]
fn every_library_method_imports() {
    let corlib = Path::new(ROOT).join("4.5/mscorlib.dll");
    if !corlib.exists() {
        return;
    }
    let paths = SearchPaths {
        mono_path: Vec::new(),
        application_base: PathBuf::from("."),
        framework_root: PathBuf::from(ROOT),
        trusted: None,
        resource_roots: vec![],
    };
    let universe = saki_types::universe::init(Binder::new(paths), &corlib).expect("corlib loads");
    let mut images = vec![universe.corlib()];
    if let Ok(names) = std::env::var("SAKI_IMPORT_TEST") {
        for name in names.split(',') {
            let path = match Path::new(name) {
                file if file.is_file() => file.to_path_buf(),
                _ => Path::new(ROOT).join("4.5").join(format!("{name}.dll")),
            };
            images.push(universe.binder().load_file(&path).expect("assembly loads").image);
        }
    }
    for image in images {
        let mut totals = Totals {
            imported: 0,
            continuations: 0,
            guards: 0,
            cold: 0,
            refused: Vec::new(),
            instructions: 0,
            deferred: 0,
        };
        let start = Instant::now();
        import_image(image, &NothingInitialised, &Guesses::of(image), &mut totals);
        println!(
            "{:?}: {} imported, {} continuations, {} guards, {} cold blocks, {} refused, {} IR instructions, {} deferred errors, {:?}",
            image.meta.path(),
            totals.imported,
            totals.continuations,
            totals.guards,
            totals.cold,
            totals.refused.len(),
            totals.instructions,
            totals.deferred,
            start.elapsed()
        );
        for refused in totals.refused.iter().take(30) {
            println!("{refused}");
        }
        assert!(totals.guards > 100, "{} guards", totals.guards);
        assert!(totals.continuations > 100, "{} continuations", totals.continuations);
        assert!(totals.refused.is_empty(), "{} methods were refused", totals.refused.len());
    }
}
