//! Axis orders of transpositions. A layout text of the operand is translated to one of the result, and back.

use layoutc_algebra::notation::{Notation, notation_axes};

use super::layouts::{ROW_MAJOR, notation};
use super::tensor_types::GraphTensorType;
use crate::manifest::syntax::{NodeItem, PropertyItem};

/// Properties of a node that give the axis order, in ONNX and in Glow.
const ORDERS: [&str; 2] = ["perm", "shuffle"];

/// Maximum rank of a tensor for which [`row_major`] writes a layout.
const MAX_LETTERS: usize = 6;

/// Axis order of a transposition: axis `k` of the result is axis `order[k]` of the operand. It is given by the property
/// `perm` or `shuffle`; without one, axes are matched by name.
///
/// # Errors
/// The reason why the node is not a transposition of `from` to `to`.
pub(super) fn order(
    node: &NodeItem,
    from: &GraphTensorType,
    to: &GraphTensorType,
) -> Result<Vec<usize>, String> {
    let property = node.properties.iter().find(|(key, _)| ORDERS.contains(&key.value.as_str()));
    let order: Option<Vec<usize>> = match property {
        Some((_, value)) => listed(value),
        None => to.axes.iter().map(|axis| from.position(&axis.name)).collect(),
    };
    let rank = from.axes.len();
    let order = order.filter(|order| {
        order.len() == rank && to.axes.len() == rank && (0..rank).all(|k| order.contains(&k))
    });
    let Some(order) = order else {
        return Err(match property {
            Some((key, _)) => {
                format!("`{}` is not a permutation of the axes of {from} to {to}", key.value)
            }
            None => format!("{from} and {to} have different axes, and there is no `perm`"),
        });
    };
    let wrong = order.iter().enumerate().find(|(k, axis)| from.extent(**axis) != to.extent(*k));
    match wrong.and_then(|(k, axis)| Some((from.axes.get(*axis)?, to.axes.get(k)?))) {
        None => Ok(order),
        Some((own, given)) => Err(format!(
            "the transposition of {from} is not {to}: `{}` is {} and its source `{}` is {}",
            given.name, given.extent, own.name, own.extent
        )),
    }
}

/// Integers of a property: `2`, or a word with commas, `'0,3,1,2'`; `None` for any other value.
fn listed(value: &PropertyItem) -> Option<Vec<usize>> {
    if let PropertyItem::Integer(only) = value {
        return usize::try_from(*only).ok().map(|k| vec![k]);
    }
    let PropertyItem::Word(word) = value else { return None };
    word.split(',').map(|k| k.trim().parse().ok()).collect()
}

/// Inverse of the permutation `order`: element `order[k]` of the returned list is `k`. For the axis order of a
/// transposition, it has the position in the result of each axis of the operand.
pub(super) fn inverse(order: &[usize]) -> Vec<usize> {
    (0..order.len()).filter_map(|axis| order.iter().position(|own| *own == axis)).collect()
}

/// Translation of the layout `text` of a tensor with the axes `from` to the axes `to`, so that both texts describe one
/// order in memory. Axis `p` of `from` is axis `place[p]` of `to`. `None` if the text cannot be translated, for example
/// because its notation does not support it, or an axis has no letter.
pub(super) fn rewritten(
    text: &str,
    from: &GraphTensorType,
    to: &GraphTensorType,
    place: &[usize],
) -> Option<String> {
    let is_in_place = place.iter().enumerate().all(|(k, own)| k == *own);
    let has_names = from.axes.iter().zip(&to.axes).all(|(a, b)| a.name == b.name);
    if is_in_place && (has_names || text == ROW_MAJOR) {
        return Some(text.to_owned());
    }
    if text == ROW_MAJOR {
        return row_major(to, place);
    }
    let (notation, start) = notation(text);
    let (prefix, own) = (text.get(..start)?, text.get(start..)?);
    match notation {
        Notation::Glow | Notation::Tvm => {
            let letter = |c: char| {
                let axis = from.axes.iter().position(|axis| is_letter(&axis.name, c))?;
                single(&to.axes.get(*place.get(axis)?)?.name)
            };
            Some(format!("{prefix}{}", lettered(own, &letter)?))
        }
        Notation::Onednn if !is_in_place => {
            let roles = notation_axes(notation, own, &[]).ok()?.names;
            let letter = |c: char| {
                let axis = roles.iter().position(|role| is_letter(role, c))?;
                ('a'..='z').nth(*place.get(axis)?)
            };
            Some(format!("onednn:{}", lettered(own, &letter)?))
        }
        Notation::Xla if !is_in_place => {
            let inside = own.strip_prefix('{')?;
            let end = inside.find([':', '}'])?;
            let axes = inside.get(..end)?.split(',').map(|axis| {
                let axis: usize = axis.trim().parse().ok()?;
                place.get(axis).map(ToString::to_string)
            });
            let axes: Option<Vec<String>> = axes.collect();
            Some(format!("{prefix}{{{}{}", axes?.join(","), inside.get(end..)?))
        }
        Notation::Onednn | Notation::Xla | Notation::Numpy | Notation::Mdspan | Notation::Cute => {
            is_in_place.then(|| text.to_owned())
        }
        Notation::Einops | Notation::Mlir | Notation::Triton => None,
    }
}

