//! The axes of all tensors in classes that have one letter each. Whatever is tried can be taken back.

/// Classes of axes. No tensor has two axes of one class, or two classes of one letter.
pub(super) struct LetterClasses {
    /// Where the axes of each tensor begin, and where the last end.
    starts: Vec<usize>,
    parent: Vec<usize>,
    /// For the first axis of a class: its letter.
    letter: Vec<Option<char>>,
    /// For the first axis of a class: the tensors that have an axis of it.
    tensors: Vec<Vec<usize>>,
    done: Vec<UndoEntry>,
}

/// What was done, to be taken back.
enum UndoEntry {
    Union { inner: usize, outer: usize, tensors: usize, letter: Option<char> },
    Letter { class: usize },
}

impl LetterClasses {
    /// Every axis is a class of its own; `ranks`: how many axes each tensor has.
    pub(super) fn new(ranks: impl Iterator<Item = usize>) -> Self {
        let (mut starts, mut tensors) = (vec![0], Vec::new());
        for (tensor, rank) in ranks.enumerate() {
            tensors.extend((0..rank).map(|_| vec![tensor]));
            starts.push(tensors.len());
        }
        let parent = (0..tensors.len()).collect();
        Self { starts, parent, letter: vec![None; tensors.len()], tensors, done: Vec::new() }
    }

    /// Adds a tensor, whose axes are classes of their own.
    pub(super) fn add(&mut self, rank: usize) {
        let tensor = self.starts.len().saturating_sub(1);
        let start = self.tensors.len();
        self.tensors.extend((0..rank).map(|_| vec![tensor]));
        self.parent.extend(start..start + rank);
        self.letter.extend((0..rank).map(|_| None));
        self.starts.push(self.tensors.len());
    }

    /// Does all of something, or nothing where it gives `false`.
    pub(super) fn attempt(&mut self, all: impl FnOnce(&mut Self) -> bool) -> bool {
        let before = self.done.len();
        let is_done = all(self);
        while !is_done && self.done.len() > before {
            self.undo();
        }
        is_done
    }

    /// Makes two axes one class; `false` where they cannot be.
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

    /// Gives an axis a letter; `false` where its class has another one, or its tensors have this one.
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

    /// The letter of an axis.
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

    /// The class of axis `k` of a tensor.
    fn class(&self, (tensor, k): (usize, usize)) -> Option<usize> {
        let axis = self.starts.get(tensor)?.checked_add(k)?;
        (axis < *self.starts.get(tensor + 1)?).then(|| self.root(axis))
    }

    /// The classes of a tensor's axes.
    fn classes(&self, tensor: usize) -> impl Iterator<Item = usize> + '_ {
        let at = |k: usize| self.starts.get(k).copied().unwrap_or(0);
        (at(tensor)..at(tensor + 1)).map(|axis| self.root(axis))
    }

    /// Larger classes take in smaller ones, so the way is short.
    fn root(&self, mut axis: usize) -> usize {
        while let Some(parent) = self.parent.get(axis).filter(|parent| **parent != axis) {
            axis = *parent;
        }
        axis
    }
}
