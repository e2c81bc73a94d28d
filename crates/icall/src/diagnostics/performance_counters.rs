//! System.Diagnostics.PerformanceCounter and PerformanceCounterCategory (System.dll).
//!
//! A counter's native handle is a boxed `counter_table::Counter`, freed by `FreeData`.

use super::counter_table::{Category, Counter, NUMBER_OF_ITEMS_32, with_categories};
use crate::arguments::{optional_string, string_array, units_at};
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, ManagedField, Place, Str};
use saki_types::LibraryType;

static CREATION_NAME: ManagedField = ManagedField::new(LibraryType::CounterCreationData, "name");
static CREATION_TYPE: ManagedField = ManagedField::new(LibraryType::CounterCreationData, "type");

/// Frequencies are in ticks of 100 ns.
const TICKS_PER_SECOND: i64 = 10_000_000;

/// `System.Diagnostics.CounterSample`.
#[derive(Clone, Copy)]
#[repr(C)]
struct CounterSample {
    raw_value: i64,
    base_value: i64,
    counter_frequency: i64,
    system_frequency: i64,
    time_stamp: i64,
    time_stamp_100_ns: i64,
    counter_time_stamp: i64,
    counter_type: i32,
}

fn text_at(units: *const u16, length: i32) -> String {
    // SAFETY: the managed caller pins the string for the call.
    String::from_utf16_lossy(unsafe { units_at(units, length) })
}

/// 0: no such category, counter or instance.
fn get_impl(
    _t: CurrentThread,
    category: *const u16,
    category_length: i32,
    counter: *const u16,
    counter_length: i32,
    instance: *const u16,
    instance_length: i32,
    kind: Place<i32>,
    is_custom: Place<u8>,
) -> usize {
    let category = text_at(category, category_length);
    let (counter, instance) = (text_at(counter, counter_length), text_at(instance, instance_length));
    let found = with_categories(|categories| {
        let category = categories.iter_mut().find(|c| c.name == category)?;
        let custom = !category.is_built_in();
        category.counter_of(&counter, &instance).map(|counter| (counter, custom))
    });
    let Some((counter, custom)) = found else {
        kind.set(NUMBER_OF_ITEMS_32);
        return 0;
    };
    kind.set(counter.kind);
    // Managed code calls counters custom that the program may write; `update` ignores the others.
    is_custom.set(u8::from(custom || category == "ASP.NET"));
    Box::into_raw(Box::new(counter)) as usize
}

/// # Safety
/// `counter` is null or came from `get_impl` and was not freed.
unsafe fn counter_at<'a>(counter: *const Counter) -> Option<&'a Counter> {
    // SAFETY: the function's contract.
    unsafe { counter.as_ref() }
}

fn get_sample(t: CurrentThread, counter: *const Counter, only_value: bool, sample: Place<CounterSample>) -> bool {
    // SAFETY: managed code keeps the handle of `GetImpl_icall` until it frees it.
    let Some(counter) = (unsafe { counter_at(counter) }) else { return false };
    let now = if only_value { 0 } else { (t.vm().clock().monotonic_ns() / 100) as i64 };
    sample.set(CounterSample {
        raw_value: counter.value(),
        base_value: i64::from(!only_value),
        counter_frequency: TICKS_PER_SECOND,
        system_frequency: TICKS_PER_SECOND,
        time_stamp: now,
        time_stamp_100_ns: now,
        counter_time_stamp: now,
        counter_type: counter.kind,
    });
    true
}

fn update_value(_t: CurrentThread, counter: *const Counter, add: bool, value: i64) -> i64 {
    // SAFETY: managed code keeps the handle of `GetImpl_icall` until it frees it.
    unsafe { counter_at(counter) }.map_or(0, |counter| counter.update(add, value))
}

fn free_data(_t: CurrentThread, counter: *mut Counter) {
    if !counter.is_null() {
        // SAFETY: from `Box::into_raw` in `get_impl`; managed code forgets the handle after this call.
        drop(unsafe { Box::from_raw(counter) });
    }
}

fn category_delete(_t: CurrentThread, name: *const u16, length: i32) -> bool {
    let name = text_at(name, length);
    with_categories(|categories| {
        let count = categories.len();
        categories.retain(|c| c.is_built_in() || c.name != name);
        categories.len() < count
    })
}

