//! Reads `memory` nodes of tensors, `memory image2d access=read`, and `memory-space` items.

use super::ManifestReader;
use super::message_words::{list, show};
use super::node_signature::{BlockRule, NodeSignature};
use super::text::is_name;
use crate::base::codes::Code;
use crate::base::nearest::nearest;
use crate::manifest::syntax::{
    IntegerLiteral, Memory, MemoryItem, MemoryKind, MemorySpaceItem, SpannedText,
};
use crate::manifest::tree::{ManifestNode, ManifestValue};

/// Keywords of the built-in memories; `image2d` and `texture` are one memory.
pub(crate) const MEMORIES: &[(&str, Memory)] = &[
    ("global", Memory::Global),
    ("constant", Memory::Constant),
    ("image2d", Memory::Image2d),
    ("texture", Memory::Image2d),
    ("image2d-array", Memory::Image2dArray),
    ("shared", Memory::Shared),
    ("local", Memory::Local),
    ("none", Memory::None),
];

impl ManifestReader<'_, '_> {
    /// Reads `memory-space vmem bytes="16 MiB" align=512 xla=1`; `None`, after a report, if the name is missing,
    /// invalid or that of a built-in memory. Other invalid parts are reported and left out.
    pub(super) fn memory_space(&mut self, node: &ManifestNode) -> Option<MemorySpaceItem> {
        let form = NodeSignature {
            usage: "memory-space vmem bytes=\"16 MiB\" align=512",
            args: 1..=1,
            props: Some(&["bytes", "align", "xla"]),
            block: BlockRule::Never,
        };
        self.form(node, &form);
        let bytes = Self::prop(node, "bytes").and_then(|entry| self.size(entry, "`bytes`"));
        let align = Self::prop(node, "align").and_then(|entry| self.size(entry, "`align`"));
        let xla = Self::prop(node, "xla").and_then(|entry| match entry.value {
            ManifestValue::Integer(value) if value >= 1 => {
                Some(IntegerLiteral { value, span: entry.span.clone() })
            }
            _ => {
                let message = "`xla` must be the n of `S(n)`, an integer from 1";
                self.refuse(Code::KdlValue, message, &entry.span, "write 1 or more")
            }
        });
        let name = self.name(node.args.first()?, "a memory space's name")?;
        if MEMORIES.iter().any(|row| row.0 == name.value) {
            let message = format!("`{}` is a built-in memory", name.value);
            let fault = self.faults.error(Code::NameDuplicate, message, name.span.clone(), "");
            let words: Vec<&str> = MEMORIES.iter().map(|row| row.0).collect();
            fault.add_note(format!("the built-in memories are {}", list(&words)));
            fault.add_help("give the memory space another name");
            return None;
        }
        Some(MemorySpaceItem { name, bytes, align, xla, span: node.span.clone() })
    }

    pub(super) fn memory(&mut self, node: &ManifestNode) -> Option<MemoryItem> {
        let form = NodeSignature {
            usage: "memory texture",
            args: 1..=1,
            props: Some(&["format", "access"]),
            block: BlockRule::Never,
        };
        self.form(node, &form);
        let entry = node.args.first()?;
        let text = self.text_of(entry, "a memory")?;
        let kind = match MEMORIES.iter().find(|row| row.0 == text.value) {
            Some((_, memory)) => MemoryKind::Kind(*memory),
            None if !is_name(&text.value) && self.meant_memory(&text) => return None,
            None => MemoryKind::Space(self.as_name(&text)?),
        };
        let image = matches!(kind, MemoryKind::Kind(Memory::Image2d | Memory::Image2dArray));
        if let Some((key, _)) = node.props.first().filter(|_| !image) {
            let message = format!("`{}` applies only to images", show(&key.value));
            let fault = self.faults.error(Code::StepForm, message, key.span.clone(), "");
            fault.add_help("leave it out, or write `memory image2d`");
        }
        let format = self.choice(node, "format", &["rgba"]);
        let access = self.choice(node, "access", &["read", "write", "read-write"]);
        Some(MemoryItem { kind, format, access, span: node.span.clone() })
    }

    /// True if the unknown memory name `text` is similar to the keyword of a built-in memory. An error that suggests
    /// the most similar keyword is then reported. False, without a report, if no keyword is similar.
    fn meant_memory(&mut self, text: &SpannedText) -> bool {
        let near = nearest(&text.value, MEMORIES.iter().map(|row| row.0));
        let Some(near) = near else { return false };
        let message = format!("unknown memory `{}`", show(&text.value));
        self.faults.error(Code::NameInvalid, message, text.span.clone(), "").add_suggestion(near);
        true
    }

    /// Text of the property `prop`, which must be one of the keywords `known`; `None` if the property is absent or has
    /// another value, which is reported.
    fn choice(&mut self, node: &ManifestNode, prop: &str, known: &[&str]) -> Option<SpannedText> {
        let entry = Self::prop(node, prop)?;
        let text = self.text_of(entry, &format!("`{prop}`"))?;
        if !known.contains(&text.value.as_str()) {
            self.unknown_word(&format!("`{prop}`"), entry, known);
            return None;
        }
        Some(text)
    }
}
