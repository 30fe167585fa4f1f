//! Reads layouts in the notations of other tools, `layout tvm="NCHW16c"`, and whole tensors in XLA's,
//! `xla="f32[8,128]{1,0}"`.

use layoutc_algebra::notation::{Notation, xla};

use super::ManifestReader;
use super::keywords::NOTATION_WORDS;
use super::message_words::{list, show};
use super::node_signature::{BlockRule, NodeSignature};
use crate::base::codes::Code;
use crate::base::nearest::nearest;
use crate::manifest::syntax::{
    AxisItem, Extent, Identifier, IntegerExpr, IntegerLiteral, LayoutItem, ShapeItem, SpannedText,
    StepItem, StepKind,
};
use crate::manifest::tree::{Entry, ManifestNode, ManifestValue, PropertyKey};

/// Pairs (name, help): the name of a framework, or of a step, that is not the name of a notation, and help text that
/// shows the equivalent notation or step.
const FOREIGN_NOTATIONS: &[(&str, &str)] = &[
    ("torch", STRIDES),
    ("pytorch", STRIDES),
    ("strides", STRIDES),
    ("stride", STRIDES),
    ("np", "write NumPy strides, in bytes, as `numpy=\"(64, 4)\"`"),
    ("jax", "write JAX layouts in XLA's notation: `xla=\"{1,0}\"`"),
    ("hlo", "write HLO layouts as `xla=\"{1,0}\"`"),
    ("stablehlo", "write StableHLO layouts as `xla=\"{1,0}\"`"),
    ("tensorflow", "write TensorFlow layouts as `tvm=\"NHWC\"`"),
    ("tf", "write TensorFlow layouts as `tvm=\"NHWC\"`"),
    ("cutlass", "write CUTLASS layouts in CuTe's notation: `cute=\"(4,8):(8,1)\"`"),
    ("dnnl", "write oneDNN tags as `onednn=\"aBcd16b\"`"),
    ("mkldnn", "write oneDNN tags as `onednn=\"aBcd16b\"`"),
    ("memref", "write memref layouts as `mlir=\"strided<[8, 1]>\"`"),
    ("affine_map", "write MLIR maps as `mlir=\"affine_map<(i, j) -> (j, i)>\"`"),
    ("name", "write the transform without a property: `layout nchw4c`"),
    ("order", "write the axis order as a step: `layout { order {order} }`"),
    ("tile", "write the tile as a step: `layout { tile 8 128 }`"),
    ("map", "write the map as a step: `layout { map \"{map}\" }`"),
];

/// Help text for strides in elements, such as those of Torch.
const STRIDES: &str = "write strides in elements as a step: `layout { strides 64 1 }`, or `mdspan=\"layout_stride<64, 1>\"`";

/// Help text in which `{order}` is replaced by the names in `axes` in reverse order, and `{map}` by an index map that
/// reverses them: `c n` and `(n, c) -> (c, n)` for `n`, `c`. These two names are also used if `axes` is empty.
fn with_axes(help: &str, axes: &[String]) -> String {
    let axes: Vec<&str> = axes.iter().map(String::as_str).collect();
    let axes = if axes.is_empty() { vec!["n", "c"] } else { axes };
    let reversed: Vec<&str> = axes.iter().rev().copied().collect();
    let map = format!("({}) -> ({})", axes.join(", "), reversed.join(", "));
    help.replace("{order}", &reversed.join(" ")).replace("{map}", &map)
}

/// True if `word` is a property that gives a layout in the notation of another tool, such as `tvm`.
pub(super) fn is_notation_word(word: &str) -> bool {
    Notation::of(word).is_some()
}

/// Element type, shape and layout of a tensor, read from one XLA text such as `f32[8,128]{1,0}`.
pub(super) struct NotationTensor {
    pub(super) dtype: SpannedText,
    pub(super) shape: ShapeItem,
    pub(super) layout: LayoutItem,
}

