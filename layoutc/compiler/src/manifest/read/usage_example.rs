//! Examples of nodes in help texts. The parts that the reported node has replace those of the example.

use super::ManifestReader;
use super::message_words::show;
use super::node_signature::{BlockRule, NodeSignature};
use crate::base::codes::Code;
use crate::manifest::tree::{Entry, ManifestNode};

impl ManifestReader<'_, '_> {
    /// Reports that a node lacks the part `what`, such as `` `by=` ``; `usage` is an example that has the part. Always
    /// returns `None`.
    pub(super) fn lacks<T>(&mut self, node: &ManifestNode, what: &str, usage: &str) -> Option<T> {
        let message = format!("`{}` needs {what}", node.name);
        let words = ExampleWords::of(usage);
        let own = self.completed(node, &words, words.args.len(), &|_| true);
        let missing = words.props.iter().filter(|(key, _)| {
            Self::prop(node, key).is_none()
                && (!what.contains("=`") || what.contains(&format!("`{key}=`")))
        });
        let mut all = vec![own];
        all.extend(missing.map(|(key, value)| format!("{key}={value}")));
        let help = format!("write it as `{}`", all.join(" "));
        self.refuse(Code::KdlMissing, message, &node.head, help)
    }

    /// Help text that shows `node` in the form of the signature `form`: the arguments and properties of `node` that
    /// `form` allows. These are taken from the example `form.usage`: missing arguments, the properties if `node` has
    /// none that `form` allows, and a missing block that `form` requires.
    pub(super) fn usage(&self, node: &ManifestNode, form: &NodeSignature) -> String {
        // A usage with backticks consists of two examples, which cannot be completed together.
        if form.usage.contains('`') {
            return format!("write it as `{}`", form.usage);
        }
        let words = ExampleWords::of(form.usage);
        let least = if node.args.is_empty() { words.args.len() } else { *form.args.start() };
        let is_allowed = |key: &str| form.props.is_none_or(|props| props.contains(&key));
        let taken = (*form.args.end()).min(node.args.len());
        let node_args = node.args.get(..taken).unwrap_or_default().to_vec();
        let own = ManifestNode { args: node_args, ..node.clone() };
        let mut own = self.completed(&own, &words, least, &is_allowed);
        if !node.props.iter().any(|(key, _)| is_allowed(&key.value)) {
            own.extend(words.props.iter().map(|(key, value)| format!(" {key}={value}")));
        }
        let block = match (form.block, &node.children) {
            (BlockRule::Maybe | BlockRule::Always, Some(_)) => " { … }",
            (BlockRule::Always, None) => words.block,
            (BlockRule::Never, _) | (BlockRule::Maybe, None) => "",
        };
        format!("write it as `{own}{block}`")
    }

    /// Text of a node for a help message, without its block. It has the name, the arguments, and the properties whose
    /// key satisfies `is_allowed`, in this order. If the node has fewer than `least` arguments, those of `example` at
    /// the positions from the number of its own arguments up to `least` are appended to its arguments: `split` with the
    /// example `split AXIS by=4` and `least` 1 gives `split AXIS`.
    fn completed(
        &self,
        node: &ManifestNode,
        example: &ExampleWords<'_>,
        least: usize,
        is_allowed: &dyn Fn(&str) -> bool,
    ) -> String {
        let of = |entry: &Entry| show(self.text.get(entry.span.clone()).unwrap_or_default());
        let mut words = vec![node.name.clone()];
        words.extend(node.args.iter().map(of));
        let others = example.args.iter().take(least).skip(node.args.len());
        words.extend(others.map(|word| (*word).to_owned()));
        let props = node.props.iter().filter(|(key, _)| is_allowed(&key.value));
        words.extend(props.map(|(key, entry)| format!("{}={}", show(&key.value), of(entry))));
        words.join(" ")
    }
}

/// Arguments, properties and block of an example of a node, such as `split AXIS by=4`.
struct ExampleWords<'e> {
    args: Vec<&'e str>,
    props: Vec<(&'e str, &'e str)>,
    /// Block of the example, with the space before it; empty if there is none.
    block: &'e str,
}

impl<'e> ExampleWords<'e> {
    fn of(example: &'e str) -> Self {
        let is_in_quotes = |at: usize| example[..at].matches('"').count() % 2 == 1;
        let mut starts = example.match_indices(" {").map(|(at, _)| at);
        let block = starts.find(|at| !is_in_quotes(*at)).unwrap_or(example.len());
        let (head, block) = example.split_at(block);
        let mut words = Vec::new();
        let mut start = 0;
        for (at, _) in head.match_indices(' ').filter(|(at, _)| !is_in_quotes(*at)) {
            words.push(&head[start..at]);
            start = at + 1;
        }
        words.push(&head[start..]);
        let (mut args, mut props) = (Vec::new(), Vec::new());
        for word in words.into_iter().skip(1) {
            match word.split_once('=') {
                Some((key, value)) if !key.contains('"') => props.push((key, value)),
                _ => args.push(word),
            }
        }
        Self { args, props, block }
    }
}
