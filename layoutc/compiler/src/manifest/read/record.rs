//! Reads record types of tensors: `dtype { x f32; y f32; z f32 }`, `dtype { d f16; q u4 32 }`.

use std::collections::BTreeMap;

use super::ManifestReader;
use super::message_words::show;
use super::node_signature::{BlockRule, NodeSignature};
use super::text::ELEMENT_TYPE;
use crate::base::codes::Code;
use crate::base::dtype::Dtype;
use crate::base::dtype::record::MAX_FIELDS;
use crate::manifest::syntax::{FieldItem, RecordItem};
use crate::manifest::tree::{Entry, ManifestNode};

impl ManifestReader<'_, '_> {
    /// Reads a record type. Each node of the block is a field: its name, an element type and optional counts,
    /// `q u4 32`. Invalid fields are reported and left out. `None`, after a report, for example if there are no fields.
    pub(super) fn record(&mut self, node: &ManifestNode) -> Option<RecordItem> {
        let form = NodeSignature {
            usage: "dtype { x f32; y f32 }",
            args: 0..=0,
            props: Some(&["align"]),
            block: BlockRule::Always,
        };
        self.form(node, &form)?;
        if node.children().is_empty() {
            let span = self.block_span(node);
            let fault =
                self.faults.error(Code::DtypeRecord, "a record needs at least one field", span, "");
            fault.add_help(format!("write `{}`", form.usage));
            return None;
        }
        let count = node.children().len();
        if count > MAX_FIELDS {
            let message =
                format!("a record can have at most {MAX_FIELDS} fields, and this one has {count}");
            let help = "give a field a count: `q u4 32` is 32 elements";
            return self.refuse(Code::DtypeRecord, message, &self.block_span(node), help);
        }
        let align = Self::prop(node, "align").map(|entry| self.size(entry, "`align`"));
        let mut fields: Vec<FieldItem> = Vec::new();
        let mut seen = BTreeMap::new();
        for child in node.children().iter().filter(|child| !child.broken) {
            let Some(field) = self.field(child) else { continue };
            self.unique("fields", &field.name, &mut seen);
            fields.push(field);
        }
        let align = align.map_or(Some(None), |align| align.map(Some))?;
        Some(RecordItem { fields, align, span: node.span.clone() })
    }

    fn field(&mut self, node: &ManifestNode) -> Option<FieldItem> {
        let Some((dtype, counts)) = node.args.split_first() else { return self.no_field(node) };
        let is_other = node.props.iter().any(|(key, _)| key.value != "align");
        if is_other || node.children.is_some() || counts.iter().any(is_dtype) {
            return self.no_field(node);
        }
        let name = self.node_name(node);
        let dtype = self.text_of(dtype, ELEMENT_TYPE);
        let counts: Vec<_> =
            counts.iter().map(|count| self.bound(count, "a count", Code::DtypeRecord)).collect();
        let align = Self::prop(node, "align").map(|entry| self.size(entry, "`align`"));
        let counts = counts.into_iter().collect::<Option<Vec<_>>>();
        let align = align.map_or(Some(None), |align| align.map(Some))?;
        Some(FieldItem {
            name: name?,
            dtype: dtype?,
            counts: counts?,
            align,
            span: node.span.clone(),
        })
    }

    fn no_field<T>(&mut self, node: &ManifestNode) -> Option<T> {
        let message = "a field needs a name and an element type";
        let for_all = |key: &str| node.props.iter().any(|(k, _)| k.value == key);
        let count = node.props.iter().find(|(key, _)| key.value == "count");
        let help = match (&node.children, count) {
            _ if for_all("pack-from") || for_all("cast") => {
                "write `pack-from=` on the tensor: it applies to all fields".into()
            }
            (Some(_), _) => {
                "records cannot be nested: write the inner fields next to the others".into()
            }
            (None, Some((_, entry))) => {
                let dtype = node.args.first().map_or("f32", |dtype| self.written(dtype));
                format!("write `{} {dtype} {}`", show(&node.name), self.written(entry))
            }
            (None, None) => {
                format!("write `{} f32`, each field as a separate node", show(&node.name))
            }
        };
        let span = node.span.clone();
        self.faults.error(Code::DtypeRecord, message, span, "").add_help(help);
        None
    }

    fn written(&self, entry: &Entry) -> &str {
        self.text.get(entry.content.clone()).unwrap_or_default()
    }
}

/// True if an entry is the name of an element type, here or in another language, where a count is expected.
fn is_dtype(entry: &Entry) -> bool {
    let dtype = |word| Dtype::parse(word).or_else(|| Dtype::from_foreign_name(word));
    entry.text().and_then(dtype).is_some()
}
