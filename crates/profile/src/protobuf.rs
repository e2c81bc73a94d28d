//! As much of the protocol buffers' wire format as pprof's messages need.

/// A message that is being written.
#[derive(Default)]
pub struct Message(pub Vec<u8>);

const VARINT: u64 = 0;
const FIXED_64: u64 = 1;
const BYTES: u64 = 2;
const FIXED_32: u64 = 5;

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// A field with a number; 0 is what an absent one means.
    pub fn number(&mut self, field: u64, value: u64) -> &mut Message {
        if value != 0 {
            self.varint(field << 3 | VARINT);
            self.varint(value);
        }
        self
    }

    pub fn bytes(&mut self, field: u64, bytes: &[u8]) -> &mut Message {
        self.varint(field << 3 | BYTES);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
        self
    }

    pub fn message(&mut self, field: u64, write: impl FnOnce(&mut Message)) -> &mut Message {
        let mut inner = Message::default();
        write(&mut inner);
        self.bytes(field, &inner.0)
    }

    /// Repeated numbers, packed.
    pub fn packed(&mut self, field: u64, values: impl IntoIterator<Item = u64>) -> &mut Message {
        let mut inner = Message::default();
        values.into_iter().for_each(|value| inner.varint(value));
        self.bytes(field, &inner.0)
    }
}

/// A field's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    pub fn number(self) -> u64 {
        match self {
            Value::Number(number) => number,
            Value::Bytes(_) => 0,
        }
    }

    pub fn bytes(self) -> &'a [u8] {
        match self {
            Value::Number(_) => &[],
            Value::Bytes(bytes) => bytes,
        }
    }

    /// Of a field with repeated numbers, packed or not.
    pub fn numbers(self) -> Option<Vec<u64>> {
        match self {
            Value::Number(number) => Some(vec![number]),
            Value::Bytes(mut bytes) => {
                let mut numbers = Vec::new();
                while !bytes.is_empty() {
                    numbers.push(take_varint(&mut bytes)?);
                }
                Some(numbers)
            }
        }
    }
}

fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn take<'a>(bytes: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(len)?;
    *bytes = rest;
    Some(taken)
}

/// Calls `visit` with each field of a message; false if it is damaged.
pub fn fields<'a>(mut bytes: &'a [u8], mut visit: impl FnMut(u64, Value<'a>)) -> bool {
    let mut next = |bytes: &mut &'a [u8]| -> Option<()> {
        let key = take_varint(bytes)?;
        let value = match key & 7 {
            VARINT => Value::Number(take_varint(bytes)?),
            FIXED_64 => Value::Number(u64::from_le_bytes(take(bytes, 8)?.try_into().ok()?)),
            FIXED_32 => Value::Number(u32::from_le_bytes(take(bytes, 4)?.try_into().ok()?).into()),
            BYTES => {
                let len = usize::try_from(take_varint(bytes)?).ok()?;
                Value::Bytes(take(bytes, len)?)
            }
            _ => return None,
        };
        visit(key >> 3, value);
        Some(())
    };
    while !bytes.is_empty() {
        if next(&mut bytes).is_none() {
            return false;
        }
    }
    true
}
