//! Reads `cache` nodes of kernels and instances: `cache A at=k_outer double=#true { layout { … }; memory shared }`.

use super::ManifestReader;
use super::node_scope::NodeScope;
use super::node_signature::{BlockRule, NodeSignature};
use crate::manifest::syntax::{CacheItem, CacheMemory, LayoutItem};
use crate::manifest::tree::ManifestNode;

const CACHE: &str = "cache TENSOR at=LOOP";

/// Keywords for the memory in which the buffer of a tile cache is allocated.
const MEMORIES: &[(&str, CacheMemory)] =
    &[("shared", CacheMemory::Shared), ("local", CacheMemory::Local)];

impl ManifestReader<'_, '_> {
    /// Reads a `cache` node, which requests a copy of a tensor's tile in a buffer inside a loop. The default memory is
    /// `shared`. `None`, after a report, for example if the tensor or the loop is missing or invalid.
    pub(super) fn cache(&mut self, node: &ManifestNode) -> Option<CacheItem> {
        let props = Some(&["at", "double"][..]);
        let form = NodeSignature { usage: CACHE, args: 1..=1, props, block: BlockRule::Maybe };
        self.form(node, &form);
        let mut layout: Option<LayoutItem> = None;
        let mut memory = Some(CacheMemory::Shared);
        for child in self.parts(node, &NodeScope::CACHE, |_| true) {
            match child.name.as_str() {
                "layout" => layout = self.layout(child),
                _ => memory = self.cache_memory(child),
            }
        }
        let double = Self::prop(node, "double").map(|entry| self.boolean(entry, "`double`"));
        let Some(entry) = Self::prop(node, "at") else {
            let what = "`at=`, the loop whose iterations use the block";
            return if node.broken { None } else { self.lacks(node, what, CACHE) };
        };
        let at = self.name(entry, "a loop");
        let tensor = self.name(node.args.first()?, "a tensor of the kernel");
        let double = double.unwrap_or(Some(false));
        let span = node.head.clone();
        Some(CacheItem { tensor: tensor?, at: at?, double: double?, layout, memory: memory?, span })
    }

    fn cache_memory(&mut self, node: &ManifestNode) -> Option<CacheMemory> {
        let entry = self.argument(node, "memory shared")?;
        self.text_of(entry, "a memory")?;
        self.keyword("`memory`", entry, MEMORIES)
    }
}
