//! `cache A at=k_outer double=#true { layout { … }; memory shared }`

use super::ManifestReader;
use super::node_signature::{BlockRule, NodeScope, NodeSignature};
use crate::base::codes::Code;
use crate::manifest::syntax::{CacheItem, CacheMemory, LayoutItem};
use crate::manifest::tree::{ManifestNode, ManifestValue};

const CACHE: &str = "cache A at=k_outer";

/// The keywords for the memory of a staging buffer.
const MEMORIES: &[(&str, CacheMemory)] =
    &[("shared", CacheMemory::Shared), ("local", CacheMemory::Local)];

impl ManifestReader<'_, '_> {
    /// Reads a `cache` node: the staging of an operand's tile in a buffer.
    pub(super) fn cache(&mut self, node: &ManifestNode) -> Option<CacheItem> {
        let props = Some(&["at", "double"][..]);
        let form = NodeSignature { usage: CACHE, args: 1..=1, props, block: BlockRule::Maybe };
        self.form(node, &form);
        let mut layout: Option<LayoutItem> = None;
        let mut memory = Some(CacheMemory::Shared);
        let mut seen: Vec<&ManifestNode> = Vec::new();
        for child in node.children() {
            if !NodeScope::CACHE.has(&child.name) {
                self.unknown_node(child, &NodeScope::CACHE);
            } else if self.is_first(child, &seen, true) {
                seen.push(child);
                match child.name.as_str() {
                    "layout" => layout = self.layout(child),
                    _ => memory = self.cache_memory(child),
                }
            }
        }
        let double = Self::prop(node, "double").map(|entry| match entry.value {
            ManifestValue::Bool(value) => Some(value),
            ManifestValue::String(_)
            | ManifestValue::Integer(_)
            | ManifestValue::Float(_)
            | ManifestValue::Null => {
                self.wrong_kind(entry, "`double`", "write `#true` or `#false`");
                None
            }
        });
        let Some(entry) = Self::prop(node, "at") else {
            if !node.broken {
                let message = "`cache` needs `at=`, the loop whose iterations use the block";
                let fault = self.faults.error(Code::KdlMissing, message, node.head.clone(), "");
                fault.add_help(format!("write it as `{CACHE}`"));
            }
            return None;
        };
        let at = self.name(entry, "a loop");
        let tensor = self.name(node.args.first()?, "a tensor of the kernel");
        let double = double.unwrap_or(Some(false));
        let span = node.head.clone();
        Some(CacheItem { tensor: tensor?, at: at?, double: double?, layout, memory: memory?, span })
    }

    fn cache_memory(&mut self, node: &ManifestNode) -> Option<CacheMemory> {
        let usage = "memory shared";
        let form = NodeSignature { usage, args: 1..=1, props: Some(&[]), block: BlockRule::Never };
        if !self.form(node, &form) {
            return None;
        }
        let entry = node.args.first()?;
        let text = self.text_of(entry, "a memory")?;
        let found = MEMORIES.iter().find(|row| row.0 == text.value);
        if found.is_none() {
            let words: Vec<&str> = MEMORIES.iter().map(|row| row.0).collect();
            self.unknown_word("`memory`", entry, &words);
        }
        found.map(|row| row.1)
    }
}
