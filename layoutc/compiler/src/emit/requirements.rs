//! Unions of the [requirements](crate::passes::requirements) of a unit's functions, and the helper functions and
//! standard headers for them.

use super::dialect::{Assert, Dialect};
use super::model::{ComputeUnit, KernelUnit, Unit};
use super::shared::Shared;
use crate::emit::syntax::{Expr, Function, Returns};
use crate::passes::{IndexHelper, Library, Requirements};

/// Size functions of the tensors and views.
fn counts(unit: &Unit) -> impl Iterator<Item = &Shared<Function>> {
    let views = unit.views.iter().flat_map(|view| &view.counts);
    unit.tensors.iter().flat_map(|tensor| &tensor.counts).chain(views)
}

/// Requirements of the functions in the host's header: sizes, conditions on symbols and launch ranges.
pub(super) fn of_host(unit: &Unit) -> Requirements {
    let tensors = unit.tensors.iter().flat_map(|tensor| &tensor.symbols_ok);
    let views = unit.views.iter().flat_map(|view| &view.symbols_ok);
    let kernels = kernels(unit).flat_map(|kernel| {
        let plain = kernel.unaligned.iter().flat_map(|plain| &plain.counts);
        kernel.counts.iter().chain(plain)
    });
    Shared::union(counts(unit).chain(tensors).chain(views).chain(kernels))
}

/// Requirements of the functions that return byte counts.
pub(super) fn of_bytes(unit: &Unit) -> Requirements {
    Shared::union(counts(unit).filter(|function| function.returns == Returns::Bytes))
}

/// Requirements of the reference implementations in the test program.
pub(super) fn of_tests(unit: &Unit) -> Requirements {
    let tensors = unit.tensors.iter().map(|tensor| &tensor.test.plain);
    let views = unit.views.iter().map(|view| &view.test);
    let views = views.flat_map(|test| [&test.plain].into_iter().chain(&test.plain_lane));
    let computes = unit.computes.iter().filter_map(|compute| compute.test.as_ref());
    Shared::union(tensors.chain(views).chain(computes.map(|test| &test.plain)))
}

/// Requirements of the CPU functions that copy or compute elements.
pub(super) fn of_cores(unit: &Unit) -> Requirements {
    let tensors = unit.tensors.iter().flat_map(|tensor| tensor.pack.iter().chain(&tensor.unpack));
    let views = unit.views.iter().flat_map(|view| view.pack.iter().chain(&view.unpack));
    let converts = unit.converts.iter().map(|convert| &convert.function);
    let computes = unit.computes.iter().flat_map(ComputeUnit::on_cores);
    Shared::union(tensors.chain(views).chain(converts).chain(computes))
}

/// Requirements of the GPU kernels.
pub(super) fn of_kernels(unit: &Unit) -> Requirements {
    let unaligned = kernels(unit).filter_map(|kernel| kernel.unaligned.as_ref());
    let unaligned = unaligned.map(|kernel| &kernel.function);
    Shared::union(kernels(unit).map(|kernel| &kernel.function).chain(unaligned))
}

/// Requirements of the index and size functions of tensors and views.
pub(super) fn of_indices(unit: &Unit) -> Requirements {
    let tensors = unit.tensors.iter().flat_map(|tensor| {
        let functions = tensor.indices.iter().chain(&tensor.symbols_ok).chain(&tensor.in_domain);
        let sharding = tensor.sharding.iter().flat_map(|sharding| &sharding.functions);
        let ring = tensor.ring.iter().map(|ring| &ring.at);
        functions.chain([&tensor.offset, &tensor.logical]).chain(sharding).chain(ring)
    });
    let views = unit
        .views
        .iter()
        .flat_map(|view| view.indices.iter().chain(&view.symbols_ok).chain([&view.offset]));
    Shared::union(counts(unit).chain(tensors).chain(views))
}

/// Requirements of the launch ranges of the kernels, if `has_kernels` is true, and of the sizes and offsets of tensors
/// and views in the test program.
pub(super) fn of_sizes(unit: &Unit, has_kernels: bool) -> Requirements {
    let mut sizes: Vec<&Shared<Expr>> = Vec::new();
    for kernel in kernels(unit).filter(|_| has_kernels) {
        let plain = kernel.unaligned.iter().flat_map(|plain| &plain.axes);
        sizes.extend(kernel.axes.iter().chain(plain).map(|axis| &axis.items));
    }
    for test in unit.tensors.iter().map(|tensor| &tensor.test) {
        sizes.extend([&test.elements, &test.slots, &test.logical_bytes, &test.physical_bytes]);
        sizes.extend([&test.dense, &test.slot]);
        sizes.extend(test.axes.iter().chain(&test.physical).map(|axis| &axis.extent));
    }
    for test in unit.views.iter().map(|view| &view.test) {
        sizes.extend([&test.elements, &test.slots, &test.dense_bytes, &test.bytes, &test.dense]);
        sizes.extend(test.axes.iter().map(|axis| &axis.extent));
    }
    Shared::union(sizes)
}

fn kernels(unit: &Unit) -> impl Iterator<Item = &KernelUnit> {
    let tensors = unit.tensors.iter().flat_map(|tensor| &tensor.moves);
    let converts = unit.converts.iter().filter_map(|convert| convert.moves.as_ref());
    let computes = unit.computes.iter().filter_map(|compute| compute.moves.as_ref());
    tensors.chain(converts).chain(computes).flat_map(|moves| &moves.kernels)
}

/// Names of the helper functions on indices, sorted.
pub(super) fn helpers(needs: &Requirements) -> Vec<String> {
    let name = |helper: &IndexHelper| match helper {
        IndexHelper::FloorDiv => "floor_div",
        IndexHelper::FloorMod => "floor_mod",
        IndexHelper::Hilbert => "hilbert",
        IndexHelper::HilbertCell => "hilbert_cell",
        IndexHelper::Max => "max",
        IndexHelper::Min => "min",
    };
    needs.index.iter().map(|helper| name(helper).to_owned()).collect()
}

/// Standard headers that a source with these requirements includes, sorted; some of `assert.h`, the header of
/// asynchronous copies, `math.h` and `string.h`.
pub(super) fn includes(needs: &Requirements, dialect: &Dialect) -> Vec<String> {
    let is_moved = needs.moved.iter().any(|dtype| dialect.moves_bits.contains(dtype));
    let has = |part: Library| needs.library.contains(&part);
    let headers = [
        ("assert.h", has(Library::Assert) && matches!(dialect.assert, Assert::Abort)),
        (dialect.groups.async_copy.header, has(Library::AsyncCopies)),
        ("math.h", has(Library::Math)),
        ("string.h", has(Library::Memory) || is_moved),
    ];
    headers.into_iter().filter(|row| row.1).map(|row| row.0.to_owned()).collect()
}
