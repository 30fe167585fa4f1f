//! Atoms, the indivisible factors of polynomials, and monomials, the products of atoms.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::ops::Deref;

use crate::expr::{BinOp, Var};
use crate::normal_form::poly::Poly;

/// Indivisible factor of a monomial: a variable, or an operation other than `+`, `-` and `*`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Atom {
    /// Variable. `Var::Symbol(k)` stands for the symbol divided by its declared multiple: a symbol that is a multiple
    /// of 4 is 4 times this atom.
    Var(Var),
    /// Operation `a op b` on two polynomials, where `op` is `//`, `%`, `&`, `^`, min, max or a Hilbert curve
    /// operation.
    Op(BinOp, Arc<Poly>, Arc<Poly>),
}

impl Atom {
    /// True if a variable for which `test` returns true occurs in the atom, also inside an operation.
    pub(crate) fn mentions(&self, test: &dyn Fn(Var) -> bool) -> bool {
        match self {
            Atom::Var(var) => test(*var),
            Atom::Op(_, a, b) => a.mentions(test) || b.mentions(test),
        }
    }

    /// True if all variables of the atom are symbols, none is an index.
    pub(crate) fn is_symbolic(&self) -> bool {
        !self.mentions(&|var| !matches!(var, Var::Symbol(_)))
    }
}

/// Product of atoms, sorted; a power repeats its atom, and the empty product is 1. Dereferences to the slice of its
/// atoms, and is ordered like the slice.
#[derive(Debug, Clone, Default)]
pub(crate) enum Monomial {
    #[default]
    One,
    Single(Atom),
    Product(Arc<[Atom]>),
}

impl From<Vec<Atom>> for Monomial {
    fn from(mut atoms: Vec<Atom>) -> Self {
        if atoms.len() > 1 {
            atoms.sort();
            return Self::Product(atoms.into());
        }
        atoms.pop().map_or(Self::One, Self::Single)
    }
}

impl Deref for Monomial {
    type Target = [Atom];

    fn deref(&self) -> &[Atom] {
        match self {
            Self::One => &[],
            Self::Single(atom) => core::slice::from_ref(atom),
            Self::Product(atoms) => atoms,
        }
    }
}

impl PartialEq for Monomial {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Monomial {}

impl PartialOrd for Monomial {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Monomial {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl Monomial {
    pub(crate) fn times(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::One, all) | (all, Self::One) => all.clone(),
            _ => self.iter().chain(other.iter()).cloned().collect::<Vec<_>>().into(),
        }
    }

    /// Product of all atoms except the atom at position `at` of the slice.
    pub(crate) fn without(&self, at: usize) -> Self {
        if self.len() < 2 {
            return Self::One;
        }
        let others = self.iter().enumerate().filter(|(k, _)| *k != at);
        others.map(|(_, atom)| atom.clone()).collect::<Vec<_>>().into()
    }

    /// Quotient `self / divisor`: the product of the atoms that remain when each atom of `divisor` is removed once.
    /// `None` if an atom to be removed does not occur.
    pub(crate) fn divided_by(&self, divisor: &Self) -> Option<Self> {
        if divisor.is_empty() {
            return Some(self.clone());
        }
        let mut left = self.to_vec();
        for atom in divisor.iter() {
            let at = left.iter().position(|a| a == atom)?;
            left.remove(at);
        }
        Some(left.into())
    }
}
