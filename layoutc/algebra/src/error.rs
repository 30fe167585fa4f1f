//! Error of the crate. Each operation has an error type of its own, with figures and positions. All convert
//! into [`Error`](enum@Error), so that `?` works across modules.

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
    /// A text is not a map.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// A map has undeclared names or other semantic errors, in the order of the text.
    #[error("{}", Joined(.0))]
    Map(Vec<MapError>),
    /// Conditions are not comparisons of sums of axes; the errors are in the order of the text.
    #[error("{}", Joined(.0))]
    Condition(Vec<ConditionError>),
    /// The arguments of a step do not fit the axes.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// Two elements share a slot, or it is not decided that none do.
    #[error(transparent)]
    Proof(#[from] InjectivityError),
    /// There is no element at the given index, or no slot at the given position.
    #[error(transparent)]
    Location(#[from] ElementLocationError),
    /// Two layouts cannot be compared or composed.
    #[error(transparent)]
    Compare(#[from] CompareError),
    /// The outer layout of a composition has a domain.
    #[error("the outer layout of a composition has a domain")]
    OuterDomain,
    /// The outer layout of a composition is one of several shards.
    #[error("the outer layout of a composition is one of several shards")]
    OuterShards,
    /// Some slots of the layout are padding.
    #[error("slots without elements have no inverse")]
    Padding,
    /// The layout has no inverse expression, because it was proven by enumeration.
    #[error("a layout that is proven by enumeration has no inverse map")]
    NoInverse,
    /// The elements of the layout cannot be joined or split.
    #[error(transparent)]
    Regroup(#[from] RegroupError),
    /// The parameters do not form a swizzle.
    #[error(transparent)]
    Swizzle(#[from] SwizzleError),
    /// The text in the notation of another tool is invalid.
    #[error(transparent)]
    Notation(#[from] NotationFault),
    /// The notation of another tool cannot express a feature of the layout.
    #[error("the notation cannot express {0}")]
    Inexpressible(#[from] Inexpressible),
    /// An operation on `CuTe` layouts has no result.
    #[error(transparent)]
    Cute(#[from] CuteError),
    /// The mesh axes cannot shard the tensor.
    #[error(transparent)]
    Sharding(#[from] ShardingError),
    /// A sharding notation cannot express a feature of the sharding.
    #[error(transparent)]
    ShardingInexpressible(#[from] ShardingInexpressible),
    /// An expression is too large, or a value is out of range.
    #[error(transparent)]
    Expr(#[from] ExprError),
}

/// The errors, separated by `; `.
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
