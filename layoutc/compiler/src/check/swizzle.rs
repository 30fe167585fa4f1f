//! The step `swizzle`: its numbers in elements.

use layoutc_algebra::swizzle::{Swizzle, SwizzleError};

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Place};
use crate::manifest::syntax::{Number, SwizzleUnit};

/// The swizzle of three numbers, for elements of so many bits.
pub(super) fn swizzle(
    [bits, base, shift]: [&Number; 3],
    unit: SwizzleUnit,
    element_bits: u32,
    place: &dyn Fn(&Number) -> Place,
) -> Result<Swizzle, Diagnostic> {
    let (b, m, s) = (bits.value, base.value, shift.value);
    let made = match unit {
        SwizzleUnit::Elements => Swizzle::new(b, m, s),
        SwizzleUnit::Bytes => Swizzle::of_bytes(b, m, s, element_bits),
    };
    made.map_err(|error| {
        let (blamed, help) = match error {
            SwizzleError::Overlap { bits, shift: down } if down < 0 => {
                (shift, format!("write `-{bits}` or less"))
            }
            SwizzleError::Overlap { bits, .. } => (shift, format!("write `{bits}` or more")),
            SwizzleError::Range => {
                (bits, "write smaller numbers, none but the shift below 0".to_owned())
            }
            SwizzleError::Unit { .. } => {
                let help =
                    "the lowest bit counts whole elements: take a larger base, or `unit=elements`";
                (base, help.to_owned())
            }
        };
        Diagnostic::error(Code::StepValue, error.to_string(), place(blamed), "").help(help)
    })
}
