//! `saki_value`: values that pass between a host and managed code.
//!
//! The union of the C structure is two words here, of which the kind says what they mean: numbers lie at the low end of
//! the first, as on every processor that Saki runs on; texts are an address and a length.

use crate::arguments::{Items, Out};
use crate::failures::{CallFailure, Returned, run};
use crate::handles::ObjectHandle;
use crate::scopes::HostScope;
use crate::strings::text_of;
use saki::{Place, Thread, Value};

/// See the module header. Size, alignment and places are those of C's structure.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct SakiValue {
    kind: u32,
    word: u64,
    length: usize,
}

const _: () = assert!(cfg!(target_endian = "little") && size_of::<SakiValue>() == 24);

macro_rules! kinds {
    ($($name:ident $number:literal)*) => { $(
        const $name: u32 = $number;
    )* };
}

// The enumeration `saki_kind`.
kinds! {
    NONE 0
    NULL 1
    BOOL 2
    CHAR 3
    I8 4
    U8 5
    I16 6
    U16 7
    I32 8
    U32 9
    I64 10
    U64 11
    F32 12
    F64 13
    OBJECT 14
    TEXT 15
    PLACE 16
}

impl SakiValue {
    /// No value.
    pub const NONE: SakiValue = SakiValue { kind: NONE, word: 0, length: 0 };

    /// The value. `what`: the parameter's name.
    ///
    /// # Errors
    /// There is no such kind, its object was released, or its text is no UTF-8.
    pub fn get<'t>(self, t: Thread<'t>, what: &'static str) -> Result<Value<'t>, CallFailure<'static>> {
        let word = self.word;
        Ok(match self.kind {
            NONE => Value::Unit,
            NULL => Value::Null,
            BOOL => Value::Bool(word as u8 != 0),
            CHAR => Value::Char(word as u16),
            I8 => Value::I8(word as i8),
            U8 => Value::U8(word as u8),
            I16 => Value::I16(word as i16),
            U16 => Value::U16(word as u16),
            I32 => Value::I32(word as i32),
            U32 => Value::U32(word as u32),
            I64 => Value::I64(word as i64),
            U64 => Value::U64(word),
            F32 => Value::F32(f32::from_bits(word as u32)),
            F64 => Value::F64(f64::from_bits(word)),
            OBJECT => ObjectHandle::from_bits(word).get_or_none(t, what)?.map_or(Value::Null, Value::Object),
            TEXT => Value::Text(text_of(Items::at(word as usize), self.length, what)?),
            // SAFETY: `of` made the value, and its function still runs: saki.h's demand.
            PLACE => Value::Place(unsafe { Place::from_raw((word as usize, self.length)) }),
            kind => return Err(CallFailure::wrong(format!("{what} is a value of kind {kind}, which there is not."))),
        })
    }

    /// A value for the host. An object's handle belongs to the scope, or else to the host.
    ///
    /// # Errors
    /// There are too many objects.
    pub fn of<'t>(
        t: Thread<'t>,
        value: Value<'_>,
        scope: Option<&mut HostScope>,
    ) -> Result<SakiValue, CallFailure<'t>> {
        if let Value::Place(place) = value {
            let (address, ty) = place.into_raw();
            return Ok(SakiValue { kind: PLACE, word: address as u64, length: ty });
        }
        let (kind, word) = match value {
            Value::Unit => (NONE, 0),
            Value::Null => (NULL, 0),
            Value::Bool(value) => (BOOL, u64::from(value)),
            Value::Char(value) => (CHAR, u64::from(value)),
            Value::I8(value) => (I8, value as u64),
            Value::U8(value) => (U8, u64::from(value)),
            Value::I16(value) => (I16, value as u64),
            Value::U16(value) => (U16, u64::from(value)),
            Value::I32(value) => (I32, value as u64),
            Value::U32(value) => (U32, u64::from(value)),
            Value::I64(value) => (I64, value as u64),
            Value::U64(value) => (U64, value),
            Value::F32(value) => (F32, u64::from(value.to_bits())),
            Value::F64(value) => (F64, value.to_bits()),
            Value::Object(object) => (OBJECT, ObjectHandle::new(t, object, scope)?.bits()),
            Value::Text(text) => (OBJECT, ObjectHandle::new(t, t.string(text)?, scope)?.bits()),
            Value::Struct(_) | Value::Place(_) => {
                return Err(CallFailure::wrong("A struct of Rust has no form for C.".to_owned()));
            }
        };
        Ok(SakiValue { kind, word, length: 0 })
    }

    /// The handle of an object.
    pub fn object(self) -> Option<ObjectHandle> {
        (self.kind == OBJECT).then(|| ObjectHandle::from_bits(self.word))
    }
}

/// Most calls have no more arguments; others need memory.
const FEW: usize = 8;

/// The host's arguments for a call.
///
/// # Errors
/// Those of [`SakiValue::get`], and of `body`.
pub fn with_arguments<'t, R>(
    t: Thread<'t>,
    arguments: Items<SakiValue>,
    count: usize,
    body: impl FnOnce(&[Value<'t>]) -> Result<R, CallFailure<'t>>,
) -> Result<R, CallFailure<'t>> {
    let given = arguments.get(count, "arguments")?;
    if count <= FEW {
        let mut values = [Value::Unit; FEW];
        for (value, given) in values.iter_mut().zip(given) {
            *value = given.get(t, "an argument")?;
        }
        return body(&values[..count]);
    }
    let values: Result<Vec<_>, _> = given.iter().map(|given| given.get(t, "an argument")).collect();
    body(&values?)
}

/// Gives the host the value that `make` makes, if it wants one.
pub fn give_value(
    scope: Option<&mut HostScope>,
    result: Out<SakiValue>,
    make: impl for<'t> FnOnce(Thread<'t>) -> Result<Value<'t>, CallFailure<'t>>,
) -> Returned {
    result.put(SakiValue::NONE);
    run(|t| {
        let made = make(t)?;
        if result.is_wanted() {
            result.put(SakiValue::of(t, made, scope)?);
        }
        Ok(())
    })
}
