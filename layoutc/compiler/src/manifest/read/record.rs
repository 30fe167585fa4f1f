//! `dtype { x f32; y f32; z f32 }`

use std::collections::BTreeMap;

use super::Reader;
use super::form::{Block, Form, show};
use crate::codes::Code;
use crate::manifest::syntax::{Name, Record, Text};
use crate::manifest::tree::Node;

impl Reader<'_, '_> {
    /// A record: its fields are nodes, each with its element type.
    pub(super) fn record(&mut self, node: &Node) -> Option<Record> {
        let form = Form {
            usage: "dtype { x f32; y f32 }",
            args: 0..=0,
            props: Some(&[]),
            block: Block::Always,
        };
        if !self.form(node, &form) {
            return None;
        }
        if node.children().is_empty() {
            let span = self.block_span(node);
            let fault = self.faults.error(Code::DtypeRecord, "a record has a field", span, "");
            fault.helped(format!("write `{}`", form.usage));
            return None;
        }
        let mut fields: Vec<(Name, Text)> = Vec::new();
        let mut seen = BTreeMap::new();
        for child in node.children().iter().filter(|child| !child.broken) {
            let Some((name, dtype)) = self.field(child) else { continue };
            self.unique("fields", &name, &mut seen);
            fields.push((name, dtype));
        }
        Some(Record { fields, span: node.span.clone() })
    }

    fn field(&mut self, node: &Node) -> Option<(Name, Text)> {
        let [dtype] = node.args.as_slice() else { return self.no_field(node) };
        if !node.props.is_empty() || node.children.is_some() {
            return self.no_field(node);
        }
        let name = self.node_name(node);
        let dtype = self.text_of(dtype, "an element type");
        Some((name?, dtype?))
    }

    fn no_field<T>(&mut self, node: &Node) -> Option<T> {
        let message = "a field is a name with its element type";
        let for_all = |key: &str| node.props.iter().any(|(k, _)| k.value == key);
        let help = match node.children {
            _ if for_all("pack-from") || for_all("cast") => {
                "`pack-from=` stands at the tensor, and holds for all fields".into()
            }
            Some(_) => "records hold no records: write the inner fields beside the others".into(),
            None => format!("write `{} f32`, each field on a node of its own", show(&node.name)),
        };
        let span = node.span.clone();
        self.faults.error(Code::DtypeRecord, message, span, "").helped(help);
        None
    }
}
