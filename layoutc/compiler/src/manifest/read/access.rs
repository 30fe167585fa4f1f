//! Reads `access` nodes of tensors: maps from the lanes of a warp to the elements that they access.

use super::ManifestReader;
use super::message_words::show;
use super::node_signature::{BlockRule, NodeSignature};
use crate::base::codes::Code;
use crate::machine::GpuVendor;
use crate::manifest::syntax::{AccessItem, TensorItem};
use crate::manifest::tree::{Entry, ManifestNode};
use crate::warp::AccessDirection;

impl ManifestReader<'_, '_> {
    /// Adds the access that `node` declares to `tensor`. Nothing is added after a reported error, such as a duplicate
    /// name.
    pub(super) fn access(&mut self, node: &ManifestNode, tensor: &mut TensorItem) {
        let Some(item) = self.access_item(node) else { return };
        let first = tensor.accesses.iter().find(|other| other.name.value == item.name.value);
        match first {
            Some(first) => {
                let message = format!("there are two accesses `{}`", show(&item.name.value));
                self.duplicate(message, &item.name.span, &first.name.span);
            }
            None => tensor.accesses.push(item),
        }
    }

    fn access_item(&mut self, node: &ManifestNode) -> Option<AccessItem> {
        let form = NodeSignature {
            usage: "access load from=\"(lane) -> (lane // 8, lane % 8 * 8)\" vector=8",
            args: 1..=1,
            props: Some(&["from", "vector", "along", "direction", "gpu"]),
            block: BlockRule::Never,
        };
        self.form(node, &form)?;
        let name = self.name(node.args.first()?, "the name of an access");
        let Some(map) = Self::prop(node, "from") else {
            return self.lacks(node, "`from=`, the element of each lane", form.usage);
        };
        let map = self.text_of(map, "a map from lanes to elements");
        let vector = Self::prop(node, "vector");
        let vector = vector.map(|entry| self.bound(entry, "`vector`", Code::KdlValue));
        let along = Self::prop(node, "along").map(|entry| self.name(entry, "an axis"));
        let direction = Self::prop(node, "direction");
        let direction =
            direction.map(|entry| self.keyword("`direction`", entry, AccessDirection::ALL));
        let gpu = Self::prop(node, "gpu").map(|entry| self.gpu(entry));
        // A property that is present but invalid has been reported.
        let is_valid = vector != Some(None)
            && along != Some(None)
            && direction != Some(None)
            && gpu != Some(None);
        let (name, map) = (name?, map?);
        is_valid.then(|| AccessItem {
            name,
            map,
            vector: vector.flatten(),
            along: along.flatten(),
            direction: direction.flatten(),
            gpu: gpu.flatten(),
            span: node.span.clone(),
        })
    }

    fn gpu(&mut self, entry: &Entry) -> Option<GpuVendor> {
        self.keyword("`gpu`", entry, GpuVendor::ALL)
    }
}
