//! Reads `require` nodes: conditions that a tensor's layout must meet, such as `require bijective vector=4`.

use super::ManifestReader;
use super::node_signature::{BlockRule, NodeSignature};
use crate::base::codes::Code;
use crate::manifest::syntax::{GateItem, GateKind, SpannedText};
use crate::manifest::tree::{Entry, ManifestNode, PropertyKey};

/// Conditions that are arguments, as in `require bijective`; all further ones are properties, as in `require vector=4`.
const WORDS: &[&str] = &["bijective", "conflict-free", "coalesced", "contiguous", "fits"];

impl ManifestReader<'_, '_> {
    /// Reads the conditions of a `require` node: those given as arguments first, then those given as properties.
    /// Invalid ones are reported and left out. Empty, after a report, if the node has an unknown property or a block.
    pub(super) fn gates(&mut self, node: &ManifestNode) -> Vec<GateItem> {
        let form = NodeSignature {
            usage: "require bijective",
            args: 0..=usize::MAX,
            props: Some(&["access", "padding-below", "bytes-below", "vector", "same-as"]),
            block: BlockRule::Never,
        };
        if self.form(node, &form).is_none() {
            return Vec::new();
        }
        if node.args.is_empty() && node.props.is_empty() {
            let message = "`require` needs a condition";
            let fault = self.faults.error(Code::KdlMissing, message, node.head.clone(), "");
            let help = "write `bijective`, `contiguous AXIS`, `fits`, `padding-below=0.10`, \
                        `bytes-below=\"64 MiB\"`, `vector=4`, `same-as=TENSOR`, `conflict-free` or `coalesced`";
            fault.add_help(help);
        }
        let mut gates = Vec::new();
        let accesses = Self::prop(node, "access").map(|entry| self.words(entry, "`access`"));
        let Some(accesses) = accesses.map_or(Some(Vec::new()), |words| words) else {
            return Vec::new();
        };
        let mut args = node.args.iter();
        while let Some(arg) = args.next() {
            gates.extend(self.gate_of_word(arg, &mut args, &accesses));
        }
        let has_access_gate = gates
            .iter()
            .any(|gate| matches!(gate.kind, GateKind::ConflictFree(_) | GateKind::Coalesced(_)));
        if let (Some(entry), false) = (Self::prop(node, "access"), has_access_gate) {
            let message = "`access=` needs `conflict-free` or `coalesced`";
            let fault = self.faults.error(Code::KdlMissing, message, entry.span.clone(), "");
            let names =
                accesses.iter().map(|name| name.value.as_str()).collect::<Vec<_>>().join(" ");
            fault.add_help(format!("write `require conflict-free access=\"{names}\"`"));
        }
        for (key, entry) in node.props.iter().filter(|(key, _)| key.value != "access") {
            gates.extend(self.gate_of_property(key, entry));
        }
        gates
    }

    fn gate_of_word<'n>(
        &mut self,
        word: &Entry,
        rest: &mut impl Iterator<Item = &'n Entry>,
        accesses: &[SpannedText],
    ) -> Option<GateItem> {
        let span = word.span.clone();
        match word.text() {
            Some("bijective") => Some(GateItem { kind: GateKind::Bijective, span }),
            Some("fits") => Some(GateItem { kind: GateKind::Fits, span }),
            Some("conflict-free") => {
                Some(GateItem { kind: GateKind::ConflictFree(accesses.to_vec()), span })
            }
            Some("coalesced") => {
                Some(GateItem { kind: GateKind::Coalesced(accesses.to_vec()), span })
            }
            Some("contiguous") => {
                let Some(axis) = rest.next() else {
                    let message = "`contiguous` needs an axis";
                    let axis = self.axes.last().map_or("AXIS", String::as_str);
                    let help = format!("write it as `require contiguous {axis}`");
                    return self.refuse(Code::KdlMissing, message, &span, help);
                };
                let name = self.name(axis, "an axis")?;
                let span = span.start..axis.span.end;
                Some(GateItem { kind: GateKind::Contiguous(name), span })
            }
            _ => {
                self.unknown_word("`require`", word, WORDS);
                None
            }
        }
    }

    fn gate_of_property(&mut self, key: &PropertyKey, entry: &Entry) -> Option<GateItem> {
        let what = format!("`{}`", key.value);
        let kind = match key.value.as_str() {
            "padding-below" => GateKind::PaddingBelow(self.share(entry, &what)?),
            "bytes-below" => GateKind::BytesBelow(self.size(entry, &what)?),
            "vector" => GateKind::Vector(self.bound(entry, &what, Code::KdlValue)?),
            _ => GateKind::SameAs(self.name(entry, "a tensor")?),
        };
        Some(GateItem { kind, span: key.span.start..entry.span.end })
    }
}
