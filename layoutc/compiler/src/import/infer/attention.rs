//! Shape inference for attention operators and causal convolution.

use crate::import::call::{OnnxCall, ShapedTensor, check_overflow, extent};
use crate::import::error::{ShapeResult, listed, mismatch};

/// Shape of an attention operator's operand: batch, number of heads, sequence length (`steps`), size of a head.
struct AttentionShape {
    batch: u64,
    count: u64,
    steps: u64,
    size: u64,
}

/// Shape of operand `k`, which is `[batch, heads, steps, size]`, or `[batch, steps, heads * size]` with the number of
/// heads in the attribute `attribute`.
fn heads(call: &OnnxCall<'_>, k: usize, attribute: &str) -> ShapeResult<AttentionShape> {
    match call.shape(k)? {
        [batch, heads, steps, size] => {
            Ok(AttentionShape { batch: *batch, count: *heads, steps: *steps, size: *size })
        }
        [batch, steps, all] => {
            let heads = extent(call.integer(attribute).unwrap_or(0))?;
            if heads == 0 || all % heads != 0 {
                return mismatch(format!("`{attribute}` = {heads} does not divide {all}"));
            }
            Ok(AttentionShape { batch: *batch, count: heads, steps: *steps, size: all / heads })
        }
        shape => mismatch(format!("{} has neither rank 3 nor rank 4", listed(shape))),
    }
}

/// Results of `Attention`: the output, the keys with the past keys prepended, the values with the past values
/// prepended, and the scores.
pub(super) fn attention(call: &OnnxCall<'_>) -> ShapeResult<Vec<ShapedTensor>> {
    let (query, key) = (heads(call, 0, "q_num_heads")?, heads(call, 1, "kv_num_heads")?);
    let value = heads(call, 2, "kv_num_heads")?;
    let fits = query.batch == key.batch && key.batch == value.batch && key.steps == value.steps;
    let is_grouped = key.count == value.count && key.count > 0 && query.count % key.count == 0;
    if !fits || !is_grouped || query.size != key.size {
        let (query, key) = (listed(call.shape(0)?), listed(call.shape(1)?));
        return mismatch(format!(
            "query {query} does not match key {key} and value {}",
            listed(call.shape(2)?)
        ));
    }
    let past = match call.optional(4) {
        None => 0,
        Some(past) => match past.shape[..] {
            [_, _, past, _] => past,
            _ => return mismatch(format!("{} does not have rank 4", listed(&past.shape))),
        },
    };
    let total = check_overflow(key.steps.checked_add(past))?;
    let result = if call.shape(0)?.len() == 4 {
        vec![query.batch, query.count, query.steps, value.size]
    } else {
        vec![query.batch, query.steps, check_overflow(query.count.checked_mul(value.size))?]
    };
    let (dtype, of_values) = (call.input(0)?.dtype, call.input(2)?.dtype);
    let cache = |size: u64| vec![key.batch, key.count, total, size];
    Ok(vec![
        ShapedTensor::new(dtype, result),
        ShapedTensor::new(call.input(1)?.dtype, cache(key.size)),
        ShapedTensor::new(of_values, cache(value.size)),
        ShapedTensor::new(dtype, vec![query.batch, query.count, query.steps, total]),
    ])
}

/// Results of `LinearAttention`: the output `[batch, steps, heads * size]`, and the state
/// `[batch, heads, key size, value size]`.
pub(super) fn linear_attention(call: &OnnxCall<'_>) -> ShapeResult<Vec<ShapedTensor>> {
    let (query, key) = (heads(call, 0, "q_num_heads")?, heads(call, 1, "kv_num_heads")?);
    let value = heads(call, 2, "kv_num_heads")?;
    let packed = check_overflow(query.count.checked_mul(value.size))?;
    let dtype = call.input(0)?.dtype;
    let of_state = call.optional(3).map_or(dtype, |past| past.dtype);
    Ok(vec![
        ShapedTensor::new(dtype, vec![query.batch, query.steps, packed]),
        ShapedTensor::new(of_state, vec![key.batch, key.count, key.size, value.size]),
    ])
}

/// Results of `CausalConvWithState`: the output, with the shape of the data, and the last `kernel - 1` elements of each
/// channel.
pub(super) fn causal_conv(call: &OnnxCall<'_>) -> ShapeResult<Vec<ShapedTensor>> {
    let (data, filter) = (call.input(0)?, call.shape(1)?);
    let length = filter.get(2).and_then(|size| size.checked_sub(1));
    let ([batch, channels, _], [_, _, _], Some(length)) = (data.shape.as_slice(), filter, length)
    else {
        return mismatch(format!("cannot filter {} by {}", listed(&data.shape), listed(filter)));
    };
    let state = vec![*batch, *channels, length];
    Ok(vec![data.unknown(), ShapedTensor::new(data.dtype, state)])
}