impl ManifestReader<'_, '_> {
    /// Reads a layout in the notation of another tool, `tvm="NCHW16c"`: one property with the text, and sizes such as
    /// `c16=16` if the notation takes sizes. `usage` is an example for help texts. `None` after a reported error.
    pub(super) fn notation_step(
        &mut self,
        node: &ManifestNode,
        usage: &'static str,
    ) -> Option<StepKind> {
        self.form(
            node,
            &NodeSignature { usage, args: 0..=0, props: None, block: BlockRule::Never },
        )?;
        let mut texts = node
            .props
            .iter()
            .filter_map(|(key, entry)| Some((Notation::of(&key.value)?, key, entry)));
        let Some((notation, word, entry)) = texts.next() else {
            if let Some((key, _)) = node.props.first() {
                self.unknown_notation(key);
                return None;
            }
            let message = format!("`{}` needs a layout in a foreign notation", node.name);
            let fault = self.faults.error(Code::KdlMissing, message, node.head.clone(), "");
            fault.add_help(format!("write it as `{usage}`"));
            fault.add_note(format!("the notations are {}", list(&NOTATION_WORDS)));
            return None;
        };
        if let Some((_, second, _)) = texts.next() {
            let message = "a layout can use only one notation";
            let place = self.faults.place(word.span.clone());
            let fault = self.faults.error(Code::StepForm, message, second.span.clone(), "");
            fault.add_label(place, "the first").add_help("leave one of the two out");
            return None;
        }
        let text = self.text_of(entry, "a layout")?;
        let mut sizes = Vec::new();
        for (key, entry) in node.props.iter().filter(|(key, _)| key.value != word.value) {
            if !notation.takes_sizes() {
                let message = format!("`{}=` does not take other properties", word.value);
                let help = "leave it out: only `einops=` takes sizes";
                return self.refuse(Code::NameUnknown, message, &key.span, help);
            }
            match entry.value {
                ManifestValue::Integer(value) if value > 0 => {
                    let number = IntegerLiteral { value, span: entry.span.clone() };
                    sizes.push((self.key(key)?, number));
                }
                _ => {
                    let message =
                        format!("the size of `{}` must be a positive integer", show(&key.value));
                    return self.refuse(Code::KdlValue, message, &entry.span, "write 1 or more");
                }
            }
        }
        Some(StepKind::Notation { notation, text, sizes })
    }

    /// Reports a property of a layout that is not the name of a notation. The help text has the notation that is
    /// spelled most similarly, else the help of [`FOREIGN_NOTATIONS`] for the name, else an example of steps.
    pub(super) fn unknown_notation(&mut self, key: &PropertyKey) {
        let word = key.value.as_str();
        let axes = &self.axes;
        let message = format!("unknown layout notation `{}`", show(word));
        let fault = self.faults.error(Code::NameUnknown, message, key.span.clone(), "");
        let elsewhere = FOREIGN_NOTATIONS.iter().find(|row| row.0.eq_ignore_ascii_case(word));
        match (nearest(word, NOTATION_WORDS), elsewhere) {
            (Some(near), _) => fault.add_suggestion(near),
            (None, Some((_, help))) => {
                fault.add_help(with_axes(help, axes));
            }
            (None, None) => {
                let help = "write one of these, or the layout as steps: `layout { order {order} }`";
                fault.add_help(with_axes(help, axes));
            }
        }
        fault.add_note(format!("the notations are {}", list(&NOTATION_WORDS)));
    }

    /// Reads the element type, shape and layout of the tensor `node` from `entry`, an XLA text such as
    /// `f32[8,128]{1,0}`. `None` after a reported error, for example if `node` has a type, a shape or a layout besides.
    pub(super) fn notation_tensor(
        &mut self,
        node: &ManifestNode,
        entry: &Entry,
    ) -> Option<NotationTensor> {
        let text = self.text_of(entry, "a shape")?;
        let property = |name: &str| node.props.iter().find(|(key, _)| key.value == name);
        let child = |name: &str| node.children().iter().find(|child| child.name == name);
        let double =
            ["dtype", "like"].iter().find_map(|name| property(name)).map(|(key, _)| &key.span);
        let double = double.or_else(|| {
            ["dtype", "shape", "layout"]
                .iter()
                .find_map(|name| child(name))
                .map(|child| &child.name_span)
        });
        if let Some(span) = double {
            let message = "`xla=` already gives the element type, the shape and the layout";
            let help = "leave this out, or write `layout xla=\"{1,0}\"`";
            return self.refuse(Code::KdlTwice, message, span, help);
        }
        let shape = match xla::parse(&text.value) {
            Ok(shape) => shape,
            Err(fault) => {
                let fault = fault.or_example(Notation::Xla);
                let span = text.span.start + fault.span.start..text.span.start + fault.span.end;
                let error = self.faults.error(fault.kind.into(), &fault.message, span, "");
                error.help.extend(fault.help);
                return None;
            }
        };
        let Some(dtype) = shape.dtype else {
            let message = "a tensor needs a type and a shape before its layout";
            let help = "write them: `xla=\"f32[8,128]{1,0}\"`";
            return self.refuse(Code::KdlMissing, message, &entry.span, help);
        };
        let axis = |(k, extent): (usize, &i128)| AxisItem {
            name: Identifier { value: format!("d{k}"), span: text.span.clone() },
            extent: Extent::Bound(IntegerExpr::Integer(IntegerLiteral {
                value: *extent,
                span: text.span.clone(),
            })),
        };
        let axes = shape.dims.iter().enumerate().map(axis).collect();
        let (span, name_span) = (entry.span.clone(), entry.span.clone());
        let kind =
            StepKind::Notation { notation: Notation::Xla, text: text.clone(), sizes: Vec::new() };
        Some(NotationTensor {
            dtype: SpannedText { value: dtype.to_owned(), span: text.span.clone(), quoted: false },
            shape: ShapeItem { axes, conditions: Vec::new(), span: span.clone() },
            layout: LayoutItem {
                steps: vec![StepItem { kind, span: span.clone(), name_span }],
                span,
            },
        })
    }
}
