//! Records in files as structured types of `NumPy`, such as `[('d', '<f2'), ('q', '|u1', (16,))]`.

use layoutc_compiler::base::dtype::record::{Field, Record};

use super::npy::{self, NpyDescr};
use super::of_scalar;

/// `NumPy` type string of a record: the list of its fields in the order of their offsets. A gap is an unnamed field of
/// raw bytes, and a field of packed sub-byte elements is an array of bytes.
pub(super) fn descr(record: Record) -> String {
    let fields = record.fields().iter().map(|one| (one.offset, field(one)));
    let gaps = record.gaps().map(|(offset, bytes)| (offset, format!("('', '|V{bytes}')")));
    let mut all: Vec<(u32, String)> = fields.chain(gaps).collect();
    all.sort();
    let all: Vec<String> = all.into_iter().map(|(_, field)| field).collect();
    format!("[{}]", all.join(", "))
}

fn field(field: &Field) -> String {
    let is_packed = field.dtype.element_bits() < 8;
    let (descr, shape) = if is_packed {
        ("|u1", vec![field.bytes()])
    } else {
        let lanes = (field.dtype.lanes > 1).then_some(field.dtype.lanes);
        let shape = field.counts.iter().copied().chain(lanes).collect();
        (of_scalar(field.dtype.scalar), shape)
    };
    match shape.as_slice() {
        [] => format!("('{}', '{descr}')", field.name),
        [one] => format!("('{}', '{descr}', ({one},))", field.name),
        several => {
            let several: Vec<String> = several.iter().map(u32::to_string).collect();
            format!("('{}', '{descr}', ({}))", field.name, several.join(", "))
        }
    }
}

/// True if a file with the type string `given` can hold elements of the record: it is the type string of the record,
/// apart from spaces and the kind of quotes, or declares raw bytes of the size of the record.
pub(super) fn is_taken(given: &NpyDescr, record: Record) -> bool {
    let plain = |text: &str| text.split_whitespace().collect::<String>().replace('"', "'");
    let is_void = given.kind == 'V' && usize::try_from(record.bytes()) == Ok(given.bytes);
    is_void || given.kind == '[' && plain(&given.text) == plain(&descr(record))
}

/// Bytes per element of a structured type string, `None` if the list or a field is invalid, a field is itself
/// structured, or the number overflows.
pub(super) fn bytes(list: &str) -> Option<usize> {
    let mut rest = list.strip_prefix('[')?.strip_suffix(']')?.trim();
    let mut all = 0_usize;
    while !rest.is_empty() {
        let (_, behind) = npy::string(rest.strip_prefix('(')?.trim_start())?;
        let behind = behind.trim_start().strip_prefix(',')?.trim_start();
        let (descr, behind) = npy::string(behind)?;
        let scalar = npy::text(&format!("'{descr}'"))?;
        let behind = behind.trim_start();
        let behind = behind.strip_prefix(',').unwrap_or(behind).trim_start();
        let (shape, behind) = match behind.find(')').filter(|_| behind.starts_with('(')) {
            Some(end) => (behind.get(..=end)?, behind.get(end.checked_add(1)?..)?.trim_start()),
            None => ("()", behind),
        };
        let shape = if shape == "()" { Vec::new() } else { npy::tuple(shape)? };
        let own = shape.iter().try_fold(scalar.bytes, |own, extent| {
            own.checked_mul(usize::try_from(*extent).ok()?)
        })?;
        all = all.checked_add(own)?;
        let behind = behind.strip_prefix(')')?.trim_start();
        rest = behind.strip_prefix(',').unwrap_or(behind).trim_start();
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structured_descr_size_is_the_sum_of_its_fields() {
        for (list, wanted) in [
            ("[('d', '<f2'), ('q', '|u1', (16,))]", Some(18)),
            ("[('v', '<f4', (2, 3)), ('', '|V3'), ('c', '<c16')]", Some(43)),
            ("[(\"x\",'<i4' , ) , ]", Some(4)),
            ("[]", Some(0)),
            ("[('x', [('y', '<f4')])]", None),
            ("[('x', '<f4', (18446744073709551615, 9))]", None),
            ("[('x', '<f4'", None),
            ("[x]", None),
        ] {
            assert_eq!(bytes(list), wanted, "{list}");
        }
    }
}
