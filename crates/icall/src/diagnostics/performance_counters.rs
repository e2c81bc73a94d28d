//! System.Diagnostics.PerformanceCounter and PerformanceCounterCategory (System.dll).
//!
//! A counter's native handle is a boxed `counter_table::Counter`, freed by `FreeData`.

use super::counter_table::{Category, Counter, NUMBER_OF_ITEMS_32, with_categories};
use crate::arguments::{optional_string, string_array, units_at, write_out};
use saki_abi::ObjRef;
use saki_runtime::{CurrentThread, InternalCall, ManagedField, object, strings};

static CREATION_NAME: ManagedField = ManagedField::of("System", "System.Diagnostics", "CounterCreationData", "name");
static CREATION_TYPE: ManagedField = ManagedField::of("System", "System.Diagnostics", "CounterCreationData", "type");

/// Frequencies are in ticks of 100 ns.
const TICKS_PER_SECOND: i64 = 10_000_000;

/// `System.Diagnostics.CounterSample`.
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
    String::from_utf16_lossy(units_at(units, length))
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
    kind: *mut i32,
    is_custom: *mut u8,
) -> usize {
    let category = text_at(category, category_length);
    let (counter, instance) = (text_at(counter, counter_length), text_at(instance, instance_length));
    let found = with_categories(|categories| {
        let category = categories.iter_mut().find(|c| c.name == category)?;
        let custom = !category.is_built_in();
        category.counter_of(&counter, &instance).map(|counter| (counter, custom))
    });
    let Some((counter, custom)) = found else {
        write_out(kind, NUMBER_OF_ITEMS_32);
        return 0;
    };
    write_out(kind, counter.kind);
    // What the program may write to is custom to managed code; `update` ignores the others.
    write_out(is_custom, u8::from(custom || category == "ASP.NET"));
    Box::into_raw(Box::new(counter)) as usize
}

/// # Safety
/// `counter` is null or came from `get_impl` and was not freed.
unsafe fn counter_at<'a>(counter: *const Counter) -> Option<&'a Counter> {
    // SAFETY: the function's contract.
    unsafe { counter.as_ref() }
}

fn get_sample(_t: CurrentThread, counter: *const Counter, only_value: i32, sample: *mut CounterSample) -> i32 {
    // SAFETY: managed code keeps the handle of `GetImpl_icall` until it frees it.
    let Some(counter) = (unsafe { counter_at(counter) }) else { return 0 };
    let now = if only_value != 0 { 0 } else { (saki_os::clock::monotonic_ns() / 100) as i64 };
    write_out(
        sample,
        CounterSample {
            raw_value: counter.value(),
            base_value: i64::from(only_value == 0),
            counter_frequency: TICKS_PER_SECOND,
            system_frequency: TICKS_PER_SECOND,
            time_stamp: now,
            time_stamp_100_ns: now,
            counter_time_stamp: now,
            counter_type: counter.kind,
        },
    );
    1
}

fn update_value(_t: CurrentThread, counter: *const Counter, add: i32, value: i64) -> i64 {
    // SAFETY: as in `get_sample`.
    unsafe { counter_at(counter) }.map_or(0, |counter| counter.update(add & 0xff != 0, value))
}

fn free_data(_t: CurrentThread, counter: *mut Counter) {
    if !counter.is_null() {
        // SAFETY: from `Box::into_raw` in `get_impl`; managed code forgets the handle after this call.
        drop(unsafe { Box::from_raw(counter) });
    }
}

fn category_delete(_t: CurrentThread, name: *const u16, length: i32) -> i32 {
    let name = text_at(name, length);
    with_categories(|categories| {
        let count = categories.len();
        categories.retain(|c| c.is_built_in() || c.name != name);
        i32::from(categories.len() < count)
    })
}

fn category_help(t: CurrentThread, name: *const u16, length: i32) -> ObjRef {
    let name = text_at(name, length);
    let help = with_categories(|categories| categories.iter().find(|c| c.name == name).map(|c| c.help.clone()));
    t.run(|| optional_string(t, help.as_deref()))
}

/// A null counter asks for the category alone.
fn counter_category_exists(
    _t: CurrentThread,
    counter: *const u16,
    counter_length: i32,
    category: *const u16,
    category_length: i32,
) -> i32 {
    let name = text_at(category, category_length);
    let counter = (!counter.is_null()).then(|| text_at(counter, counter_length));
    with_categories(|categories| {
        let category = categories.iter().find(|c| c.name == name);
        i32::from(category.is_some_and(|c| counter.is_none_or(|counter| c.counters.iter().any(|d| d.name == counter))))
    })
}

fn create(
    _t: CurrentThread,
    name: *const u16,
    name_length: i32,
    help: *const u16,
    help_length: i32,
    _kind: i32,
    items: ObjRef,
) -> i32 {
    let (name, help) = (text_at(name, name_length), text_at(help, help_length));
    let counters = (0..object::array_length(items)).map(|index| {
        let item = object::get_element_ref(items, index);
        (strings::to_rust(CREATION_NAME.get_ref(item)), CREATION_TYPE.get(item))
    });
    let category = Category::made_by_program(name, help, counters.collect());
    with_categories(|categories| {
        let is_new = categories.iter().all(|c| c.name != category.name);
        if is_new {
            categories.push(category);
        }
        i32::from(is_new)
    })
}

fn instance_exists(
    _t: CurrentThread,
    instance: *const u16,
    instance_length: i32,
    category: *const u16,
    category_length: i32,
) -> i32 {
    let (instance, category) = (text_at(instance, instance_length), text_at(category, category_length));
    with_categories(|categories| {
        let category = categories.iter().find(|c| c.name == category);
        i32::from(category.is_some_and(|c| c.instance_names().contains(&instance)))
    })
}

fn category_names(t: CurrentThread) -> ObjRef {
    let names: Vec<String> = with_categories(|categories| categories.iter().map(|c| c.name.clone()).collect());
    t.run(|| string_array(t, &names))
}

fn counter_names(t: CurrentThread, category: *const u16, length: i32) -> ObjRef {
    let category = text_at(category, length);
    let names: Vec<String> = with_categories(|categories| {
        let category = categories.iter().find(|c| c.name == category);
        category.map(|c| c.counters.iter().map(|d| d.name.clone()).collect()).unwrap_or_default()
    });
    t.run(|| string_array(t, &names))
}

fn instance_names(t: CurrentThread, category: *const u16, length: i32) -> ObjRef {
    let category = text_at(category, length);
    let names: Vec<String> = with_categories(|categories| {
        categories.iter().find(|c| c.name == category).map(Category::instance_names).unwrap_or_default()
    });
    t.run(|| string_array(t, &names))
}

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
