//! Fast path for nodes whose words need no KDL parser: ASCII identifiers, decimal integers of at most 18 digits, and
//! quoted ASCII strings without escapes. Most nodes qualify.

use super::lex::{KdlToken, KdlTokenKind};
use super::tree::ManifestValue;

/// Pairs `(key, value)` of a node's arguments and properties, in order. `key` is the key of a property; `None` for an
/// argument.
pub(super) type NodeEntries = Vec<(Option<String>, ManifestValue)>;

/// Maximum number of digits of an integer, so that the integer fits in 64 bits. Longer ones are left to the KDL parser.
const DIGITS: usize = 18;

/// Arguments and properties of the node with the tokens `head`, the node's name first. `None` if a word needs the KDL
/// parser or a property has no value.
pub(super) fn read(text: &str, head: &[KdlToken]) -> Option<NodeEntries> {
    let (name, words) = head.split_first()?;
    string(text, name)?;
    let mut entries = Vec::with_capacity(words.len());
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        entries.push(match words.next_if(|next| next.kind == KdlTokenKind::Equals) {
            Some(_) => (Some(string(text, word)?.to_owned()), value(text, words.next()?)?),
            None => (None, value(text, word)?),
        });
    }
    Some(entries)
}

fn value(text: &str, token: &KdlToken) -> Option<ManifestValue> {
    let word = text.get(token.span.clone())?;
    let is_integer = word.len() <= DIGITS && word.bytes().all(|b| b.is_ascii_digit());
    if token.kind == KdlTokenKind::Bare && is_integer {
        return word.parse().ok().map(ManifestValue::Integer);
    }
    string(text, token).map(|string| ManifestValue::String(string.to_owned()))
}

/// Text of a token that is an ASCII name, or a quoted string of printable ASCII characters without escapes (without its
/// quotes); `None` for any other token. A keyword without its `#`, such as `true`, would look like a name, but
/// [`super::node_lints`] has rejected it before.
fn string<'t>(text: &'t str, token: &KdlToken) -> Option<&'t str> {
    let word = text.get(token.span.clone())?;
    match token.kind {
        KdlTokenKind::Bare => {
            let letter = |b: u8| b.is_ascii_alphabetic() || b == b'_';
            let rest = |b: u8| letter(b) || b.is_ascii_digit() || b == b'-';
            let is_name = word.bytes().next().is_some_and(letter) && word.bytes().all(rest);
            is_name.then_some(word)
        }
        KdlTokenKind::Quoted { hashes: 0 } => {
            let inside = word.strip_prefix('"')?.strip_suffix('"')?;
            inside.bytes().all(|b| matches!(b, b' '..=b'~') && b != b'\\').then_some(inside)
        }
        _ => None,
    }
}
