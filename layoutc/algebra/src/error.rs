//! Error type of the crate, [`Error`](enum@Error). Each module has its own error type, with the values and byte
//! ranges that caused the error. All of them convert into [`Error`](enum@Error), so that `?` works across modules.

use alloc::vec::Vec;
use core::fmt;

use thiserror::Error;

use crate::builder::{BuildError, FinishError, RegroupError};
use crate::cute::CuteError;
use crate::expr::ExprError;
use crate::expr::parse::ParseError;
use crate::layout::swizzle::SwizzleError;
use crate::map::MapError;
use crate::map::conditions::ConditionError;
use crate::notation::write::Inexpressible;
use crate::notation::{NotationError, NotationFault};
use crate::prove::InjectivityError;
use crate::query::equivalence::CompareError;
use crate::query::locate::ElementLocationError;
use crate::sharding::{ShardingError, ShardingInexpressible};
use crate::step::StepError;

/// Reason why an operation of the crate has no result.
///
/// ```
/// use layoutc_algebra::{Error, Layout};
///
/// let refused = Layout::builder([("n", 16), ("c", 128)]).map("(n, c) -> (n, c // 4)")?.prove();
/// let Err(error @ Error::Proof(_)) = refused else { panic!() };
/// assert_eq!(error.to_string(), "elements [0, 0] and [0, 1] share the slot [0, 0]");
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Error {
    /// The text of a map has a syntax error, such as `(n, c) -> (n, c /)`.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// A map uses unknown names or breaks another rule for names, divisors or functions. The errors are in the order of
    /// the text; duplicate names of storage axes come last.
    #[error("{}", Joined(.0))]
    Map(Vec<MapError>),
    /// The conditions of a domain are invalid, such as `i * j < 4`, which is not affine. The errors are in the order
    /// of the text.
    #[error("{}", Joined(.0))]
    Condition(Vec<ConditionError>),
    /// A step or the domain of a layout under construction is invalid, such as a split of an unknown axis or a negative
    /// index, or the layout is too large.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// Two elements share a slot, or a claim about the layout, such as its injectivity, is not proven.
    #[error(transparent)]
    Proof(#[from] InjectivityError),
    /// The given logical index, physical index or offset is outside the layout or its domain, or has the wrong number
    /// of coordinates; or an expression of the layout cannot be evaluated, for example because it contains symbols.
    #[error(transparent)]
    Location(#[from] ElementLocationError),
    /// Two layouts cannot be compared or composed, because their ranks, extents, domains or symbols differ, or because
    /// arithmetic fails.
    #[error(transparent)]
    Compare(#[from] CompareError),
    /// The outer layout of a composition is restricted to a domain (see
    /// [`Layout::compose`](crate::Layout::compose)).
    #[error("the outer layout of a composition has a domain")]
    OuterDomain,
    /// The outer layout of a composition places several shards in one memory (see [`crate::sharding`]).
    #[error("the outer layout of a composition is one of several shards")]
    OuterShards,
    /// The layout to invert is not bijective: slots without elements have no logical index.
    #[error("slots without elements have no inverse")]
    Padding,
    /// The layout to invert was proven by enumeration, which yields no inverse expressions.
    #[error("a layout that is proven by enumeration has no inverse map")]
    NoInverse,
    /// The elements of the layout cannot be joined into wider elements, or split into narrower ones.
    #[error(transparent)]
    Regroup(#[from] RegroupError),
    /// The parameters of a swizzle are out of range, its source and destination bits overlap, or it does not fit the
    /// element size.
    #[error(transparent)]
    Swizzle(#[from] SwizzleError),
    /// A text in the notation of another tool, such as XLA or CuTe, is invalid or unsupported.
    #[error(transparent)]
    Notation(#[from] NotationFault),
    /// The notation of another tool cannot express a feature of the layout, such as a swizzle.
    #[error("the notation cannot express {0}")]
    Inexpressible(#[from] Inexpressible),
    /// An operation on `CuTe` layouts, such as a composition or complement, has no result.
    #[error(transparent)]
    Cute(#[from] CuteError),
    /// The mesh axes of a sharding are invalid for the tensor.
    #[error(transparent)]
    Sharding(#[from] ShardingError),
    /// A sharding notation cannot express a feature of the sharding.
    #[error(transparent)]
    ShardingInexpressible(#[from] ShardingInexpressible),
    /// An expression exceeds the size limits, a value overflows, a divisor is not positive, or a variable has no
    /// value.
    #[error(transparent)]
    Expr(#[from] ExprError),
}

/// List of errors that is displayed in one line, separated by `; `.
struct Joined<'a, T>(&'a [T]);

impl<T: fmt::Display> fmt::Display for Joined<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, error) in self.0.iter().enumerate() {
            f.write_str(if k == 0 { "" } else { "; " })?;
            error.fmt(f)?;
        }
        Ok(())
    }
}

impl From<Vec<MapError>> for Error {
    fn from(errors: Vec<MapError>) -> Self {
        Self::Map(errors)
    }
}

impl From<Vec<ConditionError>> for Error {
    fn from(errors: Vec<ConditionError>) -> Self {
        Self::Condition(errors)
    }
}

impl From<StepError> for Error {
    fn from(error: StepError) -> Self {
        Self::Build(error.into())
    }
}

impl From<FinishError> for Error {
    fn from(error: FinishError) -> Self {
        match error {
            FinishError::Build(error) => Self::Build(error),
            FinishError::Injectivity(error) => Self::Proof(error),
            FinishError::Expr(error) => Self::Expr(error),
        }
    }
}

impl From<NotationError> for Error {
    fn from(error: NotationError) -> Self {
        match error {
            NotationError::Fault(fault) => Self::Notation(fault),
            NotationError::Build(error) => Self::Build(error),
        }
    }
}
