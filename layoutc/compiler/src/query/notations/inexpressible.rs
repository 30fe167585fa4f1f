//! Messages for layouts that a notation of another tool cannot express.

use layoutc_algebra::layout::Layout;
use layoutc_algebra::notation::write::Inexpressible;
use layoutc_algebra::prove::listed;

/// Noun phrase for the feature of a layout that a notation cannot express: ``two blocks of axis `c` ``.
pub fn lack(error: &Inexpressible, layout: &Layout) -> String {
    let name = |axis: &usize| {
        let axis = layout.logical().get(*axis);
        axis.map_or(String::new(), |axis| format!("`{}`", axis.name))
    };
    match error {
        Inexpressible::Separators { rank } => {
            format!("separators: the memory has {rank} physical axes")
        }
        Inexpressible::Reversed { axis } => {
            format!("axis {}, which is stored in reverse", name(axis))
        }
        Inexpressible::Merged { axes } => {
            let names: Vec<String> = axes.iter().map(name).collect();
            format!("fused blocks of {}", listed(&names))
        }
        Inexpressible::Blocks { axis } => format!("blocks of axis {}", name(axis)),
        Inexpressible::TwoBlocks { axis } => format!("two blocks of axis {}", name(axis)),
        Inexpressible::PowerOfTwo { axis } => {
            format!("axis {}, whose extent is not a power of two", name(axis))
        }
        Inexpressible::Rank { rank, most } => format!("{rank} axes: the limit is {most}"),
        Inexpressible::Padding if !layout.symbols().is_empty() => {
            "extents that its blocks may not divide".to_owned()
        }
        other => other.to_string(),
    }
}

/// Help text of the diagnostic for a layout that a notation cannot express.
pub(super) fn help_text(error: &Inexpressible, layout: &Layout) -> &'static str {
    match error {
        Inexpressible::Symbolic => "give the extents: `--shape 2,64,56,56`",
        Inexpressible::Padding if !layout.symbols().is_empty() => {
            "give extents that they divide: `--shape 2,64,56,56`"
        }
        Inexpressible::Names => "give the axes letters: `--axis-names n,c,h,w`",
        Inexpressible::Scalar => "with an element type XLA has `f32[]`: `--to xla --dtype f32`",
        _ => "list the notations that can: `--to all`",
    }
}
