//! Conversion of the model to template values: a structure becomes a map with sorted keys, a syntax tree the value that
//! it serializes to.

use std::collections::BTreeMap;
use std::sync::Arc;

use minijinja::value::{Enumerator, Object, ObjectRepr, Serde, Value};
use serde::Serialize;

use super::model::{
    ArithmeticUnit, AxisUnit, BenchUnit, BufferAlignment, BufferUnit, CallUnit, CastFloat,
    CastSide, CastUnit, ComputeBenchUnit, ComputeMemoryUnit, ComputeTestUnit, ComputeUnit,
    ComputedUnit, Constant, ConvertUnit, EmitOptions, Files, FloatBits, HeldUnit, ImageUnit,
    KernelUnit, KernelsUnit, Language, LocalUnit, MacroUnit, MeshAxisUnit, OperandTestUnit,
    OperatorUnit, PackFromUnit, Packed, ParamUnit, RangeUnit, RegisterTransposeUnit, ReshardUnit,
    RingUnit, ScheduleUnit, ShardingUnit, SmallFloat, SpaceUnit, Structure, TensorUnit,
    TestTensorUnit, TestUnit, UnalignedUnit, Unit, ViewTestUnit, ViewUnit,
};
use super::umbrella::Umbrella;
use crate::emit::syntax::{Expr, Function, Stmt};

/// Types that convert to a template value.
pub trait TemplateValue {
    /// Template value of `self`.
    fn to_template_value(&self) -> Value;
}

