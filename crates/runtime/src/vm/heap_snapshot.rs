//! Heap snapshots with names: the graph of numbers that `saki_gc` returns, and the names of types, fields and roots.
//!
//! While the world is stopped, objects and roots become a graph of numbers; no table is read whose lock a stopped
//! thread may hold. Names are built when the program runs again; until then a hold and a walk keep types, methods and
//! threads from being freed.
//!
//! Left out: analysing and writing the graph (`saki_profile::heap`).

use crate::vtables::type_of_vtable;
use crate::{domains, statics};
use rustc_hash::FxHashMap;
use saki_abi::object::OBJECT_HEADER_BYTES;
use saki_abi::{RefMap, VTable, VTableFlags};
use saki_code::{CodeInfo, CodeKind};
use saki_gc::{HeapObject, Root, RootKind, StoppedHeap};
use saki_profile::heap::{DOMAIN_MARK, GraphBuilder, HeapGraph, HeapType, Slots, TooLarge};
use saki_thread::{ManagedThread, ThreadKind, ThreadRef};
use saki_types::collectible::Hold;
use saki_types::{Field, LibraryType, Method, Ty, Type};
use saki_unwind::{FrameKind, Frames};
use std::hash::Hash;

/// The properties by which roots are grouped into one source.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Source {
    kind: RootKind,
    /// The managed id of the roots' thread; 0 = of no thread.
    thread: u32,
    /// For a cell the object's vtable, for a stack word the method of its frame, or 0; by address.
    part: usize,
}

/// The ends of a stopped thread's frames: (frame pointer, method), innermost first.
type FrameEnds = Vec<(usize, usize)>;

/// Data that is recorded while the world is stopped.
#[derive(Default)]
struct Notes {
    builder: GraphBuilder,
    /// Indices of types, by vtable.
    by_vtable: FxHashMap<usize, u32>,
    vtables: Vec<usize>,
    /// The last vtable and the facts about it: (vtable, index, whether null has an entry).
    last: (usize, u32, bool),
    by_source: FxHashMap<Source, u32>,
    sources: Vec<Source>,
    roots: Vec<(u32, u32)>,
    threads: FxHashMap<u32, ThreadRef>,
    /// The frames of the thread whose roots are being visited.
    frames: (u32, FrameEnds),
    /// Keeps types from being freed.
    hold: Option<Hold>,
}

// SAFETY: the notes are moved whole from one thread to another; the records that they point to are shared by all
// threads.
unsafe impl Send for Notes {}

/// Runs a full collection and returns the live objects. For any thread.
///
/// # Errors
/// A text: the heap is too large, or could not be collected.
pub fn take(title: &str) -> Result<HeapGraph, String> {
    let _walk = saki_code::walks().enter();
    let taken_unix_ns = saki_os::clock::realtime_ns();
    let mut notes = Notes::default();
    let began_ns = saki_os::clock::monotonic_ns();
    let mut result = Ok(());
    if !saki_gc::take_snapshot(&mut |heap| result = notes.note(heap)) {
        return Err("the heap could not be collected".into());
    }
    let took_ns = saki_os::clock::monotonic_ns() - began_ns;
    let mut graph = result.and_then(|()| notes.into_graph()).map_err(|error| error.to_string())?;
    (graph.title, graph.taken_unix_ns, graph.took_ns) = (title.into(), taken_unix_ns, took_ns);
    Ok(graph)
}

fn keeps_null(vtable: &VTable) -> bool {
    // SAFETY: a vtable's maps are null or made by `RefMap::leak`.
    !vtable.flags.has(VTableFlags::ARRAY) || unsafe { RefMap::offsets(vtable.element_ref_map) }.len() > 1
}

