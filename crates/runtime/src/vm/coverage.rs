//! `--profile=coverage`: which statements a run reaches, in the XML of Mono's coverage profiler.
//!
//! Code is compiled with a call at the begin of each statement (`Facts::statements`); nothing is inlined, and such code
//! is not kept in the code cache. Statements begin where the debug symbols have sequence points; without symbols, where
//! basic blocks begin. All instances of a generic method are one method here. At exit, all methods of the assemblies
//! that count are listed, also those that were not called.
//!
//! Unlike Mono, which counts methods that were compiled as covered in full and none in part, `full` counts methods all
//! of whose statements were reached, and `partial` those with some. Left out: assemblies of the class library, unless a
//! filter names them; assemblies made at run time; filters.

use crate::domain;
use crate::source_lines;
use crate::upper_layers::host_events;
use rustc_hash::FxHashMap;
use saki_base::locks::{RwLock, rank};
use saki_metadata::opcodes::{Operand, decode_at};
use saki_metadata::{Rid, SourcePosition, TableId, Token};
use saki_os::ExitStage;
use saki_profile::mlpd::output::Output;
use saki_types::{Assembly, Image, Method, MethodKind};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// What is recorded and where it goes.
#[derive(Clone, PartialEq, Debug)]
pub struct CoverageSettings {
    pub output: Output,
    /// Texts that begin with `+` or `-`: a class counts if its "[assembly]Namespace.Name" contains one of the former,
    /// if there are any, and none of the latter.
    pub filters: Vec<String>,
    /// Assemblies below this folder count only if a filter with `+` names them.
    pub framework_root: PathBuf,
}

struct Statement {
    offset: u32,
    /// None without symbols.
    position: Option<SourcePosition>,
    /// How often it was reached; for a file only whether. Relaxed: a count, read when the program has ended, or by a
    /// host that takes it as it is.
    count: AtomicU32,
}

struct Coverage {
    /// None: for a host, which says what counts.
    settings: Option<CoverageSettings>,
    /// By the address of the file's metadata and the row, since domains share files.
    methods: RwLock<rank::CoveredMethods, FxHashMap<(usize, Rid), &'static [Statement]>>,
}

static COVERAGE: OnceLock<Coverage> = OnceLock::new();

/// Before the machine starts: has methods compiled so that they tell which statements they reach.
pub(super) fn prepare(settings: &CoverageSettings) {
    let coverage = Coverage { settings: Some(settings.clone()), methods: RwLock::default() };
    if COVERAGE.set(coverage).is_ok() {
        saki_os::at_exit(ExitStage::ProfileLog, write);
    }
}

/// Before the machine starts: has methods that the host names (`HostEvents::is_covered`) counted for it.
pub fn prepare_for_host() {
    let _ = COVERAGE.set(Coverage { settings: None, methods: RwLock::default() });
}

/// The statements of a method: offset in the CIL, how often it was reached, position. None: they are not counted.
pub fn counts_of(method: &'static Method) -> Option<Vec<(u32, u32, Option<SourcePosition>)>> {
    let MethodKind::Def { image, rid } = method.kind else { return None };
    let statements = COVERAGE.get()?.methods.read().get(&key(image, rid)).copied()?;
    let count = |statement: &Statement| statement.count.load(Ordering::Relaxed);
    Some(statements.iter().map(|it| (it.offset, count(it), it.position.clone())).collect())
}

/// The statements of a method by its symbols: offset in the CIL and position.
pub fn places_of(method: &'static Method) -> Vec<(u32, SourcePosition)> {
    let MethodKind::Def { image, rid } = method.kind else { return Vec::new() };
    find_statements(image, rid).into_iter().filter_map(|found| Some((found.offset, found.position?))).collect()
}

/// Whether code is compiled so that other runs cannot use it.
pub fn is_wanted() -> bool {
    COVERAGE.get().is_some()
}

/// See `Facts::statements`.
pub(crate) fn offsets_of(method: &'static Method) -> Vec<u32> {
    let Some(coverage) = COVERAGE.get() else { return Vec::new() };
    let MethodKind::Def { image, rid } = method.kind else { return Vec::new() };
    let counts = match &coverage.settings {
        Some(_) => coverage.counts(image.assembly()) && coverage.counts_class(image, method),
        None => (host_events().is_covered)(method),
    };
    if !counts {
        return Vec::new();
    }
    coverage.statements(image, rid).iter().map(|statement| statement.offset).collect()
}

/// A statement begins.
pub(crate) fn cover(method: &'static Method, offset: u32) {
    let MethodKind::Def { image, rid } = method.kind else { return };
    let Some(coverage) = COVERAGE.get() else { return };
    let statements = coverage.methods.read().get(&key(image, rid)).copied().unwrap_or_default();
    let Ok(place) = statements.binary_search_by_key(&offset, |statement| statement.offset) else { return };
    let count = &statements[place].count;
    if coverage.settings.is_none() {
        count.fetch_add(1, Ordering::Relaxed);
    } else if count.load(Ordering::Relaxed) == 0 {
        count.store(1, Ordering::Relaxed);
    }
}