fn category_help<'t>(t: CurrentThread<'t>, name: *const u16, length: i32) -> Managed<Option<Str<'t>>> {
    let name = text_at(name, length);
    let help = with_categories(|categories| categories.iter().find(|c| c.name == name).map(|c| c.help.clone()));
    optional_string(t, help.as_deref())
}

/// A null counter asks for the category alone.
fn counter_category_exists(
    _t: CurrentThread,
    counter: *const u16,
    counter_length: i32,
    category: *const u16,
    category_length: i32,
) -> bool {
    let name = text_at(category, category_length);
    let counter = (!counter.is_null()).then(|| text_at(counter, counter_length));
    with_categories(|categories| {
        let category = categories.iter().find(|c| c.name == name);
        category.is_some_and(|c| counter.is_none_or(|counter| c.counters.iter().any(|d| d.name == counter)))
    })
}

fn create(
    _t: CurrentThread,
    name: *const u16,
    name_length: i32,
    help: *const u16,
    help_length: i32,
    _kind: i32,
    items: Option<Array>,
) -> bool {
    let (name, help) = (text_at(name, name_length), text_at(help, help_length));
    let counters = items
        .iter()
        .flat_map(|items| items.iter())
        .flatten()
        .map(|item| (CREATION_NAME.str(item).map_or_else(String::new, Str::to_rust), CREATION_TYPE.get(item)));
    let category = Category::made_by_program(name, help, counters.collect());
    with_categories(|categories| {
        let is_new = categories.iter().all(|c| c.name != category.name);
        if is_new {
            categories.push(category);
        }
        is_new
    })
}

fn instance_exists(
    _t: CurrentThread,
    instance: *const u16,
    instance_length: i32,
    category: *const u16,
    category_length: i32,
) -> bool {
    let (instance, category) = (text_at(instance, instance_length), text_at(category, category_length));
    with_categories(|categories| {
        let category = categories.iter().find(|c| c.name == category);
        category.is_some_and(|c| c.instance_names().contains(&instance))
    })
}

fn category_names<'t>(t: CurrentThread<'t>) -> Managed<Array<'t>> {
    let names: Vec<String> = with_categories(|categories| categories.iter().map(|c| c.name.clone()).collect());
    string_array(t, &names)
}

fn counter_names<'t>(t: CurrentThread<'t>, category: *const u16, length: i32) -> Managed<Array<'t>> {
    let category = text_at(category, length);
    let names: Vec<String> = with_categories(|categories| {
        let category = categories.iter().find(|c| c.name == category);
        category.map(|c| c.counters.iter().map(|d| d.name.clone()).collect()).unwrap_or_default()
    });
    string_array(t, &names)
}

fn instance_names<'t>(t: CurrentThread<'t>, category: *const u16, length: i32) -> Managed<Array<'t>> {
    let category = text_at(category, length);
    let names: Vec<String> = with_categories(|categories| {
        categories.iter().find(|c| c.name == category).map(Category::instance_names).unwrap_or_default()
    });
    string_array(t, &names)
}

/// The internal calls of `System.Diagnostics.PerformanceCounter` and `System.Diagnostics.PerformanceCounterCategory`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Diagnostics.PerformanceCounter::FreeData", &free_data),
    InternalCall::new("System.Diagnostics.PerformanceCounter::GetImpl_icall", &get_impl),
    InternalCall::new("System.Diagnostics.PerformanceCounter::GetSample", &get_sample),
    InternalCall::new("System.Diagnostics.PerformanceCounter::UpdateValue", &update_value),
    InternalCall::new("System.Diagnostics.PerformanceCounterCategory::CategoryDelete_icall", &category_delete),
    InternalCall::new("System.Diagnostics.PerformanceCounterCategory::CategoryHelp_icall", &category_help),
    InternalCall::new(
        "System.Diagnostics.PerformanceCounterCategory::CounterCategoryExists_icall",
        &counter_category_exists,
    ),
    InternalCall::new("System.Diagnostics.PerformanceCounterCategory::Create_icall", &create),
    InternalCall::new("System.Diagnostics.PerformanceCounterCategory::GetCategoryNames", &category_names),
    InternalCall::new("System.Diagnostics.PerformanceCounterCategory::GetCounterNames_icall", &counter_names),
    InternalCall::new("System.Diagnostics.PerformanceCounterCategory::GetInstanceNames_icall", &instance_names),
    InternalCall::new("System.Diagnostics.PerformanceCounterCategory::InstanceExistsInternal_icall", &instance_exists),
];