impl Notes {
    /// Called with the world stopped.
    fn note(&mut self, heap: &StoppedHeap) -> Result<(), TooLarge> {
        self.hold = Some(Hold::new());
        let mut ephemerons = Vec::new();
        heap.for_each_object(|object| {
            self.builder.note(object.address() as u64);
            if object.holds_ephemerons() {
                ephemerons.push(object);
            }
        });
        self.builder.number()?;
        for object in ephemerons {
            object.for_each_ephemeron(|key, value| {
                self.builder.add_dependent(key.address() as u64, value.address() as u64);
            });
        }
        self.builder.sort_dependents();
        let mut builder = std::mem::take(&mut self.builder);
        builder.for_each_address(|builder, address| {
            // SAFETY: `note` was given the address of an object of this heap.
            let object = unsafe { HeapObject::at(address as usize) };
            let (type_index, keeps_null) = self.type_index(object.vtable());
            builder.begin_object(type_index, object.size_bytes() as u64);
            object.for_each_reference(|_, target| {
                if !target.is_null() {
                    builder.add_reference(target.address() as u64);
                } else if keeps_null {
                    builder.add_null();
                }
            });
            builder.end_object();
        });
        self.builder = builder;
        heap.for_each_root(&mut |root| self.note_root(root));
        Ok(())
    }

    #[inline]
    fn type_index(&mut self, vtable: &VTable) -> (u32, bool) {
        let address = std::ptr::from_ref(vtable).addr();
        if self.last.0 != address {
            let vtables = &mut self.vtables;
            let index = *self.by_vtable.entry(address).or_insert_with(|| {
                vtables.push(address);
                vtables.len() as u32 - 1
            });
            self.last = (address, index, keeps_null(vtable));
        }
        (self.last.1, self.last.2)
    }

    fn note_root(&mut self, root: &Root) {
        let Some(object) = self.builder.number_of(root.object.address() as u64) else { return };
        let source = self.source_of(root);
        let sources = &mut self.sources;
        let index = *self.by_source.entry(source).or_insert_with(|| {
            sources.push(source);
            sources.len() as u32 - 1
        });
        if self.roots.last() != Some(&(index, object)) {
            self.roots.push((index, object));
        }
    }

    fn source_of(&mut self, root: &Root) -> Source {
        let thread = root.thread.map_or(0, |thread| self.thread(thread));
        let part = match root.kind {
            RootKind::Stack => self.method_at(root.address),
            // SAFETY: a root's object is one of the heap.
            RootKind::Cell => std::ptr::from_ref(unsafe { HeapObject::at(root.object.address()) }.vtable()).addr(),
            _ => 0,
        };
        Source { kind: root.kind, thread, part }
    }

    /// Returns the thread's id and records its frames in `frames`.
    fn thread(&mut self, thread: &'static ManagedThread) -> u32 {
        let id = thread.managed_id();
        if self.frames.0 != id {
            self.frames = (id, frame_ends(thread));
        }
        self.threads.entry(id).or_insert_with(|| ThreadRef::to(thread));
        id
    }

    /// The method to whose frame a word of the stack belongs, or else the nearest method that has called the code of
    /// that frame; 0 = none.
    fn method_at(&self, address: usize) -> usize {
        let frames = &self.frames.1;
        let index = frames.partition_point(|frame| frame.0 < address);
        // Saved registers lie elsewhere: they count for the innermost frame.
        frames.get(index).map_or(0, |frame| frame.1)
    }

    /// Builds the graph with names. The program may run meanwhile.
    fn into_graph(self) -> Result<HeapGraph, TooLarge> {
        let Notes { builder, vtables, sources, roots, threads, hold, .. } = self;
        let types = vtables.iter().map(|&vtable| heap_type(vtable_at(vtable))).collect();
        // Sources are in the order of their kinds: of equally short paths the one from a static field is preferred to
        // one from a stack.
        let mut order: Vec<u32> = (0..sources.len() as u32).collect();
        order.sort_by_key(|&index| (sources[index as usize].rank(), index));
        let mut rank = vec![0; sources.len()];
        order.iter().zip(0..).for_each(|(&index, place)| rank[index as usize] = place);
        let names = order.iter().map(|&index| source_name(sources[index as usize], &threads)).collect();
        let roots = roots.into_iter().map(|(source, object)| (rank[source as usize], object)).collect();
        let is_lasting = |source: &&Source| source.kind != RootKind::Stack;
        let first_stack_source = sources.iter().filter(is_lasting).count() as u32;
        let graph = builder.finish(types, names, first_stack_source, roots);
        drop(hold);
        graph
    }
}

