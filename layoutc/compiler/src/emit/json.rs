//! The model as JSON, for its stamp: the bytes that `serde_json` writes, at a third of the price. The model has
//! structures, lists, texts, integers and truth values; anything else is refused.

use std::fmt;

use serde::Serialize;
use serde::ser::{self, Impossible, SerializeSeq, SerializeStruct, Serializer};

/// `model` as JSON without blanks. `capacity` is about how many bytes it takes.
///
/// # Errors
/// [`Refused`] where the model holds what it should not.
pub(super) fn text(model: &impl Serialize, capacity: usize) -> Result<Vec<u8>, Refused> {
    let mut writer = Writer { text: Vec::with_capacity(capacity) };
    model.serialize(&mut writer)?;
    Ok(writer.text)
}

/// What the model should not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refused(String);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the model holds {}", self.0)
    }
}

impl std::error::Error for Refused {}

impl ser::Error for Refused {
    fn custom<T: fmt::Display>(what: T) -> Self {
        Self(what.to_string())
    }
}

struct Writer {
    text: Vec<u8>,
}

impl Writer {
    fn integer(&mut self, value: u64) {
        let mut digits = [b'0'; 20];
        let mut rest = value;
        let mut first = digits.len();
        for (at, digit) in digits.iter_mut().enumerate().rev() {
            *digit += u8::try_from(rest % 10).unwrap_or(0);
            first = at;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        self.text.extend_from_slice(digits.get(first..).unwrap_or_default());
    }

    fn string(&mut self, value: &str) {
        self.text.push(b'"');
        let plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
        if value.bytes().all(plain) {
            self.text.extend_from_slice(value.as_bytes());
        } else {
            value.bytes().for_each(|byte| self.escaped(byte));
        }
        self.text.push(b'"');
    }

    fn escaped(&mut self, byte: u8) {
        let short = match byte {
            b'"' | b'\\' => byte,
            8 => b'b',
            9 => b't',
            10 => b'n',
            12 => b'f',
            13 => b'r',
            0..b' ' => {
                self.text.extend_from_slice(format!("\\u{byte:04x}").as_bytes());
                return;
            }
            _ => {
                self.text.push(byte);
                return;
            }
        };
        self.text.extend_from_slice(&[b'\\', short]);
    }
}

fn refused<T>(what: &str) -> Result<T, Refused> {
    Err(Refused(what.to_owned()))
}

type Never = Impossible<(), Refused>;

impl<'w> Serializer for &'w mut Writer {
    type Ok = ();
    type Error = Refused;
    type SerializeSeq = Open<'w>;
    type SerializeTuple = Never;
    type SerializeTupleStruct = Never;
    type SerializeTupleVariant = Never;
    type SerializeMap = Never;
    type SerializeStruct = Open<'w>;
    type SerializeStructVariant = Never;

    fn serialize_bool(self, value: bool) -> Result<(), Refused> {
        self.text.extend_from_slice(if value { b"true" } else { b"false" });
        Ok(())
    }

    fn serialize_i64(self, value: i64) -> Result<(), Refused> {
        if value < 0 {
            self.text.push(b'-');
        }
        self.integer(value.unsigned_abs());
        Ok(())
    }

    fn serialize_u64(self, value: u64) -> Result<(), Refused> {
        self.integer(value);
        Ok(())
    }

    fn serialize_i8(self, value: i8) -> Result<(), Refused> {
        self.serialize_i64(value.into())
    }

    fn serialize_i16(self, value: i16) -> Result<(), Refused> {
        self.serialize_i64(value.into())
    }

    fn serialize_i32(self, value: i32) -> Result<(), Refused> {
        self.serialize_i64(value.into())
    }

    fn serialize_u8(self, value: u8) -> Result<(), Refused> {
        self.serialize_u64(value.into())
    }

    fn serialize_u16(self, value: u16) -> Result<(), Refused> {
        self.serialize_u64(value.into())
    }

    fn serialize_u32(self, value: u32) -> Result<(), Refused> {
        self.serialize_u64(value.into())
    }

    fn serialize_f32(self, _value: f32) -> Result<(), Refused> {
        refused("a fraction")
    }

