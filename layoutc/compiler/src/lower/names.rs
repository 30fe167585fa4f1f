//! Identifiers of one function: the names in the manifest, with a suffix if they are in use.

/// Greatest numeric suffix without a prefix. A greater one comes with the prefix `its_`, as all identifiers that begin
/// with the name may be reserved.
const MOST_SUFFIX: u64 = 999;

/// Source of identifiers that are distinct and not reserved by the target.
#[derive(Clone)]
pub(crate) struct Namer<'a> {
    avoid: &'a dyn Fn(&str) -> bool,
    /// Names in use. They are few: a function has one for each axis, digit and buffer, so that a linear search is fast.
    taken: Vec<String>,
    /// Pairs (prefix, number) of the names that [`Namer::partial`] returned: the first number that may be free for the
    /// prefix.
    numbers: Vec<(String, u64)>,
}

impl std::fmt::Debug for Namer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Namer").field("taken", &self.taken).finish_non_exhaustive()
    }
}

impl<'a> Namer<'a> {
    /// Namer without names in use, which never returns a name for which `avoid` is true.
    pub(crate) fn new(avoid: &'a dyn Fn(&str) -> bool) -> Self {
        Self { avoid, taken: Vec::new(), numbers: Vec::new() }
    }

    /// Name `wanted`; if it is in use or reserved, the first free one of `wanted_2`, `wanted_3`, …, from 1000 on with
    /// the prefix `its_`. The returned name is in use from then on.
    pub(crate) fn name(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        let mut suffix = 2_u64;
        while (self.avoid)(&name) || self.taken.contains(&name) {
            let begin = if suffix > MOST_SUFFIX { "its_" } else { "" };
            name = format!("{begin}{wanted}_{suffix}");
            suffix = suffix.saturating_add(1);
        }
        self.taken.push(name.clone());
        name
    }

    /// First free name of `prefix0`, `prefix1`, …, for a partial offset. The returned name is in use from then on.
    pub(crate) fn partial(&mut self, prefix: &str) -> String {
        let known = self.numbers.iter().position(|(known, _)| known == prefix);
        let (prefix, mut number) =
            known.map_or_else(|| (prefix.to_owned(), 0), |at| self.numbers.swap_remove(at));
        loop {
            let name = [prefix.as_str(), &number.to_string()].concat();
            if !(self.avoid)(&name) && !self.taken.contains(&name) {
                self.taken.push(name.clone());
                self.numbers.push((prefix, number.saturating_add(1)));
                return name;
            }
            number = number.saturating_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn used_and_reserved_names_get_a_suffix() {
        let avoid = |name: &str| name == "int";
        let mut namer = Namer::new(&avoid);
        assert_eq!(namer.name("n"), "n");
        assert_eq!(namer.name("n"), "n_2");
        assert_eq!(namer.name("int"), "int_2");
    }
}
