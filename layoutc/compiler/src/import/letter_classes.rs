//! Equivalence classes of axes that share a letter, with undo.

/// Equivalence classes of axes, as a union-find structure with undo. All axes of a class have the same letter, and the
/// axes of one tensor are always in different classes with different letters. An axis is given as the pair (position of
/// its tensor, position in the tensor); internally it has a number, its position in the concatenation of the axes of
/// all tensors.
pub(super) struct LetterClasses {
    /// Number of the first axis of each tensor; the last entry is the count of all axes.
    starts: Vec<usize>,
    parent: Vec<usize>,
    /// Letter of each class, indexed by the number of its root axis; `None` for a class without a letter.
    letter: Vec<Option<char>>,
    /// Positions of the tensors with an axis in each class, indexed by the number of its root axis.
    tensors: Vec<Vec<usize>>,
    done: Vec<UndoEntry>,
}

/// Record of one change of the classes: the data from which `undo` restores the classes before the change.
enum UndoEntry {
    Union { inner: usize, outer: usize, tensors: usize, letter: Option<char> },
    Letter { class: usize },
}

impl LetterClasses {
    /// Creates a class for every axis. `ranks` are the ranks of the tensors, in order.
    pub(super) fn new(ranks: impl Iterator<Item = usize>) -> Self {
        let (mut starts, mut tensors) = (vec![0], Vec::new());
        for (tensor, rank) in ranks.enumerate() {
            tensors.extend((0..rank).map(|_| vec![tensor]));
            starts.push(tensors.len());
        }
        let parent = (0..tensors.len()).collect();
        Self { starts, parent, letter: vec![None; tensors.len()], tensors, done: Vec::new() }
    }

    /// Adds a tensor of `rank` axes, each in a separate class.
    pub(super) fn add(&mut self, rank: usize) {
        let tensor = self.starts.len().saturating_sub(1);
        let start = self.tensors.len();
        self.tensors.extend((0..rank).map(|_| vec![tensor]));
        self.parent.extend(start..start + rank);
        self.letter.extend((0..rank).map(|_| None));
        self.starts.push(self.tensors.len());
    }

    /// Calls `all`, and undoes its changes of the classes if it returns false. Returns the result of `all`.
    pub(super) fn attempt(&mut self, all: impl FnOnce(&mut Self) -> bool) -> bool {
        let before = self.done.len();
        let is_done = all(self);
        while !is_done && self.done.len() > before {
            self.undo();
        }
        is_done
    }

    /// Joins the classes of two axes, each given as the pair (position of its tensor, position in the tensor). Returns
    /// true if both axes are in one class afterwards. Returns false, without a change, if the classes have different
    /// letters, or if two axes of one tensor would be in one class or get one letter.
    pub(super) fn join(&mut self, a: (usize, usize), b: (usize, usize)) -> bool {
        let (Some(a), Some(b)) = (self.class(a), self.class(b)) else { return false };
        if a == b {
            return true;
        }
        let (of_a, of_b) = (self.letter_of(a), self.letter_of(b));
        if of_a.is_some() && of_b.is_some() && of_a != of_b {
            return false;
        }
        let (inner, outer) = if self.members(a) < self.members(b) { (a, b) } else { (b, a) };
        let letter = of_a.or(of_b);
        let gets_letter = letter.filter(|_| self.letter_of(outer).is_none());
        let meets = |tensor: &usize| {
            self.classes(*tensor).any(|class| {
                class == outer
                    || (class != inner && letter.is_some() && self.letter_of(class) == letter)
            })
        };
        let is_taken = |tensor: &usize| {
            self.classes(*tensor)
                .any(|class| class != outer && self.letter_of(class) == gets_letter)
        };
        let of = |class: usize| self.tensors.get(class).map_or(&[][..], Vec::as_slice);
        if of(inner).iter().any(meets) || (gets_letter.is_some() && of(outer).iter().any(is_taken))
        {
            return false;
        }
        let moved = self.tensors.get(inner).cloned().unwrap_or_default();
        let tensors = self.members(outer);
        self.done.push(UndoEntry::Union { inner, outer, tensors, letter: self.letter_of(outer) });
        self.tensors.get_mut(outer).into_iter().for_each(|list| list.extend(moved.iter()));
        self.parent.get_mut(inner).into_iter().for_each(|slot| *slot = outer);
        self.letter.get_mut(outer).into_iter().for_each(|slot| *slot = letter);
        true
    }

    /// Assigns a letter to the class of `axis`, which is the pair (position of its tensor, position in the tensor).
    /// Returns false, without a change, if the class has another letter, or if a tensor with an axis in the class has
    /// an axis with this letter already.
    pub(super) fn name(&mut self, axis: (usize, usize), letter: char) -> bool {
        let Some(class) = self.class(axis) else { return false };
        if let Some(own) = self.letter_of(class) {
            return own == letter;
        }
        let has = |tensor: &usize| {
            self.classes(*tensor).any(|other| self.letter_of(other) == Some(letter))
        };
        if self.tensors.get(class).is_some_and(|list| list.iter().any(has)) {
            return false;
        }
        self.done.push(UndoEntry::Letter { class });
        self.letter.get_mut(class).into_iter().for_each(|slot| *slot = Some(letter));
        true
    }

    /// Letter of `axis`, which is the pair (position of its tensor, position in the tensor); `None` if its class has no
    /// letter.
    pub(super) fn letter(&self, axis: (usize, usize)) -> Option<char> {
        self.letter_of(self.class(axis)?)
    }

    fn undo(&mut self) {
        match self.done.pop() {
            Some(UndoEntry::Union { inner, outer, tensors, letter }) => {
                self.tensors.get_mut(outer).into_iter().for_each(|list| list.truncate(tensors));
                self.parent.get_mut(inner).into_iter().for_each(|slot| *slot = inner);
                self.letter.get_mut(outer).into_iter().for_each(|slot| *slot = letter);
            }
            Some(UndoEntry::Letter { class }) => {
                self.letter.get_mut(class).into_iter().for_each(|slot| *slot = None);
            }
            None => {}
        }
    }

    fn letter_of(&self, class: usize) -> Option<char> {
        self.letter.get(class).copied().flatten()
    }

    fn members(&self, class: usize) -> usize {
        self.tensors.get(class).map_or(0, Vec::len)
    }

    /// Root axis of the class of axis `k` of a tensor, by number; `None` if there is no such axis.
    fn class(&self, (tensor, k): (usize, usize)) -> Option<usize> {
        let axis = self.starts.get(tensor)?.checked_add(k)?;
        (axis < *self.starts.get(tensor + 1)?).then(|| self.root(axis))
    }

    /// Root axes of the classes of a tensor's axes, in the order of the axes.
    fn classes(&self, tensor: usize) -> impl Iterator<Item = usize> + '_ {
        let at = |k: usize| self.starts.get(k).copied().unwrap_or(0);
        (at(tensor)..at(tensor + 1)).map(|axis| self.root(axis))
    }

    /// Root axis of the class that contains an axis, by number. Union by size bounds the depth by log2 of the number of
    /// axes.
    fn root(&self, mut axis: usize) -> usize {
        while let Some(parent) = self.parent.get(axis).filter(|parent| **parent != axis) {
            axis = *parent;
        }
        axis
    }
}
