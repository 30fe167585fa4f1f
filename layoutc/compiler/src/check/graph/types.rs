//! Element type rules of operators: which operands and results must have equal element types.

use super::tensor_types::GraphTensorType;
use crate::manifest::syntax::TypeRule;

/// Two tensors whose element types differ although `rule` requires equal ones; `None` if there are none. Each is a pair
/// (tensor, true if it is an operand).
pub(super) fn clash<'k>(
    rule: TypeRule,
    operands: &[&'k GraphTensorType],
    results: &[&'k GraphTensorType],
) -> Option<[(&'k GraphTensorType, bool); 2]> {
    let read = operands.iter().map(|tensor| (*tensor, true));
    let given = results.iter().map(|tensor| (*tensor, false));
    let alike: Vec<(&GraphTensorType, bool)> = match rule {
        TypeRule::Any => Vec::new(),
        TypeRule::One => read.chain(given).collect(),
        TypeRule::First => read.take(1).chain(given.take(1)).collect(),
        TypeRule::Compare => read.collect(),
        TypeRule::Select => read.skip(1).chain(given).collect(),
    };
    let first = *alike.first()?;
    let other = alike.into_iter().find(|(tensor, _)| tensor.dtype != first.0.dtype)?;
    Some([first, other])
}
