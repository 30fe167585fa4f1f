//! Reads the step `swizzle 3 4 3 unit=bytes`, or `swizzle mode="128B"`.

use super::ManifestReader;
use super::keywords::step_usage;
use crate::base::codes::Code;
use crate::manifest::syntax::{IntegerLiteral, StepKind, SwizzleUnit};
use crate::manifest::tree::{Entry, ManifestNode, ManifestValue};

/// The swizzle modes of the tensor memory accelerator, with their row width in bytes.
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
            let message = "`swizzle` needs three numbers, or `mode=`";
            let fault = self.faults.error(Code::KdlMissing, message, node.head.clone(), "");
            fault.add_help(format!("write it as `{}`", step_usage("swizzle")));
            return None;
        };
        let Some(unit) = unit else {
            let message = "`swizzle` needs `unit=bytes` or `unit=elements`";
            let fault = self.faults.error(Code::KdlMissing, message, node.head.clone(), "");
            fault.add_help("write `unit=bytes` for hardware swizzles, `unit=elements` for CuTe's");
            return None;
        };
        let unit = match &unit.value {
            ManifestValue::String(word) if word == "bytes" => SwizzleUnit::Bytes,
            ManifestValue::String(word) if word == "elements" => SwizzleUnit::Elements,
            ManifestValue::String(_)
            | ManifestValue::Integer(_)
            | ManifestValue::Float(_)
            | ManifestValue::Bool(_)
            | ManifestValue::Null => {
                self.unknown_word("`unit`", unit, &["bytes", "elements"]);
                return None;
            }
        };
        Some(StepKind::Swizzle { bits, base, shift, unit })
    }

    fn mode(&mut self, entry: &Entry) -> Option<StepKind> {
        let found = match &entry.value {
            ManifestValue::String(word) => MODES.iter().find(|(mode, _)| mode == word),
            ManifestValue::Integer(_)
            | ManifestValue::Float(_)
            | ManifestValue::Bool(_)
            | ManifestValue::Null => None,
        };
        let Some((_, row)) = found else {
            let modes: Vec<&str> = MODES.iter().map(|(mode, _)| *mode).collect();
            self.unknown_word("`mode`", entry, &modes);
            return None;
        };
        Some(StepKind::SwizzleMode(IntegerLiteral { value: *row, span: entry.span.clone() }))
    }

    fn bit_count(&mut self, entry: &Entry) -> Option<IntegerLiteral> {
        match entry.value {
            ManifestValue::Integer(value) => {
                Some(IntegerLiteral { value, span: entry.span.clone() })
            }
            ManifestValue::String(_)
            | ManifestValue::Float(_)
            | ManifestValue::Bool(_)
            | ManifestValue::Null => {
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
