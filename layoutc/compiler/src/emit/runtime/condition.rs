//! Conditions on parameters of the runtime: comparisons of integers, joined by `&&` and `||`.

use super::expand::is_parameter;

/// True if a condition of the C preprocessor contains a parameter.
pub(super) fn has_parameters(condition: &str) -> bool {
    condition.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(is_parameter)
}

/// Value of a condition, where `value` has the value of a parameter: `BYTES > 1 && BYTES < 16`. `None` if it has
/// another form or an unknown parameter.
pub(super) fn holds(condition: &str, value: &impl Fn(&str) -> Option<i64>) -> Option<bool> {
    let mut is_any = false;
    for terms in condition.split("||") {
        let mut are_all = true;
        for term in terms.split("&&") {
            are_all &= comparison(term.trim(), value)?;
        }
        is_any |= are_all;
    }
    Some(is_any)
}

/// Comparison of two operands, or a single operand, which is true unless it is 0.
fn comparison(text: &str, value: &impl Fn(&str) -> Option<i64>) -> Option<bool> {
    let operand = |name: &str| name.parse().ok().or_else(|| value(name));
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.as_slice() {
        [a] => Some(operand(a)? != 0),
        [a, operator, b] => {
            let (a, b) = (operand(a)?, operand(b)?);
            match *operator {
                "==" => Some(a == b),
                "!=" => Some(a != b),
                "<" => Some(a < b),
                "<=" => Some(a <= b),
                ">" => Some(a > b),
                ">=" => Some(a >= b),
                _ => None,
            }
        }
        _ => None,
    }
}
