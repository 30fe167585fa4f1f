//! Equality of the memory layouts of two tensors, whose axes are matched by name.

use layoutc_algebra::prove::listed;
use layoutc_algebra::query::equivalence::{CompareError, LayoutEquivalence, compare};
pub use layoutc_algebra::query::locate::ElementLocation;

use crate::base::codes::Code;
use crate::base::diagnostic::Diagnostic;
use crate::env::NoCache;
use crate::env::executor::RayonExecutor;
use crate::model::Tensor;
use crate::model::layout_names;

/// Result of a comparison of two tensors' memory layouts. Element types are not compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TensorComparison {
    /// Every element has the same physical index and offset in both tensors.
    Same {
        /// True if the physical extents and the numbers of slots of both buffers are proven equal too.
        equal_sizes: bool,
    },
    /// Some element has another physical index or offset in the second tensor than in the first.
    Differs {
        /// Logical index of an element that differs, in the order of the first tensor's axes. It is the first one in
        /// row-major order if the layouts have no symbols, any one otherwise.
        logical: Vec<i128>,
        /// Pairs (name, value): values of the symbols with which the element differs; empty if the compared maps have
        /// no symbols.
        symbols: Vec<(String, i128)>,
        /// Location of the element in the first and in the second tensor.
        places: [ElementLocation; 2],
    },
    /// The tensors have different physical ranks. The members are the rank of the first and of the second tensor.
    Ranks([usize; 2]),
}

/// Compares the memory layouts of two tensors, for all elements and all values of the symbols. An axis of one tensor
/// corresponds to the axis of the other with the same name. Element types are not compared.
///
/// # Errors
/// A diagnostic `shape::same` if the tensors differ in their axes, extents, symbols or sets of elements. A diagnostic
/// `map::undecided` if equality cannot be decided.
pub fn compare_tensors(
    first: &Tensor,
    second: &Tensor,
) -> Result<TensorComparison, Box<Diagnostic>> {
    let names = |tensor: &Tensor| -> Vec<String> {
        tensor.layout.logical().iter().map(|axis| axis.name.clone()).collect()
    };
    let (own, others) = (names(first), names(second));
    let order: Option<Vec<usize>> =
        own.iter().map(|name| others.iter().position(|other| other == name)).collect();
    let Some(order) = order.filter(|order| order.len() == others.len()) else {
        let list =
            |names: &[String]| if names.is_empty() { "none".to_owned() } else { listed(names) };
        let (own, others) = (list(&own), list(&others));
        let message = format!("`{}` and `{}` have different axes", second.name, first.name);
        let error = at(second, Code::ShapeSame, message);
        let error = error.note(format!("the axes are {others} and {own}"));
        return Err(Box::new(error.help("give both the same axes, in any order")));
    };
    let moved = second.layout.permuted(&order).map_err(CompareError::Expr);
    let found = moved.and_then(|moved| compare(&first.layout, &moved, &RayonExecutor(&NoCache)));
    match found {
        Ok(LayoutEquivalence::Undecided { points }) => {
            let (a, b) = (&first.name, &second.name);
            let message = format!("cannot decide if `{a}` and `{b}` have the same map");
            let error = at(second, Code::MapUndecided, message);
            let (why, help) = match points {
                Some(points) => (
                    format!("{points} elements would have to be compared individually"),
                    "compare them with smaller extents",
                ),
                None => (
                    "an extent is known only at run time, and all sampled sizes agree".to_owned(),
                    "constrain the symbols (`min`, `max`, `multiple`), or compare at a fixed size",
                ),
            };
            Err(Box::new(error.note(why).help(help)))
        }
        Ok(LayoutEquivalence::Same { equal_sizes }) => Ok(TensorComparison::Same { equal_sizes }),
        Ok(LayoutEquivalence::Differs { logical, symbols, first, second }) => {
            Ok(TensorComparison::Differs { logical, symbols, places: [first, second] })
        }
        Ok(LayoutEquivalence::Ranks { first, second }) => {
            Ok(TensorComparison::Ranks([first, second]))
        }
        Err(error) => Err(Box::new(fault(&error, first, second, &order))),
    }
}

fn fault(error: &CompareError, first: &Tensor, second: &Tensor, order: &[usize]) -> Diagnostic {
    let (a, b) = (&first.name, &second.name);
    match error {
        CompareError::Extent { axis } => {
            let extent = |tensor: &Tensor, axis: Option<usize>| {
                let axis = axis.and_then(|axis| tensor.layout.logical().get(axis));
                axis.map_or(String::new(), |axis| {
                    layout_names::layout_expr(&axis.extent, &tensor.layout)
                })
            };
            let name = first.layout.logical().get(*axis).map_or("", |axis| axis.name.as_str());
            let (own, other) =
                (extent(first, Some(*axis)), extent(second, order.get(*axis).copied()));
            let message = format!("the extents of axis `{name}` differ");
            at(second, Code::ShapeSame, message)
                .note(format!("it is {own} in `{a}` and {other} in `{b}`"))
                .help("give both the same extent")
        }
        CompareError::Rank { .. } | CompareError::Symbol { .. } => {
            at(second, Code::ShapeSame, error.to_string())
                .help("give both the same axes and symbols")
        }
        CompareError::Domain => {
            let message = format!("`{a}` and `{b}` have different elements");
            at(second, Code::ShapeSame, message).help("write the same `where` in both shapes")
        }
        CompareError::Expr(inner) => {
            let message = format!("the comparison of `{a}` and `{b}` is too large: {inner}");
            at(second, Code::MapUndecided, message).help("compare them with smaller extents")
        }
    }
}

/// Error with the code `code` and the text `message`, located at the layout of `tensor` in its manifest.
fn at(tensor: &Tensor, code: Code, message: String) -> Diagnostic {
    Diagnostic::error(code, message, tensor.places.layout.clone(), "")
}
