//! Export to einops' patterns: `n (c c16) h w -> n c h w c16` with the named size `c16=16`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::blocks::{PaddingEncoding, TagBlock, blocks};
use super::flat::FlatLayout;
use super::{Inexpressible, NotationText};
use crate::expr::{BinOp, Expr};
use crate::layout::Layout;

/// Text of `layout`, whose strided blocks are `flat`, as an einops pattern, with the factors of its blocks as sizes.
/// Every block must divide its axis, because einops has no padding; otherwise [`Inexpressible::Padding`].
pub(super) fn write(flat: &FlatLayout, layout: &Layout) -> Result<NotationText, Inexpressible> {
    let blocks = blocks(flat, layout, PaddingEncoding::Reject)?;
    let mut names: Vec<String> = Vec::new();
    let mut sizes = Vec::new();
    for block in &blocks {
        let axis = layout.logical.get(block.axis).map_or("", |axis| axis.name.as_str());
        let mut name = match block.factor {
            None => String::from(axis),
            Some(factor) => format!("{axis}{factor}"),
        };
        let is_taken = |name: &String| {
            names.contains(name)
                || (block.factor.is_some() && layout.logical.iter().any(|a| a.name == *name))
        };
        while is_taken(&name) {
            name.push('_');
        }
        if let Some(factor) = block.factor {
            sizes.push((name.clone(), factor));
        }
        names.push(name);
    }
    let mut left = Vec::new();
    for (position, axis) in layout.logical.iter().enumerate() {
        let mut own: Vec<(&TagBlock, &String)> =
            blocks.iter().zip(&names).filter(|(block, _)| block.axis == position).collect();
        own.sort_by_key(|(block, _)| core::cmp::Reverse((block.factor.is_none(), block.div)));
        let whole = own.first().map_or(1, |(block, _)| block.div);
        let count = Expr::binary(BinOp::Mod, &axis.extent, &Expr::constant(whole))?;
        if !flat.facts.proves_eq(&count, &Expr::constant(0))? {
            return Err(Inexpressible::Padding);
        }
        let parts: Vec<&str> = own.iter().map(|(_, name)| name.as_str()).collect();
        left.push(match parts.as_slice() {
            [one] => String::from(*one),
            parts => format!("({})", parts.join(" ")),
        });
    }
    let text = format!("{} -> {}", left.join(" "), names.join(" "));
    Ok(NotationText { text, sizes, equal_sizes: true })
}
