//! Checks of the step `swizzle`: conversion of its numbers or its mode to a [`Swizzle`].

use layoutc_algebra::builder::LayoutBuilder;
use layoutc_algebra::expr::Expr;
use layoutc_algebra::layout::swizzle::{Swizzle, SwizzleError};
use layoutc_algebra::symbol::Axis;

use crate::base::codes::Code;
use crate::base::diagnostic::{Diagnostic, FileSpan};
use crate::manifest::syntax::{IntegerLiteral, SwizzleUnit};

/// Swizzle `Swizzle<bits, base, shift>` as in CuTe, with the three numbers of the step: they refer to the bits of an
/// element offset or of a byte offset, according to `unit`. `place` returns the location of a number. `Err` for numbers
/// out of range, overlapping bit fields, or a byte offset that splits elements of `element_bits` bits.
pub(super) fn swizzle(
    [bits, base, shift]: [&IntegerLiteral; 3],
    unit: SwizzleUnit,
    element_bits: u32,
    place: &dyn Fn(&IntegerLiteral) -> FileSpan,
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
                (bits, "write smaller numbers; only the shift may be negative".to_owned())
            }
            SwizzleError::Unit { .. } => {
                let help =
                    "use a larger base, so that the lowest bit selects whole elements, or `unit=elements`";
                (base, help.to_owned())
            }
        };
        Diagnostic::error(Code::StepValue, error.to_string(), place(blamed), "").help(help)
    })
}

/// Swizzle mode of the CUDA tensor memory accelerator (TMA): permutes 16-byte chunks within rows of at most 32, 64 or
/// 128 bytes.
pub(super) struct TmaSwizzleMode<'a> {
    /// Maximum width of a row in bytes: 32, 64 or 128.
    pub(super) row: &'a IntegerLiteral,
    pub(super) place: FileSpan,
}

impl TmaSwizzleMode<'_> {
    /// Required alignment of the base address, in bytes: the size of 8 rows of the maximum width, after which the
    /// pattern of address bits repeats.
    pub(super) fn alignment(&self) -> u64 {
        u64::try_from(self.row.value.saturating_mul(8)).unwrap_or(1)
    }

    /// Swizzle of this mode for the layout under construction of the tensor named `tensor`.
    ///
    /// # Errors
    /// `step::value` if the elements do not divide 16 bytes, or a row is wider than the mode.
    pub(super) fn swizzle(
        &self,
        builder: &LayoutBuilder,
        tensor: &str,
    ) -> Result<Swizzle, Diagnostic> {
        let element_bits = builder.element_bits();
        let bits = i128::from(self.row.value.trailing_zeros()) - 4;
        let made = Swizzle::of_bytes(bits, 4, 3, element_bits);
        let fault =
            |message: String| Diagnostic::error(Code::StepValue, message, self.place.clone(), "");
        let swizzle = made.map_err(|_| {
            fault(format!("16 bytes are not a power of two of elements of {element_bits} bits"))
                .help("use elements of 1, 2, 4, 8 or 16 bytes: a mode permutes chunks of 16 bytes")
        })?;
        let Some(row) = row(builder) else { return Ok(swizzle) };
        let most = builder.facts().bounds(&row.extent).map_or(i128::MAX, |(_, most)| most);
        let wide = most.saturating_mul(element_bits.into()).saturating_add(7) / 8;
        if wide <= self.row.value {
            return Ok(swizzle);
        }
        let elements = self.row.value * 8 / i128::from(element_bits.max(1));
        let takes = match row.extent.as_const() {
            Some(_) => format!("has {wide} bytes"),
            None => format!("has up to {wide} bytes"),
        };
        let (mode, axis) = (self.row.value, &row.name);
        let message = format!(
            "a row of `{tensor}` along `{axis}` {takes}; the limit of mode `{mode}B` is {mode}"
        );
        let help = format!(
            "split the rows first: `split {axis} into=\"{axis}_panel {axis}_row\" by={elements}`, then `order {axis}_panel ... {axis}_row`"
        );
        Err(fault(message).help(help))
    }
}

/// Axis along which a swizzled row extends. Without explicit strides it is the last axis of the layout; with explicit
/// strides, the last axis that has stride 1 and an extent other than 1. `None` if there is none.
fn row(builder: &LayoutBuilder) -> Option<&Axis> {
    let axes = builder.axes();
    let Some(strides) = builder.element_strides() else { return axes.last() };
    let along = |(axis, stride): (&Axis, &Expr)| {
        stride.as_const() == Some(1) && axis.extent.as_const() != Some(1)
    };
    axes.iter().zip(strides).rposition(along).and_then(|at| axes.get(at))
}
