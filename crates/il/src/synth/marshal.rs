//! Facts about marshalling that generated wrappers and the runtime's converters share: native types, native layouts,
//! plans.

mod layout;
mod native_type;
mod plan;
mod refusals;
mod struct_class;
mod unmarshalled;

pub use layout::{NativeField, NativeLayout, data_offset_bytes, forget_dead, native_layout, type_charset};
pub use native_type::{
    ArrayCount, BoolForm, CharSet, MarshalPosition, NativeType, StringForm, handle_class, native_type,
};
pub use plan::{MarshalAction, MethodPlan, ParamPlan, impl_map, method_plan, pinvoke_flags};
pub use struct_class::struct_class;
pub use unmarshalled::raw_plan;