    fn serialize_f64(self, _value: f64) -> Result<(), Refused> {
        refused("a fraction")
    }

    fn serialize_char(self, value: char) -> Result<(), Refused> {
        self.string(value.encode_utf8(&mut [0; 4]));
        Ok(())
    }

    fn serialize_str(self, value: &str) -> Result<(), Refused> {
        self.string(value);
        Ok(())
    }

    fn serialize_bytes(self, _value: &[u8]) -> Result<(), Refused> {
        refused("bytes")
    }

    fn serialize_none(self) -> Result<(), Refused> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Refused> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Refused> {
        self.text.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<(), Refused> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<(), Refused> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<(), Refused> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _value: &T,
    ) -> Result<(), Refused> {
        refused("a variant without a tag")
    }

    fn serialize_seq(self, _length: Option<usize>) -> Result<Open<'w>, Refused> {
        self.text.push(b'[');
        Ok(Open { writer: self, empty: true })
    }

    fn serialize_tuple(self, _length: usize) -> Result<Never, Refused> {
        refused("a tuple")
    }

    fn serialize_tuple_struct(self, _name: &'static str, _len: usize) -> Result<Never, Refused> {
        refused("a tuple")
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _length: usize,
    ) -> Result<Never, Refused> {
        refused("a variant without a tag")
    }

    fn serialize_map(self, _length: Option<usize>) -> Result<Never, Refused> {
        refused("a map")
    }

    fn serialize_struct(self, _name: &'static str, _len: usize) -> Result<Open<'w>, Refused> {
        self.text.push(b'{');
        Ok(Open { writer: self, empty: true })
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _length: usize,
    ) -> Result<Never, Refused> {
        refused("a variant without a tag")
    }
}

/// A list or a structure that is being written.
struct Open<'w> {
    writer: &'w mut Writer,
    empty: bool,
}

impl SerializeSeq for Open<'_> {
    type Ok = ();
    type Error = Refused;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Refused> {
        if !std::mem::take(&mut self.empty) {
            self.writer.text.push(b',');
        }
        value.serialize(&mut *self.writer)
    }

    fn end(self) -> Result<(), Refused> {
        self.writer.text.push(b']');
        Ok(())
    }
}

impl SerializeStruct for Open<'_> {
    type Ok = ();
    type Error = Refused;

    /// Names of fields are Rust's: there is nothing to escape.
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Refused> {
        let text = &mut self.writer.text;
        text.extend_from_slice(if std::mem::take(&mut self.empty) { b"\"" } else { b",\"" });
        text.extend_from_slice(key.as_bytes());
        text.extend_from_slice(b"\":");
        value.serialize(&mut *self.writer)
    }

    fn end(self) -> Result<(), Refused> {
        self.writer.text.push(b'}');
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tree::{Expr, Function, Operand, Param, ParamType, Returns, Stmt};

    #[test]
    fn the_bytes_are_those_of_serde_json() {
        let index = Expr::Neg { a: Box::new(Expr::int(i64::MIN)) };
        let value = Operand::Load { buffer: "a".to_owned(), index, through: None };
        let store = Stmt::Store {
            buffer: String::new(),
            index: Expr::int(9_080_706_050),
            value,
            through: None,
        };
        let texts = ["\"quoted\" \\ \u{8}\u{9}\u{a}\u{c}\u{d}\u{1f}\u{7f} ü€😀/", ""];
        let function = Function {
            name: "f".to_owned(),
            doc: texts.map(str::to_owned).to_vec(),
            returns: Returns::Bytes,
            params: vec![Param { name: "n".to_owned(), ty: ParamType::Index }],
            body: vec![store, Stmt::Return { value: Expr::Bool { value: true } }],
        };
        let expected = serde_json::to_string(&function).unwrap();
        assert_eq!(String::from_utf8(text(&function, 0).unwrap()).unwrap(), expected);
    }

    #[test]
    fn what_is_no_part_of_the_model_is_refused() {
        assert_eq!(text(&0.5, 0), Err(Refused("a fraction".to_owned())));
        assert_eq!(text(&[(1, 2)].as_slice(), 0), Err(Refused("a tuple".to_owned())));
    }
}
