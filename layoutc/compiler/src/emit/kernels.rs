//! Template model of GPU kernels: functions, launch configurations, and images that they access.

use super::Settings;
use super::model::{
    BufferAlignment, Constant, ImageUnit, KernelUnit, KernelsUnit, RangeUnit, UnalignedUnit,
};
use super::shared::Shared;
use crate::base::dtype::Scalar;
use crate::emit::syntax::{Expr, Function};
use crate::ir::{self, LoopKind, Param, ParamType, Returns, Stmt};
use crate::loops::error::PlanError;
use crate::loops::image;
use crate::lower::context::Naming;
use crate::lower::launch::{Items, Kernel, Unaligned};
use crate::machine::GPU;
use crate::model::compute::KernelInstance;
use crate::model::{Convert, Manifest, Tensor};
use crate::passes::{index_width, synchronous};
use crate::plan;

/// Template model of the image that a tensor is stored in; `None` if the tensor is not in an image. `ident` is the
/// identifier of the tensor or view, with which the names start.
pub(super) fn image(tensor: &Tensor, ident: &str) -> Result<Option<ImageUnit>, PlanError> {
    let Some(image) = image::of(tensor)? else { return Ok(None) };
    let (lane, channel_type) = match tensor.dtype.scalar {
        Scalar::I8 => ("int", "CL_SIGNED_INT8"),
        Scalar::I16 => ("int", "CL_SIGNED_INT16"),
        Scalar::I32 => ("int", "CL_SIGNED_INT32"),
        Scalar::U8 => ("uint", "CL_UNSIGNED_INT8"),
        Scalar::U16 => ("uint", "CL_UNSIGNED_INT16"),
        Scalar::U32 => ("uint", "CL_UNSIGNED_INT32"),
        Scalar::F16 => ("float", "CL_HALF_FLOAT"),
        _ => ("float", "CL_FLOAT"),
    };
    let upper = ident.to_ascii_uppercase();
    let scalar = crate::base::dtype::Dtype { lanes: 1, ..tensor.dtype };
    Ok(Some(ImageUnit {
        rank: image.rank,
        per_texel: image.per_texel,
        lane: lane.to_owned(),
        scalar: scalar.to_string(),
        formats: vec![
            Constant { name: format!("{upper}_IMAGE_CHANNEL_ORDER"), value: Expr::name("CL_RGBA") },
            Constant {
                name: format!("{upper}_IMAGE_CHANNEL_TYPE"),
                value: Expr::name(channel_type),
            },
        ]
        .into(),
        fetch: format!("{ident}_fetch"),
        put: format!("{ident}_put"),
    }))
}

/// Template models of pack and unpack, in this order; empty if kernels cannot access the tensor's memory.
pub(super) fn moves(
    tensor: &Tensor,
    naming: &Naming<'_>,
    settings: &Settings,
) -> Result<Vec<KernelsUnit>, PlanError> {
    let moves = plan::gpu_relayouts(tensor, naming)?.into_iter();
    Ok(moves.filter_map(|plan| unit(plan.kernels, settings)).collect())
}

/// Kernels of a conversion between two tensors; `None` if there is no kernel.
pub(super) fn convert(
    manifest: &Manifest,
    convert: &Convert,
    naming: &Naming<'_>,
    settings: &Settings,
) -> Result<Option<KernelsUnit>, PlanError> {
    let plan = plan::gpu_convert(manifest, convert, naming)?;
    Ok(plan.and_then(|plan| unit(plan.kernels, settings)))
}

/// Kernels of a kernel instance of the manifest; `None` if there are none. A kernel that [`plan::gpu_copy_kernel`]
/// recognizes as a copy is planned as a relayout.
pub(super) fn compute(
    manifest: &Manifest,
    compute: &KernelInstance,
    naming: &Naming<'_>,
    settings: &Settings,
) -> Result<Option<KernelsUnit>, PlanError> {
    if let Some(plan) = plan::gpu_copy_kernel(manifest, compute, naming)? {
        return Ok(unit(plan.kernels, settings));
    }
    let mut kernels = plan::gpu_kernels(manifest, compute, naming)?;
    for kernel in &mut kernels {
        if settings.dialect.groups.async_copy.function.is_empty() {
            synchronous(&mut kernel.function);
        }
        index_width(&mut kernel.function, settings.dialect.index_max);
    }
    Ok(unit(kernels, settings))
}

/// Template model of kernels that run in this order; the last one gives the name and parameters of the whole. `None`
/// without kernels.
fn unit(kernels: Vec<Kernel>, settings: &Settings) -> Option<KernelsUnit> {
    let last = &kernels.last()?.function;
    let index = |param: &&Param| param.ty == ParamType::Index;
    let symbols: Vec<Param> = last.params.iter().filter(index).cloned().collect();
    let promised = last.body.iter().filter_map(|stmt| match stmt {
        Stmt::Assert { condition } => Some(condition.clone()),
        _ => None,
    });
    // Prefixes of the names in a launcher that belong to the kernels before the last.
    let several = kernels.len() > 2;
    let before = (1..kernels.len())
        .map(|k| if several { format!("first{k}_") } else { "first_".to_owned() })
        .chain([String::new()]);
    Some(KernelsUnit {
        stream: free("stream", &last.params),
        symbols_ok: promised.map(Shared::<Expr>::from).collect(),
        function: ir::Function { body: Vec::new(), ..last.clone() }.into(),
        kernels: kernels
            .into_iter()
            .zip(before)
            .map(|(k, b)| kernel_unit(k, &symbols, &b, settings))
            .collect(),
    })
}