fn key(image: &Image, rid: Rid) -> (usize, Rid) {
    (std::ptr::from_ref(image.meta).addr(), rid)
}

impl Coverage {
    /// Whether the assembly may have classes that count.
    fn counts(&self, assembly: &Assembly) -> bool {
        let Some(settings) = &self.settings else { return false };
        let is_of_library = assembly.path.starts_with(&settings.framework_root);
        let name = format!("[{}]", assembly.name);
        let is_named = settings.filters.iter().any(|filter| filter.starts_with(&format!("+{name}")));
        !assembly.is_dynamic && !assembly.reflection_only && (!is_of_library || is_named)
    }

    fn counts_class(&self, image: &'static Image, method: &Method) -> bool {
        let rid = method.owner.def().map_or(0, |def| def.rid);
        self.counts_name(image, &class_name(image, rid))
    }

    fn counts_name(&self, image: &'static Image, class: &str) -> bool {
        let name = format!("[{}]{class}", image.assembly().name);
        self.settings.as_ref().is_some_and(|settings| passes(&settings.filters, &name))
    }

    /// The statements of a method, which are looked for once.
    fn statements(&self, image: &'static Image, rid: Rid) -> &'static [Statement] {
        if let Some(known) = self.methods.read().get(&key(image, rid)) {
            return known;
        }
        let found = Box::leak(find_statements(image, rid).into_boxed_slice());
        self.methods.write().entry(key(image, rid)).or_insert(found)
    }
}

/// Whether a class of this name counts.
fn passes(filters: &[String], name: &str) -> bool {
    let texts = |sign: char| filters.iter().filter_map(move |filter| filter.strip_prefix(sign));
    let is_wanted = texts('+').next().is_none() || texts('+').any(|text| name.contains(text));
    is_wanted && !texts('-').any(|text| name.contains(text))
}

/// The instructions at which statements begin.
fn find_statements(image: &'static Image, rid: Rid) -> Vec<Statement> {
    let body = image.meta.method_def(rid).ok().filter(|row| row.rva != 0);
    let Some(body) = body.and_then(|row| image.meta.method_body(row.rva).ok()) else { return Vec::new() };
    let statement = |offset, position| Statement { offset, position, count: AtomicU32::new(0) };
    let instructions = || decode_at(body.code, 0).map_while(Result::ok);
    let mut found: Vec<Statement> = Vec::new();
    for instruction in instructions() {
        let Some(position) = source_lines::position_in(image, rid, instruction.offset) else { continue };
        if found.last().is_none_or(|last| last.position.as_ref() != Some(&position)) {
            found.push(statement(instruction.offset, Some(position)));
        }
    }
    if !found.is_empty() {
        return found;
    }
    let mut leaders = vec![0];
    for instruction in instructions() {
        match instruction.operand {
            Operand::Branch(target) => leaders.extend([target, instruction.next_offset]),
            Operand::Switch(targets) => {
                leaders.extend(targets.iter());
                leaders.push(instruction.next_offset);
            }
            _ => {}
        }
    }
    leaders.retain(|&leader| (leader as usize) < body.code.len());
    leaders.sort_unstable();
    leaders.dedup();
    leaders.into_iter().map(|leader| statement(leader, None)).collect()
}

/// "Namespace.Outer/Inner`1"
fn class_name(image: &Image, rid: Rid) -> String {
    let meta = image.meta;
    let Ok(row) = meta.type_def(rid) else { return String::new() };
    let name = meta.string(row.name).unwrap_or_default();
    match (meta.enclosing_class(rid), meta.string(row.namespace).unwrap_or_default()) {
        (Some(outer), _) => format!("{}/{name}", class_name(image, outer)),
        (None, "") => name.to_owned(),
        (None, namespace) => format!("{namespace}.{name}"),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The methods of a class, or an assembly, by how much of them was reached.
#[derive(Default)]
struct Counts {
    methods: usize,
    full: usize,
    partial: usize,
}

impl Counts {
    fn add(&mut self, statements: &[Statement]) {
        let reached = statements.iter().filter(|statement| statement.count.load(Ordering::Relaxed) != 0).count();
        self.methods += 1;
        match reached {
            0 => {}
            _ if reached == statements.len() => self.full += 1,
            _ => self.partial += 1,
        }
    }

    fn attributes(&self) -> String {
        format!("method-count=\"{}\" full=\"{}\" partial=\"{}\"", self.methods, self.full, self.partial)
    }
}

/// The assemblies that count, of all domains, each file once.
fn assemblies(coverage: &Coverage) -> Vec<&'static Assembly> {
    let mut found: Vec<&'static Assembly> = Vec::new();
    let ids = domain::ROOT_DOMAIN_ID..domain::ROOT_DOMAIN_ID + domain::count() as i32;
    for domain in ids.filter_map(domain::by_id) {
        for &assembly in domain.universe.binder().loaded().iter().filter(|assembly| coverage.counts(assembly)) {
            if !found.iter().any(|known| std::ptr::eq(known.image.meta, assembly.image.meta)) {
                found.push(assembly);
            }
        }
    }
    found
}

/// The document.
fn document(coverage: &Coverage) -> String {
    let mut text = String::from("<?xml version=\"1.0\"?>\n<coverage version=\"0.3\">\n");
    let mut methods = String::new();
    for assembly in assemblies(coverage) {
        let image = assembly.image;
        let (mut of_assembly, mut classes) = (Counts::default(), String::new());
        for rid in 1..=image.meta.row_count(TableId::TypeDef) {
            let class = class_name(image, rid);
            if !coverage.counts_name(image, &class) {
                continue;
            }
            let mut of_class = Counts::default();
            for method in image.meta.type_def_methods(rid).into_iter().flatten() {
                let statements = coverage.statements(image, method);
                of_class.add(statements);
                of_assembly.add(statements);
                describe_method(&mut methods, image, &class, method, statements);
            }
            let (class, counts) = (escaped(&class), of_class.attributes());
            let _ = writeln!(classes, "\t<class name=\"{class}\" {counts}/>");
        }
        let (name, path) = (escaped(assembly.name), escaped(&assembly.path.display().to_string()));
        let (guid, counts) = (guid_text(image.meta.mvid()), of_assembly.attributes());
        let _ = writeln!(text, "\t<assembly name=\"{name}\" guid=\"{guid}\" filename=\"{path}\" {counts}/>");
        text += &classes;
    }
    text + &methods + "</coverage>\n"
}

fn describe_method(out: &mut String, image: &'static Image, class: &str, rid: Rid, statements: &[Statement]) {
    let meta = image.meta;
    let name = meta.method_def(rid).ok().and_then(|row| meta.string(row.name).ok()).unwrap_or_default();
    let parameters = meta.parameters(rid, &|_, _| None).unwrap_or_default();
    let file = statements.first().and_then(|first| first.position.as_ref()).map_or("", |position| &position.file);
    let name = escaped(&format!("{name} ({parameters})"));
    let (assembly, class, file) = (escaped(image.assembly().name), escaped(class), escaped(file));
    let token = Token::new(TableId::MethodDef, rid).0;
    let _ = writeln!(
        out,
        "\t<method assembly=\"{assembly}\" class=\"{class}\" name=\"{name}\" filename=\"{file}\" token=\"{token}\">"
    );
    for statement in statements {
        let counter = statement.count.load(Ordering::Relaxed);
        let (line, column) = statement.position.as_ref().map_or((0, 0), |position| (position.line, position.column));
        let offset = statement.offset;
        let _ = writeln!(
            out,
            "\t\t<statement offset=\"{offset}\" counter=\"{counter}\" line=\"{line}\" column=\"{column}\"/>"
        );
    }
    out.push_str("\t</method>\n");
}

/// As Mono writes the GUID of an image.
fn guid_text(bytes: [u8; 16]) -> String {
    let group = |range: std::ops::Range<usize>, is_reversed: bool| {
        let mut bytes = bytes[range].to_vec();
        if is_reversed {
            bytes.reverse();
        }
        bytes.iter().map(|byte| format!("{byte:02X}")).collect::<String>()
    };
    [group(0..4, true), group(4..6, true), group(6..8, true), group(8..10, false), group(10..16, false)].join("-")
}

/// Writes the document when the program has ended. Messages about it go to standard error.
fn write() {
    let Some(coverage) = COVERAGE.get() else { return };
    let Some(settings) = &coverage.settings else { return };
    let text = document(coverage);
    let written = settings.output.open(false).and_then(|mut sink| {
        sink.write_all(text.as_bytes())?;
        sink.end()
    });
    if let Err(error) = written {
        saki_base::tell!("saki: the coverage was not written: {error}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_texts_with_signs() {
        let check = |filters: &[&str], name: &str, expect: bool| {
            let filters: Vec<String> = filters.iter().map(|filter| (*filter).to_owned()).collect();
            assert_eq!(passes(&filters, name), expect, "{filters:?} {name}");
        };
        check(&[], "[a]N.C", true);
        check(&["+N.C"], "[a]N.C", true);
        check(&["+N.D"], "[a]N.C", false);
        check(&["-[a]"], "[a]N.C", false);
        check(&["+[a]", "-N.D"], "[a]N.C", true);
        check(&["+[a]", "-N.D"], "[a]N.D", false);
        check(&["# no sign"], "[a]N.C", true);
    }

    #[test]
    fn guids_and_texts_are_as_mono_writes_them() {
        let bytes = std::array::from_fn(|index| index as u8);
        assert_eq!(guid_text(bytes), "03020100-0504-0706-0809-0A0B0C0D0E0F");
        assert_eq!(escaped("<>c & \"x\""), "&lt;&gt;c &amp; &quot;x&quot;");
    }
}
