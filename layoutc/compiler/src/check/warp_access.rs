//! Checks of `access` nodes: maps from the lanes of a warp to elements of a tensor.

use std::sync::Arc;

use layoutc_algebra::expr::{Expr, parse};
use layoutc_algebra::map::{MapScope, resolve};
use layoutc_algebra::normal_form::simplify::Facts;
use layoutc_algebra::symbol::Axis;

use super::expr::{map_fault, map_parse_fault};
use super::scope::{ManifestScope, number};
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic, FileSpan};
use crate::base::nearest::near_powers_of_two;
use crate::machine::GpuVendor;
use crate::manifest::syntax::{AccessItem, IntegerExpr, SpannedText};
use crate::model::{WarpAccess, WarpAccessFault};
use crate::warp::AccessDirection;

/// Maximum number of lanes of all requests of a tensor's accesses together.
const MAX_LANES: i128 = 1 << 14;

/// Tensor whose accesses are checked.
#[derive(Clone, Copy)]
pub(super) struct AccessedTensor<'a> {
    pub(super) name: &'a str,
    pub(super) axes: &'a [Axis],
    pub(super) element_bits: u32,
    pub(super) scope: &'a ManifestScope,
    pub(super) file: &'a Arc<str>,
}

impl AccessedTensor<'_> {
    fn at(&self, span: &std::ops::Range<usize>) -> FileSpan {
        FileSpan::new(self.file, span.clone())
    }

    /// Checked accesses of the tensor, in their order.
    ///
    /// # Errors
    /// The faults of all accesses.
    pub(super) fn accesses(&self, items: &[AccessItem]) -> CheckResult<Vec<WarpAccess>> {
        let (mut accesses, mut errors) = (Vec::new(), Vec::new());
        for item in items {
            match self.access(item) {
                Ok(access) => accesses.push(access),
                Err(found) => errors.extend(found),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let lanes = accesses.iter().fold(0_i128, |all, access| all.saturating_add(access.lanes()));
        match items.last() {
            Some(last) if lanes > MAX_LANES => {
                let message = format!("the accesses of `{}` have {lanes} lanes", self.name);
                let error = Diagnostic::error(Code::LimitSize, message, self.at(&last.span), "");
                let error = error.note(format!("the maximum is {MAX_LANES}"));
                Err(vec![error.help("state the access of one warp, or of fewer iterations")])
            }
            _ => Ok(accesses),
        }
    }

    fn access(&self, item: &AccessItem) -> CheckResult<WarpAccess> {
        let vendor = item.gpu.unwrap_or(GpuVendor::Nvidia);
        let along = self.along(item)?;
        let vector = self.vector(item, vendor)?;
        let (text, params) = self.params(&item.map, vendor)?;
        self.are_names(&item.map, &params)?;
        let index = self.index(&text, &params)?;
        Ok(WarpAccess {
            name: item.name.value.clone(),
            place: self.at(&item.span),
            direction: item.direction.unwrap_or(AccessDirection::Read),
            vendor,
            vector,
            along,
            params,
            index,
        })
    }

    /// Position of the axis along which the elements of a vector are adjacent.
    fn along(&self, item: &AccessItem) -> CheckResult<usize> {
        let Some(name) = &item.along else { return Ok(self.axes.len().saturating_sub(1)) };
        if let Some(axis) = self.axes.iter().position(|axis| axis.name == name.value) {
            return Ok(axis);
        }
        let message = format!("`{}` is not an axis of `{}`", name.value, self.name);
        let error = Diagnostic::error(Code::StepAxis, message, self.at(&name.span), "");
        let known = self.axes.iter().map(|axis| axis.name.as_str());
        Err(error.nearest_or_all(&name.value, "axes", known).into())
    }

    /// Number of elements of a vector. A lane accesses 1, 2, 4, 8 or 16 bytes at once, or a power-of-two part of a byte, so
    /// that no access straddles two of them.
    fn vector(&self, item: &AccessItem, vendor: GpuVendor) -> CheckResult<i128> {
        let vector = item.vector.as_ref();
        let vector = vector.map(|bound| number(bound, self.scope, self.file)).transpose()?;
        let vector = vector.unwrap_or(1);
        let bits = i128::from(self.element_bits.max(1));
        let bytes = vendor.memory().access_bytes;
        let most = (i128::from(bytes) * 8 / bits).max(1);
        let is_vector = vector.count_ones() == 1 && (1..=most).contains(&vector);
        let width = vector.max(1).saturating_mul(bits);
        if is_vector && width.count_ones() == 1 && width <= i128::from(bytes) * 8 {
            return Ok(vector);
        }
        let note = format!("a lane accesses 1, 2, 4, 8 or {bytes} bytes at once");
        let place = item.vector.as_ref().map_or(item.name.span.clone(), IntegerExpr::span);
        if is_vector {
            let message = format!(
                "an access of {vector} element{} has {width} bits",
                if vector == 1 { "" } else { "s" }
            );
            let error = Diagnostic::error(Code::AccessVector, message, self.at(&place), "");
            let help = "declare the tile with elements of 1, 2, 4, 8, 16, 32, 64 or 128 bits";
            return Err(vec![error.note(note).help(help)]);
        }
        let message =
            format!("expected a vector length, a power of two from 1 to {most}, found {vector}");
        let error = Diagnostic::error(Code::StepValue, message, self.at(&place), "").note(note);
        Err(vec![error.help(near_powers_of_two(vector.max(1), most))])
    }

    /// Text of the map without the extents of its parameters, and the parameters with their extents. The first
    /// parameter, the lane, has the extent of a warp if it states none.
    fn params(
        &self,
        text: &SpannedText,
        vendor: GpuVendor,
    ) -> CheckResult<(SpannedText, Vec<(String, i128)>)> {
        let (mut plain, mut params) = (text.value.clone(), Vec::new());
        let Some((head, _)) = text.value.split_once("->") else {
            return Ok((text.clone(), params));
        };
        let open = head.find('(').map_or(0, |open| open + 1);
        let close = head.rfind(')').unwrap_or(head.len()).max(open);
        let mut start = open;
        for part in text.value.get(open..close).unwrap_or_default().split(',') {
            let (name, extent) = part.split_once(':').map_or((part, None), |(a, b)| (a, Some(b)));
            let end = start + part.len();
            let extent = match extent {
                Some(extent) => {
                    let from = end - extent.len();
                    plain.replace_range(start + name.len()..end, &" ".repeat(extent.len() + 1));
                    self.extent(text, from..end)?
                }
                None if params.is_empty() => i128::from(vendor.memory().warp),
                None => {
                    let from = start + (name.len() - name.trim_start().len());
                    return Err(self.no_extent(text, from..from + name.trim().len(), name.trim()));
                }
            };
            params.push((name.trim().to_owned(), extent));
            start = end + 1;
        }
        Ok((SpannedText { value: plain, ..text.clone() }, params))
    }

    /// Checks that the parameters are plain names, at least one.
    fn are_names(&self, text: &SpannedText, params: &[(String, i128)]) -> CheckResult<()> {
        let is_plain = |name: &str| !name.is_empty() && !name.starts_with('*');
        if params.iter().all(|(name, _)| is_plain(name)) {
            return Ok(());
        }
        let message = "the parameters of an access are the lane, and iterations with their extents";
        let error = Diagnostic::error(Code::StepForm, message, self.at(&text.span), "");
        Err(vec![error.help("write them as names: `(lane) -> …` or `(lane, i : 4) -> …`")])
    }

    /// Extent that the bytes `part` of the map state.
    fn extent(&self, text: &SpannedText, part: std::ops::Range<usize>) -> CheckResult<i128> {
        let written = text.value.get(part.clone()).unwrap_or_default();
        let start = text.span.start + part.start + (written.len() - written.trim_start().len());
        let value = written.trim().to_owned();
        let bound = SpannedText { span: start..start + value.len(), value, ..text.clone() };
        let place = self.at(&bound.span);
        let extent = number(&IntegerExpr::Text(bound), self.scope, self.file)?;
        if extent >= 1 {
            return Ok(extent);
        }
        let message = format!("expected an extent of at least 1, found {extent}");
        Err(vec![
            Diagnostic::error(Code::StepValue, message, place, "")
                .help("write the number of lanes, or of iterations"),
        ])
    }

    fn no_extent(
        &self,
        text: &SpannedText,
        part: std::ops::Range<usize>,
        name: &str,
    ) -> Vec<Diagnostic> {
        let place = super::expr::place_in(text, &part, self.file);
        let message = format!("the parameter `{name}` of an access has no extent");
        let error = Diagnostic::error(Code::StepForm, message, place, "");
        let error =
            error.note("only the first parameter, the lane, has one: the threads of a warp");
        vec![error.help(format!("state the number of iterations: `{name} : 4`"))]
    }

    /// Logical index of the element, one expression for each axis of the tensor.
    fn index(&self, text: &SpannedText, params: &[(String, i128)]) -> CheckResult<Vec<Expr>> {
        let axes: Vec<Axis> = params
            .iter()
            .map(|(name, extent)| Axis { name: name.clone(), extent: Expr::constant(*extent) })
            .collect();
        let parsed = parse::map(&text.value)
            .map_err(|error| vec![map_parse_fault(&error, text, self.file, &[])])?;
        let fault = |message: String| {
            let error = Diagnostic::error(Code::MapArity, message, self.at(&text.span), "");
            let names: Vec<&str> = self.axes.iter().map(|axis| axis.name.as_str()).collect();
            vec![error.help(format!(
                "write one index for each axis of `{}`: `(lane) -> ({})`",
                self.name,
                names.join(", ")
            ))]
        };
        if params.is_empty() || !parsed.separators.is_empty() {
            return Err(fault("an access maps the lane to an index of the tensor".to_owned()));
        }
        let values =
            |name: &str| self.scope.consts.get(name).map(|(value, _)| Expr::constant(*value));
        let facts = Facts::default();
        let scope = MapScope { axes: &axes, values: &values, facts: &facts };
        let map = resolve(&parsed, scope).map_err(|errors| {
            let names = params.iter().map(|(name, _)| name.as_str());
            let known: Vec<&str> =
                names.chain(self.scope.consts.keys().map(String::as_str)).collect();
            let found = errors.iter();
            found
                .filter_map(|e| map_fault(e, text, self.scope, &known, self.file))
                .collect::<Vec<_>>()
        })?;
        if map.items.len() != self.axes.len() {
            let (found, axes) = (map.items.len(), self.axes.len());
            return Err(fault(format!(
                "the access has {found} indices and `{}` has {axes} axes",
                self.name
            )));
        }
        Ok(map.items.into_iter().map(|item| item.index).collect())
    }

    /// Diagnostic of an access that does not fit the tensor's layout.
    pub(super) fn fault(&self, access: &WarpAccess, fault: &WarpAccessFault) -> Diagnostic {
        let place = access.place.clone();
        let name = &access.name;
        let lanes = |at: &[i128]| {
            let params = access.params.iter().zip(at);
            let all: Vec<String> =
                params.map(|((name, _), value)| format!("{name} = {value}")).collect();
            all.join(", ")
        };
        let axis = |k: usize| self.axes.get(k).map_or("", |axis| axis.name.as_str());
        match fault {
            WarpAccessFault::Range { at, axis: k, index, extent } => {
                let message = format!("access `{name}` leaves `{}`", self.name);
                let note = format!(
                    "the index along `{}` is {index} for {}, and its extent is {extent}",
                    axis(*k),
                    lanes(at)
                );
                Diagnostic::error(Code::AccessRange, message, place, "").note(note).help(
                    "reduce the extents of the parameters, or the factors in the map, to those of the tensor",
                )
            }
            WarpAccessFault::Apart { at, first, position, slot } => {
                let message = format!(
                    "{} elements of access `{name}` along `{}` are not adjacent",
                    access.vector,
                    axis(access.along)
                );
                let note = format!(
                    "for {} the first element has offset {first}, and element {position} has offset {slot}",
                    lanes(at)
                );
                let help = format!(
                    "write `vector={position}`, or keep {} elements together in the layout",
                    access.vector
                );
                let help = if position.count_ones() == 1 {
                    help
                } else {
                    help.replace(&format!("vector={position}"), "vector=1")
                };
                Diagnostic::error(Code::AccessVector, message, place, "").note(note).help(help)
            }
            WarpAccessFault::Misaligned { at, first } => {
                let message = format!(
                    "a vector of {} elements of access `{name}` is not aligned",
                    access.vector
                );
                let note = format!("for {} it starts at offset {first}", lanes(at));
                let help =
                    format!("start at multiples of {}, or use a shorter `vector=`", access.vector);
                Diagnostic::error(Code::AccessVector, message, place, "").note(note).help(help)
            }
            WarpAccessFault::Excluded { at, index: element } => {
                let message = format!("access `{name}` leaves `{}`", self.name);
                let element = super::faults::index(element);
                let note =
                    format!("{}{element} is no element, by `where`, for {}", self.name, lanes(at));
                Diagnostic::error(Code::AccessRange, message, place, "")
                    .note(note)
                    .help("access elements only, or declare the tile without `where`")
            }
            WarpAccessFault::Symbolic => {
                let message = format!("the offsets of `{}` depend on symbols", self.name);
                Diagnostic::error(Code::AccessRange, message, place, "")
                    .note("accesses are counted for constant offsets only")
                    .help("declare the tile with constant extents, as a tensor of its own")
            }
            WarpAccessFault::Arithmetic(error) => {
                super::expr::overflow(error, error.to_string(), place)
            }
        }
    }
}

/// Accesses with the given names, all if there are none.
///
/// # Errors
/// `name::unknown` for each name of no access; `kdl::missing` at `place` if the tensor declares no access.
pub(super) fn named<'a>(
    accesses: &'a [WarpAccess],
    names: &[SpannedText],
    (tensor, place): (&str, FileSpan),
) -> CheckResult<Vec<&'a WarpAccess>> {
    if names.is_empty() && accesses.is_empty() {
        let message = format!("`{tensor}` declares no access");
        let error = Diagnostic::error(Code::KdlMissing, message, place, "");
        return Err(vec![error.help(
            "declare one in the tensor: `access load from=\"(lane) -> (lane // 8, lane % 8 * 8)\" vector=8`",
        )]);
    }
    if names.is_empty() {
        return Ok(accesses.iter().collect());
    }
    let (mut found, mut errors) = (Vec::new(), Vec::new());
    for name in names {
        match accesses.iter().find(|access| access.name == name.value) {
            Some(access) => found.push(access),
            None => {
                let message = format!("`{tensor}` has no access `{}`", name.value);
                let at = FileSpan::new(&place.file, name.span.clone());
                let known = accesses.iter().map(|access| access.name.as_str());
                let error = Diagnostic::error(Code::NameUnknown, message, at, "");
                errors.push(error.nearest_or_all(&name.value, "accesses", known));
            }
        }
    }
    if errors.is_empty() { Ok(found) } else { Err(errors) }
}
