//! Check that a target can represent a tensor: records, and on a target with GPU kernels the number of work items, the
//! physical rank, and for images the element type, whole texels and sizes. C can represent every tensor.

use layoutc_algebra::expr::Expr as Algebra;

use super::Settings;
use crate::base::codes::Code;
use crate::base::diagnostic::Diagnostic;
use crate::loops::heuristics::parallelize::Cores;
use crate::loops::image;
use crate::loops::image::LANES;
use crate::loops::relayout::plan::{Primitives, RelayoutOptions};
use crate::lower::context::{Context, Naming};
use crate::lower::expr::range;
use crate::model::{Manifest, Memory, Tensor};

/// Diagnostics for tensors that the target of `settings` cannot represent, each at the responsible part of the
/// manifest. Empty for C, which can represent every tensor.
pub(super) fn faults(manifest: &Manifest, settings: &Settings) -> Vec<Diagnostic> {
    let mut faults: Vec<Diagnostic> =
        manifest.tensors.iter().filter_map(|tensor| record_fault(tensor, settings)).collect();
    if settings.language.kernels {
        faults.extend(manifest.tensors.iter().flat_map(|tensor| of_tensor(tensor, settings)));
    }
    faults
}

/// Diagnostic for a tensor of records on a target whose language has none.
fn record_fault(tensor: &Tensor, settings: &Settings) -> Option<Diagnostic> {
    let is_record = settings.dialect.lacks.records && tensor.dtype.record().is_some();
    is_record.then(|| {
        let (name, target) = (&tensor.name, &settings.target);
        let message = format!("`{name}` has record elements, which `{target}` does not have");
        let place = tensor.places.dtype.clone();
        let fault = Diagnostic::error(Code::LimitGenerated, message, place, "");
        fault.help("keep the tensor to C: `targets=\"c\"`")
    })
}

fn of_tensor(tensor: &Tensor, settings: &Settings) -> Vec<Diagnostic> {
    let Some(rank) = image::rank_of(tensor.memory) else { return Vec::new() };
    if let Some(fault) = rank_fault(tensor, rank, settings) {
        return vec![fault];
    }
    if rank == 1 {
        return launch_fault(tensor, settings).into_iter().collect();
    }
    let mut faults: Vec<Diagnostic> = format_fault(tensor, settings).into_iter().collect();
    faults.extend(texel_fault(tensor));
    if faults.is_empty() {
        faults.extend(size_faults(tensor, settings));
    }
    faults
}

/// Diagnostic for a tensor in a buffer that has, or may have, more slots or logical elements than a launch on the
/// target can have work items; `None` for any other tensor.
fn launch_fault(tensor: &Tensor, settings: &Settings) -> Option<Diagnostic> {
    let counts = [tensor.layout.physical_elements(), tensor.layout.logical_elements()];
    let most = counts.map(|count| greatest(tensor, count).unwrap_or(i128::MAX));
    let most = most.into_iter().max()?;
    let limit = settings.language.limits.launch_max;
    if most <= limit {
        return None;
    }
    let (name, target) = (&tensor.name, &settings.target);
    let message = format!(
        "`{name}` has up to {most} slots; a launch on `{target}` has at most {limit} work items"
    );
    let place = tensor.places.layout.clone();
    let fault = Diagnostic::error(Code::LimitGenerated, message, place, "");
    Some(fault.help("split the tensor, or give the symbols a smaller `max`"))
}

/// Upper bound of `size`, an expression over the symbols of `tensor`, for all values of the symbols; `None` if no bound
/// is known.
fn greatest(tensor: &Tensor, size: &Algebra) -> Option<i128> {
    let avoid = |_: &str| false;
    let options = RelayoutOptions { cores: Cores::One, primitives: Primitives::None };
    let naming = Naming { prefix: "", avoid: &avoid, options };
    let context = Context::new(tensor, &naming);
    range(size, &|var| context.symbol(var)).high
}

/// Noun phrase for a memory in messages, with its article.
fn called(memory: Memory) -> &'static str {
    match memory {
        Memory::Image2d => "an image",
        Memory::Image2dArray => "an array of images",
        Memory::Global | Memory::Constant | Memory::Shared | Memory::Local | Memory::None => {
            "a buffer"
        }
    }
}

fn rank_fault(tensor: &Tensor, rank: u32, settings: &Settings) -> Option<Diagnostic> {
    let found = tensor.layout.physical_shape().len();
    if u32::try_from(found) == Ok(rank) {
        return None;
    }
    let (what, target) = (called(tensor.memory), &settings.target);
    let axes =
        |count: usize| if count == 1 { "1 axis".to_owned() } else { format!("{count} axes") };
    let wanted = axes(usize::try_from(rank).unwrap_or(1));
    let message = format!(
        "`{}` has {} in memory; {what} on `{target}` has {wanted}",
        tensor.name,
        axes(found)
    );
    let place = tensor.places.separators.clone();
    let fault = Diagnostic::error(Code::TargetRank, message, place, "");
    let elsewhere = "keep the tensor to C: `targets=\"c\"`";
    Some(match (rank, found) {
        (1, 2) => {
            fault.help("for an image write `memory texture`; for a buffer drop the separator")
        }
        (1, 3) => fault.help(
            "for an array of images write `memory image2d-array`; for a buffer drop the separators",
        ),
        (1, _) => fault.help("drop the separators").help(elsewhere),
        (_, fewer) if fewer < usize::try_from(rank).unwrap_or(1) => {
            fault.help("add a separator: `|` in the map, or `axis-separators AXIS`").help(elsewhere)
        }
        _ => fault.help("drop a separator").help(elsewhere),
    })
}