fn kernel_unit(kernel: Kernel, symbols: &[Param], before: &str, settings: &Settings) -> KernelUnit {
    let range = axes(&kernel, before);
    let one_each = |stmt: &Stmt| matches!(stmt, Stmt::For { kind: LoopKind::Block, .. });
    let each_group = kernel.function.body.iter().any(one_each);
    let (mut constants, counts) = launch(&kernel, symbols);
    let bytes = kernel.unaligned.as_ref().map(|unaligned| unaligned.alignment_bytes);
    let name = &kernel.function.name;
    constants.extend(bytes.map(|bytes| Constant {
        name: format!("{}_BUFFER_ALIGNMENT", name.to_ascii_uppercase()),
        value: Expr::int(bytes),
    }));
    let unaligned = kernel.unaligned.filter(|_| settings.unaligned_buffers).map(|unaligned| {
        let Unaligned { mut plain, .. } = unaligned;
        plain.function.name = format!("{name}_unaligned");
        let (constants, counts) = launch(&plain, symbols);
        UnalignedUnit {
            axes: axes(&plain, &format!("{before}plain_")),
            function: plain.function.into(),
            constants: constants.into(),
            counts,
        }
    });
    KernelUnit {
        axes: range,
        empty: kernel.range.iter().any(|items| items.count == ir::Expr::int(0)),
        group: kernel.group,
        each_group,
        alignment: bytes.map(|bytes| BufferAlignment { bytes, last_byte: bytes.saturating_sub(1) }),
        unaligned,
        function: kernel.function.into(),
        constants: constants.into(),
        counts,
    }
}

/// Launch configuration of a kernel as the pair (constants, functions): a constant for each size that does not depend
/// on symbols, and a function of `symbols` for each other size.
fn launch(kernel: &Kernel, symbols: &[Param]) -> (Vec<Constant>, Vec<Shared<Function>>) {
    let name = &kernel.function.name;
    let upper = name.to_ascii_uppercase();
    let mut constants = vec![Constant {
        name: format!("{upper}_WORK_DIM"),
        value: Expr::int(i64::try_from(kernel.range.len()).unwrap_or(1)),
    }];
    if let Some(group) = kernel.group {
        let name = format!("{upper}_LOCAL_SIZE_0");
        constants.push(Constant { name, value: Expr::int(group) });
    }
    let mut counts = Vec::new();
    for (axis, Items { count: items, .. }) in kernel.range.iter().enumerate() {
        if let ir::Expr::Int { .. } = items {
            let name = format!("{upper}_GLOBAL_SIZE_{axis}");
            constants.push(Constant { name, value: items.clone().into() });
            continue;
        }
        let function = ir::Function {
            name: format!("{name}_global_size_{axis}"),
            doc: vec![format!("Work items of {name} along axis {axis} of its range.")],
            returns: Returns::Index,
            params: symbols.to_vec(),
            body: vec![Stmt::Return { value: items.clone() }],
        };
        counts.push(function.into());
    }
    (constants, counts)
}

/// Axes of a launch range, fastest first; `before` is the prefix of their names.
fn axes(kernel: &Kernel, before: &str) -> Vec<RangeUnit> {
    let names: &[&str] =
        if kernel.range.len() == 1 { &["items"] } else { &["columns", "rows", "layers"] };
    let params = &kernel.function.params;
    let threads = threads(kernel.range.len());
    let axes = kernel.range.iter().zip(names).zip(threads);
    let axes = axes.map(|((items, name), threads)| {
        let blocks = blocks(&items.count, *threads);
        let name = if blocks.is_some() { "blocks" } else { name };
        RangeUnit {
            name: free(&format!("{before}{name}"), params),
            blocks: blocks.map(Into::into),
            items: items.count.clone().into(),
            may_be_none: items.may_be_none,
            threads: *threads,
            last_thread: threads.saturating_sub(1),
        }
    });
    axes.collect()
}

/// Name based on `wanted` that no parameter has.
fn free(wanted: &str, params: &[Param]) -> String {
    let taken = |name: &str| params.iter().any(|param| param.name == name);
    let mut name = wanted.to_owned();
    while taken(&name) {
        name.push('_');
    }
    name
}

/// Number of threads of a block along each of `axes` axes, fastest first: 32 along the fastest of several axes, for
/// coalesced accesses.
fn threads(axes: usize) -> &'static [i64] {
    match axes {
        1 => &[GPU.threads],
        2 => &[32, 8],
        _ => &[32, 8, 1],
    }
}

/// `ceil(items / threads)` for a constant number of items, and for a product with the factor `threads`; `None`
/// otherwise.
fn blocks(items: &ir::Expr, threads: i64) -> Option<ir::Expr> {
    match items {
        ir::Expr::Int { value } => {
            let blocks = value.saturating_sub(1).div_euclid(threads).saturating_add(1);
            Some(ir::Expr::int(blocks))
        }
        ir::Expr::Mul { args } => match args.as_slice() {
            [blocks, factor] | [factor, blocks] if *factor == ir::Expr::int(threads) => {
                Some(blocks.clone())
            }
            _ => None,
        },
        _ => None,
    }
}
