//! Limits on the size and nesting of an ONNX file. They are checked before decoding, because a message of two bytes
//! decodes to a value of two hundred bytes.

use prost::bytes::{Buf, Bytes};
use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};

/// Maximum number of protobuf fields in all messages of a file that are counted ([`MessageKind`]), from the model down
/// to its nodes, attributes, tensors and types. A file with more is refused. A model of 10,000 operators has about
/// 200,000 fields. The limit also bounds the operators, operands and attributes that the inlining of functions
/// produces.
pub(super) const MAX_PARTS: usize = 2_000_000;

/// Maximum nesting depth of graphs in a file, in which the main graph has depth 1; a file with deeper nesting is
/// refused. When functions are inlined, it is the maximum depth of nested calls and subgraphs, in which the main graph
/// has depth 0.
pub(super) const MAX_DEPTH: usize = 24;

/// Kind of a protobuf message whose fields are counted, in an ONNX file.
#[derive(Clone, Copy)]
enum MessageKind {
    Model,
    Graph,
    Function,
    Node,
    Attribute,
    ValueInfo,
    /// Message of a type, or a message without nested messages, such as an opset import. The member is the number of
    /// nested levels below it that are counted: `Type(0)` has none.
    Type(u8),
    Tensor,
}

impl MessageKind {
    /// Kind of the message in the protobuf field `number` of a message of this kind; `None` if the field holds no
    /// message whose fields are counted.
    fn below(self, number: u32) -> Option<Self> {
        match (self, number) {
            (Self::Model, 7) | (Self::Attribute, 6 | 11) => Some(Self::Graph),
            (Self::Model, 8) | (Self::Function, 9) => Some(Self::Type(0)),
            (Self::Model, 25) => Some(Self::Function),
            (Self::Graph, 1) | (Self::Function, 7) => Some(Self::Node),
            (Self::Function, 11) => Some(Self::Attribute),
            (Self::Graph | Self::Attribute, 5) => Some(Self::Tensor),
            (Self::Graph, 11..=13) => Some(Self::ValueInfo),
            (Self::Node, 5) => Some(Self::Attribute),
            (Self::ValueInfo, 2) => Some(Self::Type(3)),
            (Self::Type(3), 1) => Some(Self::Type(2)),
            (Self::Type(2), 2) => Some(Self::Type(1)),
            (Self::Type(1), 1) => Some(Self::Type(0)),
            _ => None,
        }
    }
}

/// Limit that a file exceeds: the number of fields or the nesting depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LimitExcess {
    Parts,
    Depth,
}

/// Limit ([`MAX_PARTS`] or [`MAX_DEPTH`]) that a file exceeds; `None` if it exceeds neither. The fields of a malformed
/// message are counted up to the error.
pub(super) fn excess(file: &Bytes) -> Option<LimitExcess> {
    let mut stack = vec![(file.clone(), MessageKind::Model, 0)];
    let mut parts = 0;
    while let Some((mut message, kind, depth)) = stack.pop() {
        while message.has_remaining() {
            parts += 1;
            if parts > MAX_PARTS {
                return Some(LimitExcess::Parts);
            }
            let Ok((number, wire)) = decode_key(&mut message) else { break };
            let inner = kind.below(number).filter(|_| wire == WireType::LengthDelimited);
            if let Some(inner) = inner {
                let length = decode_varint(&mut message).ok().and_then(|n| usize::try_from(n).ok());
                let Some(length) = length.filter(|n| *n <= message.remaining()) else { break };
                let depth = depth + usize::from(matches!(inner, MessageKind::Graph));
                if depth > MAX_DEPTH {
                    return Some(LimitExcess::Depth);
                }
                stack.push((message.split_to(length), inner, depth));
            } else if skip_field(wire, number, &mut message, DecodeContext::default()).is_err() {
                break;
            }
        }
    }
    None
}