/// Help text: changes that move a tensor from an image to a buffer, which has one physical axis.
fn into_buffer(tensor: &Tensor) -> &'static str {
    match tensor.layout.separators().len() {
        0 => "`memory global`",
        1 => "`memory global`, and no separator",
        _ => "`memory global`, and no separators",
    }
}

fn format_fault(tensor: &Tensor, settings: &Settings) -> Option<Diagnostic> {
    if image::has_format(tensor.dtype) {
        return None;
    }
    let (dtype, what, target) = (tensor.dtype, called(tensor.memory), &settings.target);
    let message = format!("{what} of `{dtype}` elements does not exist on `{target}`");
    let fault = Diagnostic::error(Code::TargetFormat, message, tensor.places.dtype.clone(), "");
    let known = "f32, f16, i8, i16, i32, u8, u16, u32, and vectors of four of them";
    Some(
        fault
            .note(format!("images hold {known}"))
            .help(format!("keep the tensor in a buffer: {}", into_buffer(tensor))),
    )
}

fn texel_fault(tensor: &Tensor) -> Option<Diagnostic> {
    let extent = tensor.layout.physical_shape().last()?;
    if image::is_whole(tensor, extent) {
        return None;
    }
    let length = match extent.as_const() {
        Some(extent) => format!("{extent} elements"),
        None => "a number of elements that is not known to be a multiple of 4".to_owned(),
    };
    let message = format!(
        "a row of `{}` has {length}: texels of {LANES} are read and written whole",
        tensor.name
    );
    let fault = Diagnostic::error(Code::TargetTexel, message, tensor.places.separators.clone(), "");
    Some(fault.help(whole_texels(tensor)))
}

/// Help text: change by which each row has whole texels. It is a padding step before the separators, or in a map the
/// padded extent of the last item, or a multiple of the symbols. Empty if the tensor has no storage axis.
fn whole_texels(tensor: &Tensor) -> String {
    let Some(last) = tensor.layout.storage().last() else { return String::new() };
    let by_step = tensor.steps.iter().any(|step| step.starts_with("axis-separators"));
    let lanes = i128::from(LANES);
    match last.extent.as_const() {
        _ if by_step => format!(
            "let the last axis hold whole texels: `pad {} multiple={LANES}` before the separators",
            last.name
        ),
        Some(extent) => format!(
            "let the last item of the map hold whole texels: put ` : {}` behind it, which states its extent",
            extent.saturating_add(lanes - 1).div_euclid(lanes).saturating_mul(lanes)
        ),
        None => format!("say that the symbols are multiples: `multiple={LANES}`"),
    }
}

fn size_faults(tensor: &Tensor, settings: &Settings) -> Vec<Diagnostic> {
    let Ok(Some(image)) = image::of(tensor) else { return Vec::new() };
    let max = settings.image_max.get(usize::from(image.rank == 3)).copied().unwrap_or_default();
    let sizes = [Some(&image.width), Some(&image.height), image.layers.as_ref()];
    let what = ["texels wide", "rows high", "images long"];
    let mut faults = Vec::new();
    for (((size, max), what), axis) in sizes.into_iter().zip(max).zip(what).zip(0..) {
        let Some(size) = size else { continue };
        let reached = greatest(tensor, size);
        if reached.is_some_and(|reached| reached <= i128::from(max)) {
            continue;
        }
        let figure = match (size.as_const(), reached) {
            (Some(size), _) => format!("{size}"),
            (None, Some(reached)) => format!("up to {reached}"),
            (None, None) => "any number of".to_owned(),
        };
        let (name, target) = (&tensor.name, &settings.target);
        let message =
            format!("the image of `{name}` is {figure} {what}; on `{target}` the most is {max}");
        let place = tensor.places.memory.clone();
        let fault = Diagnostic::error(Code::TargetImageSize, message, place, "");
        let elsewhere =
            format!("move the separator, or keep the tensor in a buffer: {}", into_buffer(tensor));
        let fault = match size.as_const() {
            Some(_) => fault,
            None => fault.help("give the symbols a smaller `max`"),
        };
        // Width and height are configurable, the number of images in an array is not.
        let device = match settings.language.image_key.filter(|_| axis < 2) {
            Some(key) => format!("; `{key}` in `[target.{target}]` says what the device has"),
            None => String::new(),
        };
        faults.push(fault.help(format!("{elsewhere}{device}")));
    }
    faults
}
