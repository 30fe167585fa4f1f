//! Identifiers of one function: the manifest's names, with a suffix if they are in use.

/// Greatest suffix of a name; beyond it, the name gets the prefix `its_`, as all identifiers with its beginning may be
/// reserved.
const MOST_SUFFIX: u64 = 999;

/// Source of identifiers that are distinct and not reserved by the target.
#[derive(Clone)]
pub(crate) struct Namer<'a> {
    avoid: &'a dyn Fn(&str) -> bool,
    /// Names in use; few, since a function has as many as axes, digits and buffers.
    taken: Vec<String>,
    /// For each prefix of partial names, the first number that may be free.
    numbers: Vec<(String, u64)>,
}

impl std::fmt::Debug for Namer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Namer").field("taken", &self.taken).finish_non_exhaustive()
    }
}

impl<'a> Namer<'a> {
    /// Namer that never returns a name for which `avoid` is true.
    pub(crate) fn new(avoid: &'a dyn Fn(&str) -> bool) -> Self {
        Self { avoid, taken: Vec::new(), numbers: Vec::new() }
    }

    /// `wanted`, or `wanted_2`, `wanted_3`, … if that is in use or reserved.
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

    /// First free name of `prefix0`, `prefix1`, ….
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