/// Structure as pairs (field name, value) in declaration order.
#[derive(Debug)]
struct Record(Vec<(&'static str, Value)>);

impl Object for Record {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        self.0.iter().find(|(name, _)| *name == key).map(|(_, field)| field.clone())
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        let mut names: Vec<&str> = self.0.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        Enumerator::Values(names.into_iter().map(Value::from).collect())
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        Some(self.0.len())
    }
}

/// Implements `TemplateValue` for structures by a list of their fields, which must be complete.
macro_rules! show {
    ($($record:ident { $($field:ident),* $(,)? })*) => {$(
        impl TemplateValue for $record {
            fn to_template_value(&self) -> Value {
                let Self { $($field),* } = self;
                Value::from_object(Record(vec![$((stringify!($field), $field.to_template_value())),*]))
            }
        }
    )*};
}

show! {
    Unit {
        version, target, generator, manifest, files, guard, stamp_name, stamp, emit, language,
        header_includes, source_includes, host_helpers, wide_helpers, helpers, runtime, runtime_header, runtime_stamp, register_transposes, test_helpers,
        conversions, float_bits, casts, arithmetic, test_arithmetic, structures, tensors, views, converts, reshards, computes,
        computed, schedules,
    }
    ScheduleUnit { name, ident, upper, cost, lower_bound, buffers, operators, load, run }
    BufferUnit { name, element, layout, bytes, bytes_name, role, held }
    HeldUnit { name, layout, is_output }
    OperatorUnit { name, doc, params }
    ParamUnit { name, buffer, written }
    CallUnit { name, is_operator, buffers }
    ComputeUnit { name, kernel, function, short, is_relayout, test, bench, moves }
    ComputeTestUnit { plain, samples, symbols, cases, operands, locals }
    OperandTestUnit {
        name, computed, symbols, is_filled, first, count, is_written, pads, is_sampled, absolute,
        relative,
    }
    ArithmeticUnit { function, form, element, is_float, unsigned }
    LocalUnit { name, of_kernel, in_buffer, bytes }
    ComputedUnit { tensor, numbers, is_filled, is_written }
    ComputeBenchUnit { values, elements, operations, bytes, memory }
    ComputeMemoryUnit { in_buffer, bytes, one }
    FloatBits { guard, name, from, to }
    CastUnit {
        cast, name, guard, doc, form, parts, from, to, word, signed_word, word_bits, top_field,
        dropped, shift, shift_only, least, beyond, may_overflow, low, high, low_result, high_result,
        single_bits, single_of_bits, rebias, unit, unit_bits,
    }
    CastSide { dtype, element, bits_type, to_bits, of_bits, mask, most, signed, float }
    CastFloat { mantissa_bits, bias, sign_shift, greatest, last, nan, ieee, has_nan, unsigned_zero }
    PackFromUnit { dtype, in_buffer, pack, unpack }
    Files { stem, header, source, test, bench, mpi_header, mpi_source, mpi_test }
    Language {
        name, standard, index, index_format, inline, pointer, work_size, helper, wide_index,
        wide_helper, title, header_suffix, runtime, compiler_macro,
    }
    EmitOptions { constants, index, pack, test, bench, macros, openmp }
    SmallFloat {
        name, holder, exponent_bits, mantissa_bits, bias, sign_shift, greatest, overflow, nan,
        ieee, has_nan, unsigned_zero,
    }
    Structure { name, guard, members, asserts }
    Constant { name, value }
    MacroUnit { name, function, params, value }
    BenchUnit { values, bytes, from_bytes, to_bytes }
    AxisUnit { name, extent, labels }
    Packed { load, store, bits, shift, in_whole, bytes, mask, sign, high_first }
    ImageUnit { rank, per_texel, lane, scalar, formats, fetch, put }
    KernelsUnit { function, stream, symbols_ok, kernels }
    RangeUnit { name, items, may_be_none, threads, last_thread, blocks }
    RegisterTransposeUnit { name, element, from, to, rows, columns }
    KernelUnit { function, axes, empty, group, each_group, alignment, unaligned, constants, counts }
    BufferAlignment { bytes, last_byte }
    UnalignedUnit { function, axes, constants, counts }
    TensorUnit {
        name, ident, upper, dtype, element, in_buffer, pack_from, packed, axes, storage_axes,
        physical, map, memory_space, sharding, ring, steps, constants, counts, counts_guard, symbols_ok, offset, indices, macros, logical,
        domain, in_domain, pack, unpack, image, moves, test, bench,
    }
    ShardingUnit { mesh, devices, mesh_axes, whole, cuts, replicas, uneven, functions }
    MeshAxisUnit { name, size, stride }
    RingUnit { axis, name, held, whole, at }
    ReshardUnit {
        name, from, to, axes, ranks, repeated, typed, element_bytes, max_staging, fill, least_bytes,
        sent_bytes, messages,
    }
    SpaceUnit { name, bytes }
    TestUnit {
        plain, symbols, cases, axes, physical, dense, slot, elements, dense_elements, outside, slots,
        logical_bytes, physical_bytes, fill, searches,
    }
    TestTensorUnit { name, ident, dtype, element, in_buffer, packed, in_domain, is_view, test }
    ViewUnit {
        name, ident, upper, of, buffer, window, writable, dtype, element, lane, lanes, own_type,
        in_buffer, recast, element_bytes, packed, axes, physical, map, constants, counts,
        counts_guard, symbols_ok, offset, indices, load, store, image, pack, unpack, test,
    }
    ViewTestUnit {
        plain, plain_lane, joined, symbols, cases, axes, dense, elements, slots, dense_bytes, bytes,
    }
    ConvertUnit {
        function, moves, from, to, axes, cast, symbols, cases, bench,
    }
    Umbrella { generator, guard, includes }
}

macro_rules! show_plain {
    ($($plain:ty)*) => {$(
        impl TemplateValue for $plain {
            fn to_template_value(&self) -> Value {
                Value::from(*self)
            }
        }
    )*};
}

show_plain! { bool i64 u32 u64 usize }

impl TemplateValue for String {
    fn to_template_value(&self) -> Value {
        Value::from(self.as_str())
    }
}

impl<T: TemplateValue> TemplateValue for Vec<T> {
    fn to_template_value(&self) -> Value {
        Value::from_object(self.iter().map(T::to_template_value).collect::<Vec<_>>())
    }
}

impl<T: TemplateValue> TemplateValue for Option<T> {
    fn to_template_value(&self) -> Value {
        self.as_ref().map_or(Value::from(()), T::to_template_value)
    }
}

macro_rules! show_trees {
    ($($tree:ty)*) => {$(
        impl TemplateValue for $tree {
            fn to_template_value(&self) -> Value {
                serialised(self)
            }
        }
    )*};
}

show_trees! { Expr Function Stmt }

fn serialised(tree: &impl Serialize) -> Value {
    in_order(Value::from(Serde(tree)))
}

fn in_order(value: Value) -> Value {
    let Some(object) = value.as_object() else { return value };
    if object.repr() == ObjectRepr::Seq {
        return object.try_iter().into_iter().flatten().map(in_order).collect();
    }
    let fields = object.try_iter_pairs().into_iter().flatten();
    let fields = fields.map(|(name, field)| (name, in_order(field)));
    Value::from_object(fields.collect::<BTreeMap<Value, Value>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::emit::language::LANGUAGES;
    use crate::emit::{Part, Settings, unit};
    use crate::{Compiler, MemorySources};

    const MANIFEST: &str = r#"
symbol batch min=0 max=1000

tensor texture dtype=f16 {
    shape { n 2; h 5; c 8 }
    layout {
        map "(n, h, c) -> (n, c // 4 | h, c % 4)"
        fill 1
    }
    memory texture
}

tensor nibbles dtype=i4 {
    shape { n batch; c 3 }
}

tensor skewed dtype=c64 {
    shape { n 3; c 4 }
    layout {
        map "(n, c) -> (n, (n + c) % 5)"
        padding allow
    }
}

tensor flat dtype=c64 like=skewed {
}

tensor halves dtype=f16 pack-from=f32 cast=saturate {
    shape { n 40; c 80 }
    layout { order c n }
}

tensor bytes dtype=i8 {
    shape { n 40; c 80 }
}

view texels of=texture dtype=f16x4

view row of=nibbles {
    shape { n batch; c 2 }
    map "(n, c) -> (n, c + 1)"
}

convert skewed to=flat
convert halves to=bytes cast=round

kernel sums {
    operands A B
    compute "T[n] += f32(A[n, c])"
    compute "B[n, c] = i32(A[n, c] - T[n])"
    local T dtype=f32
}
instance rows of=sums A=halves B=bytes
"#;

    #[test]
    fn template_values_equal_serialized_json() -> Result<(), serde_json::Error> {
        let sources = MemorySources::of("a.kdl", MANIFEST);
        let checked = Compiler::new(&sources, &Config::default()).check(&["a.kdl".to_owned()]);
        assert_eq!(checked.diagnostics, []);
        let asked =
            [Part::Constants, Part::Index, Part::Pack, Part::Test, Part::Bench, Part::Macros];
        for language in LANGUAGES {
            let settings = Settings { emit: asked.into_iter().collect(), ..Settings::of(language) };
            for manifest in &checked.manifests {
                let unit = unit::build(manifest, &settings, "a");
                assert_eq!(unit.as_ref().err(), None);
                if let Ok(unit) = unit {
                    let serialised = serde_json::to_value(&unit)?;
                    assert_eq!(serde_json::to_value(unit.to_template_value())?, serialised);
                }
            }
        }
        Ok(())
    }
}
