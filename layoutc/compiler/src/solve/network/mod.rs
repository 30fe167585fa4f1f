//! Cost function networks: variables with a few values each, costs of values and of pairs of values, and the assignment
//! of least total cost with a proof that there is none cheaper.
//!
//! A variable is *eliminated* by putting the least cost over its values in the place of all tables that mention it. Once
//! all are, the constant that is left is the least cost. A table grows with the variables that it is over: where it would
//! grow beyond a budget, the tables of a variable are put into several groups, each minimised alone. That gives a bound;
//! the gap is closed by branching on such a variable.
//!
//! Source: Dechter, Bucket elimination (1999), and Dechter and Rish, Mini-buckets (2003).

mod assign;
mod check;
mod eliminate;
mod search;
mod table;

use thiserror::Error;

pub use check::verify;
pub use search::solve;
pub use table::{Cost, INFINITE};

use table::{Table, sum};

/// A variable of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Variable(usize);

impl Variable {
    /// Its position: that of its value in [`Solution::values`].
    pub fn index(self) -> usize {
        self.0
    }
}

/// Variables, and what their values cost.
#[derive(Debug, Clone, Default)]
pub struct Network {
    /// How many values each variable has.
    domains: Vec<usize>,
    /// Costs over one or two variables each.
    tables: Vec<Table>,
    /// What every assignment costs.
    constant: Cost,
}

impl Network {
    /// A network without variables.
    pub fn new() -> Self {
        Self::default()
    }

    /// A variable with as many values as there are costs.
    pub fn add_variable(&mut self, costs: Vec<Cost>) -> Variable {
        let variable = self.domains.len();
        self.domains.push(costs.len());
        self.tables.push(Table::new(vec![variable], &self.domains, costs));
        Variable(variable)
    }

    /// What the values of a variable cost besides.
    pub fn add_unary(&mut self, variable: Variable, costs: Vec<Cost>) {
        self.tables.push(Table::new(vec![variable.0], &self.domains, costs));
    }

    /// What pairs of values cost: `costs` has a row for each value of `a`, with an entry for each value of `b`.
    pub fn add_pair(&mut self, a: Variable, b: Variable, costs: Vec<Cost>) {
        self.tables.push(Table::new(vec![a.0, b.0], &self.domains, costs));
    }

    /// What every assignment costs besides.
    pub fn add_constant(&mut self, cost: Cost) {
        self.constant = sum(self.constant, cost);
    }

    /// How many variables there are.
    pub fn variables(&self) -> usize {
        self.domains.len()
    }

    /// What an assignment costs: the sum over all tables; [`INFINITE`] where it is none.
    pub fn cost(&self, values: &[usize]) -> Cost {
        let at = |table: &Table| table.at(values);
        self.tables.iter().map(at).fold(self.constant, sum)
    }
}

/// How much is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Entries of the largest table.
    pub entries: usize,
    /// Bounds that are worked out.
    pub nodes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { entries: 1 << 20, nodes: 400 }
    }
}

/// An assignment, and a proof of how good it is.
#[derive(Debug, Clone)]
pub struct Solution {
    /// A value for each variable.
    pub values: Vec<usize>,
    /// What they cost.
    pub cost: Cost,
    /// No assignment costs less.
    pub bound: Cost,
    /// Why.
    pub proof: Proof,
}

/// Why there is no solution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// Every assignment is forbidden.
    Impossible,
    /// None was found within the limits that is not forbidden, and whether there is one is not known.
    GaveUp,
}

/// Why no assignment costs less than a bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
    /// Variables eliminated one after the other.
    Eliminated(Vec<Step>),
    /// One proof for each value of a variable.
    Cases {
        /// The variable.
        variable: usize,
        /// A proof for each of its values.
        cases: Vec<Proof>,
    },
    /// Not looked into: what every assignment costs at least, without a proof of its own.
    Open,
}

/// A variable that is eliminated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The variable.
    pub variable: usize,
    /// The tables that mention it, in groups that are minimised one by one. Tables are counted as they come into being:
    /// first those of the network, then one for each group.
    pub groups: Vec<Vec<usize>>,
}

/// What is wrong with a solution.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Wrong {
    /// A variable has no value, or one that it does not have.
    #[error("the values are none of the network")]
    Values,
    /// The costs do not add up.
    #[error("the values cost {found}, and it says {said}")]
    Cost {
        /// What they cost.
        found: Cost,
        /// What is said.
        said: Cost,
    },
    /// The proof does not go through.
    #[error("the proof is not of this network: {0}")]
    Proof(&'static str),
    /// The proof shows less.
    #[error("the proof shows a bound of {found}, and it says {said}")]
    Bound {
        /// What it shows.
        found: Cost,
        /// What is said.
        said: Cost,
    },
}

#[cfg(test)]
mod tests;
