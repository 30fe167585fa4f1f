//! Reads the layout step `swizzle 3 4 3 unit=bytes`, or `swizzle mode="128B"`.

use super::ManifestReader;
use super::keywords::step_usage;
use crate::base::codes::Code;
use crate::manifest::syntax::{IntegerLiteral, StepKind, SwizzleUnit};
use crate::manifest::tree::{Entry, ManifestNode, ManifestValue};

/// Swizzle modes of NVIDIA's tensor memory accelerator (TMA), with their row widths in bytes.
const MODES: &[(&str, i128)] = &[("32B", 32), ("64B", 64), ("128B", 128)];

impl ManifestReader<'_, '_> {
    pub(super) fn swizzle(&mut self, node: &ManifestNode) -> Option<StepKind> {
        let (mode, unit) = (Self::prop(node, "mode"), Self::prop(node, "unit"));
        if let Some(mode) = mode {
            if !node.args.is_empty() || unit.is_some() {
                let message = "`swizzle` takes either three numbers and `unit=`, or `mode=`";
                let span = node.head.clone();
                let fault = self.faults.error(Code::StepForm, message, span, "both are here");
                fault.add_help("leave `mode=` out, or all the others");
                return None;
            }
            return self.mode(mode);
        }
        let numbers = node.args.iter().map(|entry| self.bit_count(entry)).collect::<Vec<_>>();
        let numbers = numbers.into_iter().collect::<Option<Vec<IntegerLiteral>>>()?;
        let Ok([bits, base, shift]) = <[IntegerLiteral; 3]>::try_from(numbers) else {
            return self.lacks(node, "three numbers, or `mode=`", step_usage("swizzle"));
        };
        let Some(unit) = unit else {
            let message = "`swizzle` needs `unit=bytes` or `unit=elements`";
            let help = "write `unit=bytes` for hardware swizzles, `unit=elements` for CuTe's";
            return self.refuse(Code::KdlMissing, message, &node.head, help);
        };
        let words = [("bytes", SwizzleUnit::Bytes), ("elements", SwizzleUnit::Elements)];
        let unit = self.keyword("`unit`", unit, &words)?;
        Some(StepKind::Swizzle { bits, base, shift, unit })
    }

    fn mode(&mut self, entry: &Entry) -> Option<StepKind> {
        let value = self.keyword("`mode`", entry, MODES)?;
        Some(StepKind::SwizzleMode(IntegerLiteral { value, span: entry.span.clone() }))
    }

    fn bit_count(&mut self, entry: &Entry) -> Option<IntegerLiteral> {
        match entry.value {
            ManifestValue::Integer(value) => {
                Some(IntegerLiteral { value, span: entry.span.clone() })
            }
            _ => {
                let message = "a swizzle takes three integers: bits, base and shift";
                let word = self.text.get(entry.content.clone()).unwrap_or_default();
                let numbers: Vec<&str> = word
                    .split(|c: char| !c.is_ascii_digit())
                    .filter(|number| !number.is_empty())
                    .collect();
                let help = match numbers.as_slice() {
                    _ if MODES.iter().any(|(mode, _)| *mode == word) => {
                        format!("write `swizzle mode=\"{word}\"`")
                    }
                    [bits, base, shift] => {
                        format!("write `swizzle {bits} {base} {shift} unit=elements`, as in CuTe")
                    }
                    _ => format!("write it as `{}`", step_usage("swizzle")),
                };
                self.faults.error(Code::KdlValue, message, entry.span.clone(), "").add_help(help);
                None
            }
        }
    }
}
