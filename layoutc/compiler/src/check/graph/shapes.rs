//! Shape rules of operators, such as broadcast, product and convolution. Axes are matched by name, otherwise by
//! position as in ONNX.

mod concat;
mod product;

use super::tensor_types::{GraphTensorType, StaticAxis};
use crate::manifest::syntax::{PropertyItem, ShapeRule};

/// Operator of a node: its properties, and the types of its operands and results.
pub(super) struct OperatorSignature<'k> {
    pub(super) operands: Vec<&'k GraphTensorType>,
    pub(super) results: Vec<&'k GraphTensorType>,
    pub(super) properties: Vec<(&'k str, &'k PropertyItem)>,
}

impl<'k> OperatorSignature<'k> {
    fn property(&self, name: &str) -> Option<&'k PropertyItem> {
        self.properties.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
    }

    /// Value of the property `name` if it is an integer; `None` otherwise.
    fn integer(&self, name: &str) -> Option<i128> {
        let PropertyItem::Integer(value) = self.property(name)? else { return None };
        Some(*value)
    }
}

/// Reason, with the extents, why the shapes of an operator break the rule `rule`. `None` if the shapes follow the rule,
/// or cannot be compared, for example because an operand is missing.
pub(super) fn clash(rule: ShapeRule, operation: &OperatorSignature<'_>) -> Option<String> {
    match rule {
        ShapeRule::Any => None,
        ShapeRule::Broadcast => operation.results.iter().find_map(|to| broadcast(operation, to)),
        ShapeRule::First => {
            let (from, to) = (operation.operands.first()?, operation.results.first()?);
            (!is_alike(from, to)).then(|| format!("{from} and {to} have different extents"))
        }
        ShapeRule::Concat => concat::concat(operation),
        ShapeRule::Split => concat::split(operation),
        ShapeRule::Product => product::clash(operation),
        ShapeRule::Convolution => convolution(operation),
        ShapeRule::Reshape => {
            let (from, to) = (operation.operands.first()?, operation.results.first()?);
            let (own, given) = (from.elements()?, to.elements()?);
            (own != given).then(|| format!("{from} has {own} elements, and {to} has {given}"))
        }
    }
}

/// Positions in `other` of the axes with the same names, one for each axis of `own` in order; `None` if an axis of
/// `own` has no counterpart.
fn by_name(own: &GraphTensorType, other: &GraphTensorType) -> Option<Vec<usize>> {
    own.axes.iter().map(|axis| other.position(&axis.name)).collect()
}

/// Positions in `other` of the axes at the same distance from the last axis, one for each axis of `own` in order;
/// `None` if `other` has fewer axes.
fn by_position(own: &GraphTensorType, other: &GraphTensorType) -> Option<Vec<usize>> {
    let before = other.axes.len().checked_sub(own.axes.len())?;
    Some((before..other.axes.len()).collect())
}

/// True if two tensors have the same rank and equal extents, with their axes matched by name or by position.
fn is_alike(a: &GraphTensorType, b: &GraphTensorType) -> bool {
    let is_so = |places: Option<Vec<usize>>| {
        places.is_some_and(|places| {
            let mut extents = a.axes.iter().zip(&places);
            extents.all(|(axis, place)| b.extent(*place) == Some(axis.extent))
        })
    };
    a.axes.len() == b.axes.len() && (is_so(by_name(a, b)) || is_so(by_position(a, b)))
}

/// Broadcasts of the operand `own` to the result `to` that the extents allow, at most two: one with axes matched by
/// name, one by position. A broadcast is a list with the position in `to` of each axis of `own`. An axis of `own` must
/// have extent 1 or the extent of its counterpart.
fn places(own: &GraphTensorType, to: &GraphTensorType) -> Vec<Vec<usize>> {
    let is_broadcast = |places: &Vec<usize>| {
        let mut extents = own.axes.iter().zip(places);
        extents.all(|(axis, place)| axis.extent == 1 || to.extent(*place) == Some(axis.extent))
    };
    [by_name(own, to), by_position(own, to)].into_iter().flatten().filter(is_broadcast).collect()
}

