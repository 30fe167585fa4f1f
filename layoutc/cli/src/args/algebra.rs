//! The arguments of `layoutc algebra`.

use clap::{Args, Subcommand, ValueEnum};
use layoutc_compiler::query::cute_algebra;

#[derive(Debug, Subcommand)]
pub(crate) enum AlgebraCommand {
    /// Compose A after B: R(c) = A(B(c)), in the shape of B
    #[command(after_help = "Example: layoutc algebra compose '(4,3):(3,1)' '6:2'")]
    Compose {
        /// Layout A, with a swizzle or without
        a: String,
        /// Layout B, or a tiler `[l0;l1;_]` with one layout per mode (`_`: keep the mode)
        b: String,
    },
    /// Complement of A: the offsets of disjoint copies of A
    #[command(after_help = "Example: layoutc algebra complement 4:2 24")]
    Complement {
        /// Layout A
        a: String,
        /// Size or shape that A and its copies cover [default: fill only the holes of A]
        b: Option<String>,
    },
    /// Merge modes: the same function in as few modes as possible
    #[command(after_help = "Example: layoutc algebra coalesce '(2,(1,6)):(1,(6,2))' '(1,1)'")]
    Coalesce {
        /// Layout A, with a swizzle or without
        a: String,
        /// Profile: each part of A under an integer is coalesced separately [default: all of A]
        b: Option<String>,
    },
    /// Split A into tiles: modes within a tile, and modes that number the tiles, grouped by --kind
    #[command(
        after_help = "Example: layoutc algebra divide '(16,16):(16,1)' '[4:1;8:1]' --kind zipped"
    )]
    Divide(DivideArgs),
    /// Product: copies of A, arranged by layout B
    #[command(after_help = "Example: layoutc algebra product '(2,2):(4,1)' 6:1")]
    Product(ProductArgs),
    /// Inverse of A: right, A(R(i)) = i, or left, R(A(i)) = i
    #[command(after_help = "Example: layoutc algebra inverse '(8,4):(4,1)' --side left")]
    Inverse {
        /// Layout A
        a: String,
        /// Right inverse, A(R(i)) = i, or left inverse, R(A(i)) = i
        #[arg(long, value_enum, default_value_t = InverseSide::Right)]
        side: InverseSide,
    },
}

#[derive(Debug, Args)]
pub(crate) struct DivideArgs {
    /// Layout A, with a swizzle or without
    pub(crate) a: String,
    /// Tile: a layout, or a tiler `[l0;l1;_]` with one layout per mode (`_`: keep the mode)
    pub(crate) b: String,
    /// Grouping of the modes of the result: those within a tile, and the rest, which number the tiles
    #[arg(long, value_enum, default_value_t = DivideKindArg::Logical)]
    pub(crate) kind: DivideKindArg,
    /// Round up where the tile does not divide an extent, as CuTe does, and report the excess
    #[arg(long)]
    pub(crate) pad: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ProductArgs {
    /// Layout A
    pub(crate) a: String,
    /// Layout B, or a tiler `[l0;l1;_]` with one layout per mode (`_`: keep the mode)
    pub(crate) b: String,
    /// Grouping of the modes of the result
    #[arg(long, value_enum, default_value_t = ProductKindArg::Logical)]
    pub(crate) kind: ProductKindArg,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InverseSide {
    /// Right inverse R of A: A(R(i)) = i
    Right,
    /// Left inverse R of A: R(A(i)) = i
    Left,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DivideKindArg {
    /// Modes of the result: ((tile, rest), (tile, rest))
    Logical,
    /// Modes of the result: ((tile, tile), (rest, rest))
    Zipped,
    /// Modes of the result: ((tile, tile), rest, rest)
    Tiled,
    /// Modes of the result: (tile, tile, rest, rest), all at one level
    Flat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProductKindArg {
    /// Modes of the result: (A, copies), for a tiler ((A, copies), (A, copies))
    Logical,
    /// Modes of the result: (A, copies), for a tiler ((A, A), (copies, copies))
    Zipped,
    /// Modes of the result: (A, copies, copies)
    Tiled,
    /// Modes of the result: ((A, copies), (A, copies)), blocked
    Blocked,
    /// Modes of the result: ((copies, A), (copies, A)), interleaved
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
