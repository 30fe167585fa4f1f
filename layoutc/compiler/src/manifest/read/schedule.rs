//! Reads the loop schedule of a kernel or an instance.

use super::ManifestReader;
use super::node_signature::{BlockRule, NodeSignature};
use crate::base::codes::Code;
use crate::manifest::syntax::{Identifier, ScheduleItem, ScheduleKind};
use crate::manifest::tree::ManifestNode;

/// True if at most one node called `word` may occur in the schedule of a kernel or an instance.
pub(super) fn is_unique(word: &str) -> bool {
    ["loops", "unroll", "vectorize", "parallel"].contains(&word)
}

impl ManifestReader<'_, '_> {
    /// Reads one directive of a loop schedule, such as `unroll r s`. `None` after a reported error.
    pub(super) fn scheduled(&mut self, node: &ManifestNode) -> Option<ScheduleItem> {
        let kind = match node.name.as_str() {
            "loops" => ScheduleKind::Loops(self.loops(node, "loops LOOP…")?),
            "unroll" => ScheduleKind::Unroll(self.loops(node, "unroll LOOP…")?),
            "parallel" => ScheduleKind::Parallel(self.loops(node, "parallel LOOP…")?),
            "vectorize" => self.vectorize(node)?,
            "split" => self.split_loop(node)?,
            _ => self.tile_loops(node)?,
        };
        Some(ScheduleItem { kind, span: node.span.clone() })
    }

    fn loops(&mut self, node: &ManifestNode, usage: &'static str) -> Option<Vec<Identifier>> {
        self.leaf(node, usage, 1..=usize::MAX)?;
        let names = self.all_names(&node.args, "a loop")?;
        self.differ(names.iter(), "loop");
        Some(names)
    }

    fn vectorize(&mut self, node: &ManifestNode) -> Option<ScheduleKind> {
        let entry = self.argument(node, "vectorize LOOP")?;
        self.name(entry, "a loop").map(ScheduleKind::Vectorize)
    }

    fn split_loop(&mut self, node: &ManifestNode) -> Option<ScheduleKind> {
        let usage = "split LOOP by=8";
        let form =
            NodeSignature { usage, args: 1..=1, props: Some(&["by"]), block: BlockRule::Never };
        self.form(node, &form)?;
        let axis = self.name(node.args.first()?, "a loop");
        let Some(by) = Self::prop(node, "by") else { return self.lacks(node, "`by=`", usage) };
        let by = self.bound(by, "`by`", Code::KdlValue);
        Some(ScheduleKind::Split { axis: axis?, by: by? })
    }

    fn tile_loops(&mut self, node: &ManifestNode) -> Option<ScheduleKind> {
        let usage = "tile LOOP LOOP by=\"4 8\"";
        let (args, block) = (1..=usize::MAX, BlockRule::Never);
        self.form(node, &NodeSignature { usage, args, props: Some(&["by"]), block })?;
        let axes = self.all_names(&node.args, "a loop");
        let by_each = |axes: &[Identifier]| {
            let names: Vec<&str> = axes.iter().map(|axis| axis.value.as_str()).collect();
            format!("tile {} by=\"{}\"", names.join(" "), vec!["8"; axes.len()].join(" "))
        };
        let Some(entry) = Self::prop(node, "by") else {
            return self.lacks(node, "`by=`", &by_each(&axes?));
        };
        let by = self.bounds(entry, "`by`");
        let (axes, by) = (axes?, by?);
        self.differ(axes.iter(), "loop");
        if axes.len() != by.len() {
            let loops = if axes.len() == 1 { "loop" } else { "loops" };
            let message = format!("`tile` names {} {loops}, but `by` has {}", axes.len(), by.len());
            let help = format!("give one number for each loop: `{}`", by_each(&axes));
            return self.refuse(Code::KdlValue, message, &entry.span, help);
        }
        Some(ScheduleKind::Tile { axes, by })
    }
}
