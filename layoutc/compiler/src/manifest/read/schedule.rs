//! Reads the loop schedule of a kernel or an instance, and complete schedules: `schedule machine=avx512 { … }`.

use super::ManifestReader;
use super::node_scope::NodeScope;
use super::node_signature::{BlockRule, NodeSignature};
use crate::base::codes::Code;
use crate::machine::VectorIsa;
use crate::manifest::syntax::{CompleteSchedule, Identifier, ScheduleItem, ScheduleKind};
use crate::manifest::tree::ManifestNode;

/// True if at most one node called `word` may occur in a schedule.
pub(super) fn is_unique(word: &str) -> bool {
    ["loops", "unroll", "vectorize", "parallel", "partial-sums", "split-k"].contains(&word)
}

impl ManifestReader<'_, '_> {
    /// Reads one directive of a loop schedule, such as `unroll r s`. `None`, after a report, if a part is missing or
    /// invalid.
    pub(super) fn scheduled(&mut self, node: &ManifestNode) -> Option<ScheduleItem> {
        let kind = match node.name.as_str() {
            "loops" => ScheduleKind::Loops(self.loops(node, "loops LOOP…")?),
            "unroll" => ScheduleKind::Unroll(self.loops(node, "unroll LOOP…")?),
            "parallel" => ScheduleKind::Parallel(self.loops(node, "parallel LOOP…")?),
            "vectorize" => ScheduleKind::Vectorize(self.one_loop(node, "vectorize LOOP")?),
            "split" => self.split_loop(node)?,
            "fuse" => self.fuse_loops(node)?,
            "partial-sums" => ScheduleKind::PartialSums(self.one_loop(node, "partial-sums LOOP")?),
            "split-k" => ScheduleKind::SplitK(self.one_loop(node, "split-k LOOP")?),
            _ => self.tile_loops(node)?,
        };
        Some(ScheduleItem { kind, span: node.span.clone() })
    }

    /// Reads a complete schedule, `schedule machine=avx512 { loops i k }`. `None` after a reported error in the
    /// arguments or properties of `node`, or if it has no block. Directives with errors are reported and left out.
    pub(super) fn complete_schedule(&mut self, node: &ManifestNode) -> Option<CompleteSchedule> {
        let usage = "schedule machine=avx512 { loops LOOP LOOP }";
        let (props, block) = (Some(NodeScope::SCHEDULE.props), BlockRule::Always);
        self.form(node, &NodeSignature { usage, args: 0..=0, props, block })?;
        let machine = match Self::prop(node, "machine") {
            Some(entry) => Some(self.keyword("`machine`", entry, VectorIsa::NAMES)?),
            None => None,
        };
        let statement = match Self::prop(node, "statement") {
            Some(entry) => Some(self.bound(entry, "`statement`", Code::KdlValue)?),
            None => None,
        };
        let (mut directives, mut caches) = (Vec::new(), Vec::new());
        for child in self.parts(node, &NodeScope::SCHEDULE, is_unique) {
            if child.name == "cache" {
                caches.extend(self.cache(child));
            } else {
                directives.extend(self.scheduled(child));
            }
        }
        self.differ(caches.iter().map(|cache| &cache.tensor), "cache of");
        Some(CompleteSchedule { machine, statement, directives, caches, span: node.head.clone() })
    }

    fn loops(&mut self, node: &ManifestNode, usage: &'static str) -> Option<Vec<Identifier>> {
        self.leaf(node, usage, 1..=usize::MAX)?;
        let names = self.all_names(&node.args, "a loop")?;
        self.differ(names.iter(), "loop");
        Some(names)
    }

    fn one_loop(&mut self, node: &ManifestNode, usage: &'static str) -> Option<Identifier> {
        let entry = self.argument(node, usage)?;
        self.name(entry, "a loop")
    }

    fn fuse_loops(&mut self, node: &ManifestNode) -> Option<ScheduleKind> {
        let usage = "fuse LOOP LOOP as=NAME";
        let form =
            NodeSignature { usage, args: 2..=2, props: Some(&["as"]), block: BlockRule::Never };
        self.form(node, &form)?;
        let names = self.all_names(&node.args, "a loop");
        let Some(entry) = Self::prop(node, "as") else { return self.lacks(node, "`as=`", usage) };
        let name = self.name(entry, "a loop's name");
        let mut names = names?.into_iter();
        Some(ScheduleKind::Fuse { outer: names.next()?, inner: names.next()?, name: name? })
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