/// Reason why the operands do not broadcast to the result `to`; `None` if they do, if there are no operands, or if the
/// node has the property `broadcast=1` of old ONNX operators.
fn broadcast(operation: &OperatorSignature<'_>, to: &GraphTensorType) -> Option<String> {
    // ONNX before opset 7 aligns the second operand at `axis`.
    if operation.operands.is_empty() || operation.integer("broadcast") == Some(1) {
        return None;
    }
    let mut is_given = vec![false; to.axes.len()];
    for own in &operation.operands {
        let matches = places(own, to);
        if matches.is_empty() {
            return Some(unlike(own, to));
        }
        for (axis, place) in matches.iter().flat_map(|matched| own.axes.iter().zip(matched)) {
            let is_same = to.extent(*place) == Some(axis.extent);
            is_given.get_mut(*place).into_iter().for_each(|given| *given |= is_same);
        }
    }
    let missing = to.axes.iter().zip(is_given).find(|(axis, given)| !given && axis.extent != 1);
    missing.map(|(StaticAxis { name, extent }, _)| {
        format!("{to} has extent {extent} along `{name}`, and no operand has it")
    })
}

/// Reason why the operand `own` does not broadcast to the result `to`: an axis with an extent other than 1 that differs
/// from the extent of its counterpart in `to`, or a rank above that of `to`.
fn unlike(own: &GraphTensorType, to: &GraphTensorType) -> String {
    let places = by_name(own, to).or_else(|| by_position(own, to)).unwrap_or_default();
    let differs = |(axis, place): &(&StaticAxis, &usize)| {
        axis.extent != 1 && to.extent(**place) != Some(axis.extent)
    };
    let wrong = own.axes.iter().zip(&places).find(differs);
    match wrong.and_then(|(axis, place)| Some((axis, to.axes.get(*place)?))) {
        Some((axis, there)) if axis.name == there.name => format!(
            "{own} cannot be broadcast to {to}: `{}` is {} and {}",
            axis.name, axis.extent, there.extent
        ),
        Some((axis, there)) => format!(
            "{own} cannot be broadcast to {to}: `{}` is {} and `{}` is {}",
            axis.name, axis.extent, there.name, there.extent
        ),
        None => format!("{own} cannot be broadcast to {to}: it has more axes"),
    }
}

/// Reason why a convolution has a batch or channels that do not match; `None` if no mismatch is found. Missing operands
/// and axes are not compared, nor the extents of the window (H, W).
fn convolution(operation: &OperatorSignature<'_>) -> Option<String> {
    let [data, filter, ..] = operation.operands.as_slice() else { return None };
    let result = operation.results.first()?;
    let differ =
        |own: Option<i128>, other: Option<i128>| own.zip(other).filter(|(own, other)| own != other);
    if let Some((own, given)) = differ(data.named("N"), result.named("N")) {
        return Some(format!("`N` of {data} is {own}, and `N` of {result} is {given}"));
    }
    // A filter may use the letters of data: its first axis is the result's channels.
    let (gives, takes) = if filter.named("O").is_some() { ("O", "I") } else { ("N", "C") };
    if let Some((own, given)) = differ(filter.named(gives), result.named("C")) {
        return Some(format!("`{gives}` of {filter} is {own}, and `C` of {result} is {given}"));
    }
    let (channels, taken) = (data.named("C")?, filter.named(takes)?);
    let is_fit = match operation.integer("group").or_else(|| operation.integer("groups")) {
        Some(groups) => taken.checked_mul(groups) == Some(channels),
        None => channels.checked_rem(taken) == Some(0),
    };
    (!is_fit).then(|| {
        format!("`C` of {data} is {channels}, and `{takes}` of {filter} is {taken} per group")
    })
}
