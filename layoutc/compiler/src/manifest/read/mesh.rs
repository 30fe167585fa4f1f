//! Reads `mesh` items, `mesh pod { x 2; y 4 }`, and of tensors the nodes `shard n=x c=y` and `ring y=4`.

use std::collections::BTreeMap;

use super::ManifestReader;
use super::message_words::show;
use super::node_signature::{BlockRule, NodeSignature};
use crate::base::codes::Code;
use crate::manifest::syntax::{Identifier, IntegerExpr, MeshItem, RingItem, ShardItem};
use crate::manifest::tree::{Entry, ManifestNode};

impl ManifestReader<'_, '_> {
    /// Reads `mesh pod { x 2; y 4 }`: each node of the block is an axis with its number of devices. Invalid axes are
    /// reported and left out. `None`, after a report, if the node does not have this form or has no axes.
    pub(super) fn mesh(&mut self, node: &ManifestNode) -> Option<MeshItem> {
        let usage = "mesh pod { x 2; y 4 }";
        let form = NodeSignature { usage, args: 1..=1, props: Some(&[]), block: BlockRule::Always };
        self.form(node, &form)?;
        let name = self.name(node.args.first()?, "a mesh's name")?;
        if node.children().is_empty() {
            let span = self.block_span(node);
            let fault =
                self.faults.error(Code::MeshForm, "a mesh needs at least one axis", span, "");
            fault.add_help(format!("write `mesh {} {{ x 2; y 4 }}`", name.value));
            return None;
        }
        let mut axes: Vec<(Identifier, IntegerExpr)> = Vec::new();
        let mut seen = BTreeMap::new();
        for child in node.children().iter().filter(|child| !child.broken) {
            let Some((axis, size)) = self.mesh_axis(child) else { continue };
            self.unique("axes", &axis, &mut seen);
            axes.push((axis, size));
        }
        Some(MeshItem { name, axes, span: node.span.clone() })
    }

    fn mesh_axis(&mut self, node: &ManifestNode) -> Option<(Identifier, IntegerExpr)> {
        let (alone, children) = (node.props.is_empty(), &node.children);
        let ([size], true, None) = (node.args.as_slice(), alone, children) else {
            let message = "a mesh axis needs a name and a size";
            let fault = self.faults.error(Code::MeshForm, message, node.span.clone(), "");
            let name = show(&node.name);
            fault.add_help(format!("write `{name} 4`, each axis as a separate node"));
            return None;
        };
        let name = self.node_name(node);
        let size = self.bound(size, "a size", Code::MeshForm);
        Some((name?, size?))
    }

    /// Reads `shard n=x c="y z"`: each property is an axis of the tensor with the mesh axes that partition it, the most
    /// significant one first. An optional argument names the mesh, as in `shard MESH n=x`; `shard MESH` alone
    /// replicates the tensor. `None` after a reported error.
    pub(super) fn shard(&mut self, node: &ManifestNode) -> Option<ShardItem> {
        let usage = "shard AXIS=MESH_AXIS";
        let form = NodeSignature { usage, args: 0..=1, props: None, block: BlockRule::Never };
        self.form(node, &form)?;
        let mesh = match node.args.first() {
            Some(entry) => Some(self.name(entry, "a mesh")?),
            None => None,
        };
        if mesh.is_none() && node.props.is_empty() {
            let message = "`shard` needs tensor axes with their mesh axes, or a mesh";
            let help =
                format!("write `{usage}`, or only the mesh, `shard MESH`, to replicate the tensor");
            return self.refuse(Code::KdlMissing, message, &node.head, help);
        }
        let mut cuts = Vec::new();
        for (key, entry) in &node.props {
            cuts.push((self.key(key)?, self.mesh_axes(entry)?));
        }
        Some(ShardItem { mesh, cuts, span: node.span.clone() })
    }

    /// Reads `ring y=4`: the only property is the axis with the number of its indices that memory holds. `None` after a
    /// reported error.
    pub(super) fn ring(&mut self, node: &ManifestNode) -> Option<RingItem> {
        let usage = "ring AXIS=4";
        let form = NodeSignature { usage, args: 0..=0, props: None, block: BlockRule::Never };
        self.form(node, &form)?;
        let [(key, entry)] = node.props.as_slice() else {
            let message = "`ring` needs one axis and the number of its indices in memory";
            let axis = self.axes.first().map_or("AXIS", String::as_str);
            let help = format!("write `ring {axis}=4` for 4 indices of the axis");
            return self.refuse(Code::KdlMissing, message, &node.head, help);
        };
        let (axis, capacity) = (self.key(key)?, self.bound(entry, "a number", Code::RingAxis)?);
        Some(RingItem { axis, capacity, span: node.span.clone() })
    }

    fn mesh_axes(&mut self, entry: &Entry) -> Option<crate::manifest::syntax::SpannedText> {
        self.text_of(entry, "an axis of a mesh")
    }
}