/// Called with the world stopped.
fn frame_ends(thread: &ManagedThread) -> FrameEnds {
    let mut ends = FrameEnds::new();
    // Frames of a stack that was moved to compact memory cannot be walked.
    if !thread.is_cold() {
        // SAFETY: the thread is stopped in the runtime or in native code.
        for frame in unsafe { Frames::of_thread(thread.abi()) } {
            if let FrameKind::Code(info) = frame.kind
                && let Some(method) = method_of(info)
            {
                ends.push((frame.fp, method));
            }
        }
    }
    ends
}

fn method_of(info: &CodeInfo) -> Option<usize> {
    let is_method = matches!(info.kind, CodeKind::Method | CodeKind::Filter);
    (is_method && !info.method.is_null()).then(|| info.method.addr())
}

fn vtable_at<'a>(address: usize) -> &'a VTable {
    // SAFETY: the vtable of an object that lived when the world was stopped; the owner of its type has been held since.
    unsafe { &*(address as *const VTable) }
}

fn name_of(ty: Ty) -> String {
    ty.full_name() + &domain_mark(ty)
}

/// The domain's mark after the name of a type: empty for types of the first domain.
fn domain_mark(ty: Ty) -> String {
    let universe = ty.universe();
    let is_first = *universe == *saki_types::universe::root();
    if is_first { String::new() } else { format!("{DOMAIN_MARK}{})", domains::of_universe(universe).id) }
}

fn heap_type(vtable: &VTable) -> HeapType {
    let ty = type_of_vtable(vtable);
    // SAFETY: a vtable's maps are null or made by `RefMap::leak`, here and below.
    let offsets = unsafe { RefMap::offsets(vtable.ref_map) };
    let slots = match ty.element() {
        Some(element) if vtable.flags.has(VTableFlags::ARRAY) => {
            // SAFETY: the element map of an array's vtable is null or was made by `RefMap::leak`, like its object map.
            let offsets = unsafe { RefMap::offsets(vtable.element_ref_map) };
            let is_reference = element.is_reference_type();
            let name = |&offset: &u32| if is_reference { String::new() } else { path_at(element, offset) };
            Slots::Elements(offsets.iter().map(name).collect())
        }
        _ if ty.is_value_type() => {
            let name = |&offset: &u32| path_at(ty, offset - OBJECT_HEADER_BYTES);
            Slots::Fields(offsets.iter().map(name).collect())
        }
        _ => Slots::Fields(offsets.iter().map(|&offset| path_at(ty, offset)).collect()),
    };
    let mut name = name_of(ty);
    if vtable.flags.has(VTableFlags::PROXY) {
        name += " (transparent proxy)";
    }
    HeapType { name, slots }
}

/// The field at an offset of an instance, or of a value without header: "field", "field.field".
fn path_at(ty: Ty, offset_bytes: u32) -> String {
    if let Ok(Some(length)) = ty.inline_array_length()
        && let Ok(size_bytes) = ty.value_size_bytes()
    {
        let stride = size_bytes / length;
        let fields = ty.fields().unwrap_or_default().iter().filter(|field| !field.is_static());
        let path = find_path(fields, offset_bytes % stride);
        return format!("[{}].{}", offset_bytes / stride, path.unwrap_or_default());
    }
    let mut class = Some(ty);
    while let Some(at) = class {
        let fields = at.fields().unwrap_or_default().iter().filter(|field| !field.is_static());
        if let Some(path) = find_path(fields, offset_bytes) {
            return path;
        }
        class = at.parent().ok().flatten();
    }
    format!("<offset {offset_bytes}>")
}

