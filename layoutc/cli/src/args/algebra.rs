//! The arguments of `layoutc algebra`.

use clap::{Args, Subcommand, ValueEnum};
use layoutc_compiler::cute_algebra;

// The operations.
#[derive(Debug, Subcommand)]
pub(crate) enum AlgebraCommand {
    /// A after B: R(c) = A(B(c)), in the shape of B
    #[command(after_help = "Example: layoutc algebra compose '(4,3):(3,1)' '6:2'")]
    Compose {
        /// The layout, with a swizzle or without
        a: String,
        /// A layout, or a tiler `[l0;l1;_]`, mode by mode
        b: String,
    },
    /// The places of copies of A that lie side by side
    #[command(after_help = "Example: layoutc algebra complement 4:2 24")]
    Complement {
        /// The layout
        a: String,
        /// How many elements A and its copies are to cover: an integer or a shape [none: only A's own holes]
        b: Option<String>,
    },
    /// The same function in as few modes as possible
    #[command(after_help = "Example: layoutc algebra coalesce '(2,(1,6)):(1,(6,2))' '(1,1)'")]
    Coalesce {
        /// The layout, with a swizzle or without
        a: String,
        /// A profile: what it has an integer for is coalesced by itself [none: all]
        b: Option<String>,
    },
    /// A in tiles: the elements of a tile first, then the tiles
    #[command(
        after_help = "Example: layoutc algebra divide '(16,16):(16,1)' '[4:1;8:1]' --kind zipped"
    )]
    Divide(DivideArgs),
    /// Copies of A, side by side, in the order of B
    #[command(after_help = "Example: layoutc algebra product '(2,2):(4,1)' 6:1")]
    Product(ProductArgs),
    /// What undoes A: A(R(i)) = i on the right, R(A(i)) = i on the left
    #[command(after_help = "Example: layoutc algebra inverse '(8,4):(4,1)' --side left")]
    Inverse {
        /// The layout
        a: String,
        /// On which side of A it stands
        #[arg(long, value_enum, default_value_t = InverseSide::Right)]
        side: InverseSide,
    },
}

/// The arguments of `divide`.
#[derive(Debug, Args)]
pub(crate) struct DivideArgs {
    /// The layout, with a swizzle or without
    pub(crate) a: String,
    /// The tile: a layout, or `[l0;l1;_]`, mode by mode
    pub(crate) b: String,
    /// How tile and rest of the modes are gathered
    #[arg(long, value_enum, default_value_t = DivideKindArg::Logical)]
    pub(crate) kind: DivideKindArg,
    /// Let the last tile go on past the elements that exist, as CuTe does, and say how far
    #[arg(long)]
    pub(crate) pad: bool,
}

/// The arguments of `product`.
#[derive(Debug, Args)]
pub(crate) struct ProductArgs {
    /// The layout
    pub(crate) a: String,
    /// A layout, or a tiler `[l0;l1;_]`, mode by mode
    pub(crate) b: String,
    /// How modes of A and of the copies are gathered
    #[arg(long, value_enum, default_value_t = ProductKindArg::Logical)]
    pub(crate) kind: ProductKindArg,
}

/// Which inverse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InverseSide {
    /// A(R(i)) = i
    Right,
    /// R(A(i)) = i
    Left,
}

/// What `divide --kind` may say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DivideKindArg {
    /// ((tile, rest), (tile, rest))
    Logical,
    /// ((tile, tile), (rest, rest))
    Zipped,
    /// ((tile, tile), rest, rest)
    Tiled,
    /// (tile, tile, rest, rest)
    Flat,
}

/// What `product --kind` may say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProductKindArg {
    /// (A, copies)
    Logical,
    /// (A, copies)
    Zipped,
    /// (A, copies, copies)
    Tiled,
    /// ((A, copies), (A, copies)), blocks side by side
    Blocked,
    /// ((copies, A), (copies, A)), blocks interleaved
    Raked,
}

impl From<DivideKindArg> for cute_algebra::DivisionGrouping {
    fn from(kind: DivideKindArg) -> Self {
        match kind {
            DivideKindArg::Logical => Self::Logical,
            DivideKindArg::Zipped => Self::Zipped,
            DivideKindArg::Tiled => Self::Tiled,
            DivideKindArg::Flat => Self::Flat,
        }
    }
}

impl From<ProductKindArg> for cute_algebra::ProductGrouping {
    fn from(kind: ProductKindArg) -> Self {
        match kind {
            ProductKindArg::Logical => Self::Logical,
            ProductKindArg::Zipped => Self::Zipped,
            ProductKindArg::Tiled => Self::Tiled,
            ProductKindArg::Blocked => Self::Blocked,
            ProductKindArg::Raked => Self::Raked,
        }
    }
}