/// Layout text that describes the row-major order of the operand by the letters of the result's axes `to`. Axis `p` of
/// the operand is axis `place[p]` of `to`: with `to` N, C, H and `place` `[0, 2, 1]`, the text is `NHC`. `None` if an
/// axis has no single-letter name, or there are no axes or more than [`MAX_LETTERS`].
fn row_major(to: &GraphTensorType, place: &[usize]) -> Option<String> {
    let letters = place.iter().map(|axis| single(&to.axes.get(*axis)?.name));
    let letters: Option<String> = letters.collect();
    letters.filter(|letters| (1..=MAX_LETTERS).contains(&letters.len()))
}

/// Layout text in which each letter outside brackets is replaced by the letter that the function `letter` returns, in
/// the case of the old letter. `None` if `letter` returns `None`, or if there is a `*` outside brackets.
fn lettered(text: &str, letter: &dyn Fn(char) -> Option<char>) -> Option<String> {
    let mut is_inside = false;
    let one = |c: char| {
        is_inside = match c {
            '[' => true,
            ']' => false,
            _ => is_inside,
        };
        match c {
            '*' if !is_inside => None,
            _ if is_inside || !c.is_ascii_alphabetic() => Some(c),
            _ if c.is_ascii_lowercase() => letter(c).map(|c| c.to_ascii_lowercase()),
            _ => letter(c).map(|c| c.to_ascii_uppercase()),
        }
    };
    text.chars().map(one).collect()
}

/// True if `name` is the single letter `letter`, ignoring case.
fn is_letter(name: &str, letter: char) -> bool {
    single(name).is_some_and(|own| own.eq_ignore_ascii_case(&letter))
}

/// Letter that a name consists of; `None` if the name is not a single ASCII letter.
fn single(name: &str) -> Option<char> {
    let mut chars = name.chars();
    let first = chars.next().filter(char::is_ascii_alphabetic)?;
    chars.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::super::tensor_types::StaticAxis;
    use super::*;
    use crate::base::dtype::{Dtype, Scalar};

    fn known(axes: &[(&str, i128)]) -> GraphTensorType {
        let axes = axes
            .iter()
            .map(|(name, extent)| StaticAxis { name: (*name).to_owned(), extent: *extent });
        let dtype = Dtype { scalar: Scalar::F32, lanes: 1 };
        GraphTensorType { name: "x".to_owned(), axes: axes.collect(), dtype }
    }

    #[test]
    fn operand_layouts_are_rewritten_for_transposed_results() {
        // Axes N, H, W, C of the operand are A, E, D, B of the result.
        let from = known(&[("N", 1), ("H", 2), ("W", 3), ("C", 4)]);
        let to = known(&[("A", 1), ("D", 3), ("B", 4), ("E", 2)]);
        let place = [0, 3, 1, 2];
        for (text, expected) in [
            ("NHWC", Some("AEDB")),
            ("N[a=64]H[x:HW]WC", Some("A[a=64]E[x:HW]DB")),
            ("NCHW16c", Some("ABED16b")),
            ("NCHW4n16c", Some("ABED4a16b")),
            ("nChw16c", Some("onednn:aDbc16d")),
            ("aDbc8d", Some("onednn:aCdb8c")),
            ("xla:{3,2,1,0:T(8,128)}", Some("xla:{2,1,3,0:T(8,128)}")),
            ("row-major", Some("AEDB")),
            ("N**C", None),
            ("numpy:(1,2,3,4)", None),
        ] {
            assert_eq!(rewritten(text, &from, &to, &place).as_deref(), expected, "{text}");
        }
        let same = known(&[("N", 1), ("C", 4), ("H", 2), ("W", 3)]);
        assert_eq!(rewritten("NHWC", &from, &same, &[0, 2, 3, 1]).as_deref(), Some("NHWC"));
        assert_eq!(rewritten("row-major", &from, &same, &[0, 2, 3, 1]).as_deref(), Some("NHWC"));
        assert_eq!(
            rewritten("row-major", &from, &from, &[0, 1, 2, 3]).as_deref(),
            Some("row-major")
        );
    }
}
