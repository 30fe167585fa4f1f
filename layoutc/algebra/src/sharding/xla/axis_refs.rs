//! Mesh axes and sub-axes in a sharding text, and XLA's constraints on lists of them.
//!
//! Source: XLA, `VerifyNamedSharding` in `named_sharding.cc`, `AxisRef` in `mesh_and_axis.cc`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::parser::{ShardingParser, SpannedInt};
use crate::expr::parse::Span;
use crate::notation::NotationFault;
use crate::sharding::mesh::{Mesh, MeshAxis};
use crate::sharding::named::AxisRef;
use crate::sharding::placement::Subgroup;

/// Mesh axis or sub-axis, with its byte range in the text.
pub(super) type SpannedAxisRef = (AxisRef, Span);

impl ShardingParser<'_> {
    /// Parses a mesh axis such as `'a'`, or a sub-axis such as `'b':(2)4`, the sub-axis of size 4 that follows sub-axes
    /// of total size 2.
    pub(super) fn part(&mut self, mesh: &Mesh) -> Result<SpannedAxisRef, NotationFault> {
        let (name, span) = self.name()?;
        let found = mesh.axes.iter().enumerate().find(|(_, axis)| axis.name == name);
        let Some((axis, MeshAxis { size, .. })) = found else {
            return Err(no_axis(&name, span, mesh));
        };
        if !self.eat(":") {
            return Ok((AxisRef { axis, before: 1, size: *size }, span));
        }
        self.expect("(")?;
        let before: SpannedInt = self.size("devices")?;
        self.expect(")")?;
        let own: SpannedInt = self.size("devices")?;
        let span = span.start..own.1.end;
        let part = AxisRef { axis, before: before.0, size: own.0 };
        let is_inside = part.before.checked_mul(part.size).is_some_and(|end| size % end == 0);
        if !is_inside || own.0 == 1 || own.0 == *size {
            let (before, own) = (before.0, own.0);
            let message =
                format!("`({before}){own}` is not a part of the {size} devices of `{name}`");
            let fault = NotationFault::value(span, message);
            let help = if own == *size {
                format!("all of it is `'{name}'`")
            } else {
                format!("`(before)size` has a size from 2, and a product that divides {size}")
            };
            return Err(fault.help(help));
        }
        Ok((part, span))
    }
}

/// Fault for a name that is not an axis of the mesh. If the text is the position of an axis instead, the help suggests
/// the name of that axis.
fn no_axis(name: &str, span: Span, mesh: &Mesh) -> NotationFault {
    let names: Vec<String> = mesh.axes.iter().map(|axis| format!("`{}`", axis.name)).collect();
    let message = match names.as_slice() {
        [] => format!("`{name}` is not an axis: the mesh has none"),
        _ => format!("`{name}` is not an axis of the mesh; its axes are {}", names.join(", ")),
    };
    let fault = NotationFault::axes(span, message);
    let by_position = name.parse::<usize>().ok().and_then(|place| mesh.axes.get(place));
    fault.help(match by_position {
        Some(axis) => format!("axes have names: write `'{}'`", axis.name),
        None => "write one of its axes, or add it to the mesh".into(),
    })
}

/// Checks that no two sub-axes overlap, and that two sub-axes of one mesh axis fit one split of it: the start of the
/// second is a multiple of the end of the first. `'a':(1)2` ends at 2, and `'a':(3)2` starts at 3, which is a fault.
pub(super) fn disjoint<'p>(
    parts: impl Iterator<Item = &'p SpannedAxisRef>,
    mesh: &Mesh,
) -> Result<(), NotationFault> {
    let mut before: Vec<AxisRef> = Vec::new();
    for (part, span) in parts {
        let clash = before.iter().find(|other| {
            let (first, second) =
                if other.before <= part.before { (**other, *part) } else { (*part, **other) };
            let apart = first.end() <= second.before && second.before % first.end() == 0;
            other.axis == part.axis && !apart
        });
        if clash.is_some() {
            let name = mesh.axes.get(part.axis).map_or("", |axis| axis.name.as_str());
            let message = format!("`{name}` is already used, or overlaps a sub-axis used before");
            let fault = NotationFault::value(span.clone(), message);
            return Err(fault.help("use each mesh axis, or each of its sub-axes, once"));
        }
        before.push(*part);
    }
    Ok(())
}

/// Checks that no two adjacent entries of a list are parts of one longer sub-axis: `'a':(1)2, 'a':(2)2` must be written
/// `'a':(1)4`.
pub(super) fn unmerged(parts: &[SpannedAxisRef], mesh: &Mesh) -> Result<(), NotationFault> {
    let goes_on = |(first, second): &(&SpannedAxisRef, &SpannedAxisRef)| {
        first.0.axis == second.0.axis && first.0.end() == second.0.before
    };
    let Some((first, second)) = parts.iter().zip(parts.iter().skip(1)).find(goes_on) else {
        return Ok(());
    };
    let axis = mesh.axes.get(first.0.axis);
    let (name, all) = axis.map_or(("", 1), |axis| (axis.name.as_str(), axis.size));
    let size = first.0.size.saturating_mul(second.0.size);
    let one = if size == all {
        format!("'{name}'")
    } else {
        format!("'{name}':({}){size}", first.0.before)
    };
    let span = first.1.start..second.1.end;
    let fault = NotationFault::value(span, "adjacent sub-axes must be written as one");
    Err(fault.help(format!("write `{one}`")))
}

/// Checks that the mesh axes `parts` of a subgroup of the kind `kind` are in the order of the mesh.
pub(super) fn sorted(
    kind: Subgroup,
    parts: &[SpannedAxisRef],
    mesh: &Mesh,
) -> Result<(), NotationFault> {
    let wrong = parts.iter().zip(parts.iter().skip(1)).find(|(first, second)| first.0 > second.0);
    let Some((first, second)) = wrong else { return Ok(()) };
    let name = |part: &AxisRef| mesh.axes.get(part.axis).map_or("", |axis| axis.name.as_str());
    let message = format!("`{}` precedes `{}` in the mesh", name(&second.0), name(&first.0));
    let fault = NotationFault::value(second.1.clone(), message);
    Err(fault.help(format!("write the axes of `{}=` in the order of the mesh", kind.word())))
}
