//! Reads the layout step `swizzle 3 4 3 unit=bytes`, `swizzle mode="128B"`, or `swizzle auto access=load`.

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
        if let [word] = node.args.as_slice()
            && word.text() == Some("auto")
        {
            return self.auto(node);
        }
        if let Some(access) = Self::prop(node, "access") {
            let message = "`access=` needs `auto`";
            let help = "write `swizzle auto access=NAME`, or leave `access=` out";
            return self.refuse(Code::KdlMissing, message, &access.span, help);
        }
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

    /// Reads `swizzle auto access="load store"`.
    fn auto(&mut self, node: &ManifestNode) -> Option<StepKind> {
        if let Some((key, _)) = node.props.iter().find(|(key, _)| key.value != "access") {
            let message = format!("`swizzle auto` takes no `{}=`", key.value);
            let help = "leave it out: layoutc chooses the swizzle for the accesses in `access=`";
            return self.refuse(Code::StepForm, message, &key.span, help);
        }
        match Self::prop(node, "access") {
            Some(entry) => self.words(entry, "`access`").map(StepKind::SwizzleAuto),
            None => Some(StepKind::SwizzleAuto(Vec::new())),
        }
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