fn find_path<'a>(fields: impl Iterator<Item = &'a &'static Field>, offset_bytes: u32) -> Option<String> {
    for field in fields {
        let (Ok(start), Ok(ty)) = (field.offset_bytes(), field.ty()) else { continue };
        if ty.is_reference_type() {
            if start == offset_bytes {
                return Some(field.name.into());
            }
        } else if ty.is_value_type()
            && start <= offset_bytes
            && ty.value_size_bytes().is_ok_and(|size_bytes| offset_bytes - start < size_bytes)
        {
            return Some(format!("{}.{}", field.name, path_at(ty, offset_bytes - start)));
        }
    }
    None
}

fn static_name(ty: Ty, offset_bytes: u32, is_thread_static: bool) -> String {
    let fields = ty.fields().unwrap_or_default().iter();
    let fields =
        fields.filter(|f| f.is_static() && !f.is_literal() && !f.has_rva() && f.is_thread_static == is_thread_static);
    let path = find_path(fields, offset_bytes).unwrap_or_else(|| format!("<offset {offset_bytes}>"));
    format!("{}.{path}", name_of(ty))
}

impl Source {
    /// The order of sources: stacks last.
    fn rank(self) -> u32 {
        match self.kind {
            RootKind::Static { .. } => 0,
            RootKind::ThreadStatic { .. } => 1,
            RootKind::Handle | RootKind::PinnedHandle => 2,
            RootKind::Finalizer | RootKind::Registered => 3,
            RootKind::Cell => 4,
            RootKind::Thread => 5,
            RootKind::Stack => 6,
        }
    }
}

fn source_name(source: Source, threads: &FxHashMap<u32, ThreadRef>) -> String {
    let Source { kind, thread, part } = source;
    let thread_name = || thread_name(threads.get(&thread), thread);
    match kind {
        RootKind::Static { ty, offset_bytes } => {
            // SAFETY: a root's type, which has been held since.
            let ty = unsafe { &*(ty as *const Type) };
            format!("static field {}", static_name(ty, offset_bytes, false))
        }
        RootKind::ThreadStatic { block, offset_bytes } => {
            let field = statics::type_of_thread_block(block);
            let field = field.map_or_else(|| "?".into(), |ty| static_name(ty, offset_bytes, true));
            format!("thread-static field {field} of {}", thread_name())
        }
        RootKind::Handle => "GC handle".into(),
        RootKind::PinnedHandle => "pinned GC handle".into(),
        RootKind::Finalizer => "queue of finalizers".into(),
        RootKind::Registered => "memory of native code".into(),
        RootKind::Cell => cell_name(type_of_vtable(vtable_at(part))),
        RootKind::Thread => thread_name(),
        RootKind::Stack if part == 0 => format!("stack of {}", thread_name()),
        RootKind::Stack => {
            // SAFETY: of a body that was on a stack; a walk and a hold have kept it since.
            let method = unsafe { &*(part as *const Method) };
            format!("stack of {}, in {}", thread_name(), Method::frame_name(method))
        }
    }
}

/// The purpose for which the runtime keeps objects of this type in cells.
fn cell_name(ty: Ty) -> String {
    if ty.is(LibraryType::String) {
        return format!("literals and interned strings{}", domain_mark(ty));
    }
    if ty.is(LibraryType::RuntimeType) {
        return format!("type objects{}", domain_mark(ty));
    }
    format!("the runtime ({})", name_of(ty))
}

fn thread_name(thread: Option<&ThreadRef>, id: u32) -> String {
    match thread.map(|thread| (thread.name(), thread.kind())) {
        Some((Some(name), _)) => format!("thread {id} \"{name}\""),
        Some((None, ThreadKind::Main)) => format!("thread {id} (main)"),
        _ => format!("thread {id}"),
    }
}
