//! Scopes of manifests: consts, symbols, transforms and other items, own and imported by `use`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use layoutc_algebra::expr::Expr;
use layoutc_algebra::normal_form::simplify::Facts;
use layoutc_algebra::sharding::Mesh;
use layoutc_algebra::symbol::{Axis, Symbol};

use super::compute::KernelDef;
use super::expr::{constant, overflow};
use super::foreign_syntax;
use super::graph::BackendDef;
use super::load::ManifestSet;
use crate::base::codes::Code;
use crate::base::diagnostic::{Diagnostic, FileSpan};
use crate::base::nearest::nearest;
use crate::manifest::syntax::{
    Identifier, IntegerExpr, ItemKind, ManifestSyntax, StepKind, SymbolItem, TransformItem,
};
use crate::model::MemorySpace;

/// Default maximum of a symbol: 2^31 - 1.
pub(super) const DEFAULT_MAX: i128 = (1 << 31) - 1;

/// Help for a duplicate name.
const RENAME: &str = "give one of the two another name";

/// The scope of each file, by position.
pub(super) type ManifestScopes = Vec<ManifestScope>;

/// The items of one manifest by name.
#[derive(Debug, Clone, Default)]
pub(super) struct ManifestScope {
    pub(super) consts: BTreeMap<String, (i128, FileSpan)>,
    pub(super) symbols: BTreeMap<String, (Symbol, FileSpan)>,
    pub(super) transforms: BTreeMap<String, Arc<TransformDef>>,
    pub(super) kernels: BTreeMap<String, Arc<KernelDef>>,
    pub(super) backends: BTreeMap<String, Arc<BackendDef>>,
    pub(super) spaces: BTreeMap<String, (MemorySpace, FileSpan)>,
    pub(super) meshes: BTreeMap<String, (Mesh, FileSpan)>,
    /// Names whose items have errors; a reference to one adds no diagnostic.
    pub(super) broken: BTreeSet<(ItemKind, String)>,
    /// True if part of a file could not be parsed: it may declare unknown names.
    pub(super) torn: bool,
}

/// A transform, with the file that declares it.
#[derive(Debug)]
pub(super) struct TransformDef {
    pub(super) item: TransformItem,
    pub(super) file: Arc<str>,
    /// Position of its file, in whose scope its steps are resolved.
    pub(super) home: usize,
}

impl ManifestScope {
    pub(super) fn is_broken(&self, kind: ItemKind, name: &str) -> bool {
        self.torn || self.broken.contains(&(kind, name.to_string()))
    }

    /// The names that an expression may use.
    pub(super) fn known(&self) -> impl Iterator<Item = &str> {
        self.consts.keys().chain(self.symbols.keys()).map(String::as_str)
    }

    fn import_from(&mut self, other: &ManifestScope) {
        self.consts.extend(other.consts.iter().map(|(k, v)| (k.clone(), v.clone())));
        self.symbols.extend(other.symbols.iter().map(|(k, v)| (k.clone(), v.clone())));
        self.transforms.extend(other.transforms.iter().map(|(k, v)| (k.clone(), Arc::clone(v))));
        self.kernels.extend(other.kernels.iter().map(|(k, v)| (k.clone(), Arc::clone(v))));
        self.backends.extend(other.backends.iter().map(|(k, v)| (k.clone(), Arc::clone(v))));
        self.spaces.extend(other.spaces.iter().map(|(k, v)| (k.clone(), v.clone())));
        self.meshes.extend(other.meshes.iter().map(|(k, v)| (k.clone(), v.clone())));
        self.broken.extend(other.broken.iter().cloned());
        self.torn |= other.torn;
    }
}

/// Builds the scopes of all files; each file comes after those that it uses.
pub(super) fn gather(files: &ManifestSet, diagnostics: &mut Vec<Diagnostic>) -> ManifestScopes {
    let mut scopes: ManifestScopes = Vec::new();
    for file in 0..files.len() {
        let mut scope = ManifestScope::default();
        for used in files.uses(file) {
            if let Some(other) = scopes.get(*used) {
                scope.import_from(other);
            }
        }
        if let Some(syntax) = files.syntax(file) {
            if syntax.uses.len() > files.uses(file).len() {
                scope.torn = true;
            }
            declare_items(&mut scope, syntax, file, diagnostics);
        }
        scopes.push(scope);
    }
    scopes
}

fn declare_items(
    scope: &mut ManifestScope,
    syntax: &ManifestSyntax,
    home: usize,
    diagnostics: &mut Vec<Diagnostic>,
) {
    scope.broken.extend(syntax.broken.iter().cloned());
    scope.torn |= syntax.torn;
    let file = &syntax.file;
    for item in &syntax.consts {
        if !is_new(scope, &item.name, file, diagnostics) {
            continue;
        }
        match number(&item.value, scope, file) {
            Ok(value) => {
                let place = FileSpan::new(file, item.name.span.clone());
                scope.consts.insert(item.name.value.clone(), (value, place));
            }
            Err(found) => {
                diagnostics.extend(found);
                scope.broken.insert((ItemKind::Const, item.name.value.clone()));
            }
        }
    }
    for item in &syntax.symbols {
        if !is_new(scope, &item.name, file, diagnostics) {
            continue;
        }
        match symbol(item, scope, file) {
            Ok(symbol) => {
                let place = FileSpan::new(file, item.name.span.clone());
                scope.symbols.insert(item.name.value.clone(), (symbol, place));
            }
            Err(found) => {
                diagnostics.extend(found);
                scope.broken.insert((ItemKind::Symbol, item.name.value.clone()));
            }
        }
    }
    super::space::declare(scope, syntax, diagnostics);
    super::mesh::declare(scope, syntax, diagnostics);
    for item in &syntax.transforms {
        let def = TransformDef { item: item.clone(), file: Arc::clone(file), home };
        let name = item.name.value.clone();
        if let Some(earlier) = scope.transforms.insert(name.clone(), Arc::new(def))
            && !(Arc::ptr_eq(&earlier.file, file) && earlier.item == *item)
        {
            let place = FileSpan::new(file, item.name.span.clone());
            let message = format!("the transform `{name}` is declared twice");
            let other = FileSpan::new(&earlier.file, earlier.item.name.span.clone());
            let error = Diagnostic::error(Code::NameDuplicate, message, place, "again here");
            diagnostics.push(error.with_label(other, "first here").help(RENAME));
        }
    }
    check_applied_transforms(scope, syntax, diagnostics);
    kernels(scope, syntax, home, diagnostics);
    backends(scope, syntax, diagnostics);
}

/// Reports transforms of a manifest that apply an unknown one, whether or not a layout uses them.
fn check_applied_transforms(
    scope: &mut ManifestScope,
    syntax: &ManifestSyntax,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut broken = Vec::new();
    for item in &syntax.transforms {
        for step in &item.steps {
            let StepKind::Apply { name, .. } = &step.kind else { continue };
            if scope.transforms.contains_key(&name.value)
                || scope.is_broken(ItemKind::Transform, &name.value)
            {
                continue;
            }
            let place = FileSpan::new(&syntax.file, name.span.clone());
            diagnostics.push(unknown_transform(&name.value, place, scope, None));
            broken.push(item.name.value.clone());
        }
    }
    for name in broken {
        scope.transforms.remove(&name);
        scope.broken.insert((ItemKind::Transform, name));
    }
}

/// Error for the name of a transform that does not exist; `axes` are those that it would apply to, if they are known.
pub(super) fn unknown_transform(
    name: &str,
    place: FileSpan,
    scope: &ManifestScope,
    axes: Option<&[Axis]>,
) -> Diagnostic {
    let message = format!("there is no transform `{name}`");
    let mut error = Diagnostic::error(Code::NameUnknown, message, place, "");
    let known: Vec<&str> = scope.transforms.keys().map(String::as_str).collect();
    let is_near = nearest(name, known.iter().copied()).is_some();
    match foreign_syntax::layout(name, axes).filter(|_| !is_near) {
        Some(help) => {
            error.add_help(help);
        }
        None => nearest_or_all(&mut error, name, "transforms", &known),
    }
    error
}

fn backends(scope: &mut ManifestScope, syntax: &ManifestSyntax, diagnostics: &mut Vec<Diagnostic>) {
    let file = &syntax.file;
    for item in &syntax.backends {
        let def = BackendDef { item: item.clone(), file: Arc::clone(file) };
        let name = item.name.value.clone();
        if let Some(earlier) = scope.backends.insert(name.clone(), Arc::new(def))
            && !(Arc::ptr_eq(&earlier.file, file) && earlier.item == *item)
        {
            let place = FileSpan::new(file, item.name.span.clone());
            let message = format!("the backend `{name}` is declared twice");
            let other = FileSpan::new(&earlier.file, earlier.item.name.span.clone());
            let error = Diagnostic::error(Code::NameDuplicate, message, place, "again here");
            diagnostics.push(error.with_label(other, "first here").help(RENAME));
        }
    }
}

fn kernels(
    scope: &mut ManifestScope,
    syntax: &ManifestSyntax,
    home: usize,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let file = &syntax.file;
    for item in &syntax.kernels {
        let name = &item.name.value;
        if let Some(earlier) = scope.kernels.get(name) {
            if !(Arc::ptr_eq(&earlier.file, file) && earlier.item == *item) {
                let place = FileSpan::new(file, item.name.span.clone());
                let message = format!("the kernel `{name}` is declared twice");
                let other = FileSpan::new(&earlier.file, earlier.item.name.span.clone());
                let error = Diagnostic::error(Code::NameDuplicate, message, place, "again here");
                diagnostics.push(error.with_label(other, "first here").help(RENAME));
            }
            continue;
        }
        match KernelDef::new(item, file, home) {
            Ok(def) => {
                scope.kernels.insert(name.clone(), Arc::new(def));
            }
            Err(found) => {
                diagnostics.extend(found);
                scope.broken.insert((ItemKind::Kernel, name.clone()));
            }
        }
    }
}

/// Returns true if no const or symbol has this name yet; otherwise reports an error.
fn is_new(
    scope: &ManifestScope,
    name: &Identifier,
    file: &Arc<str>,
    diagnostics: &mut Vec<Diagnostic>,
) -> bool {
    let consts = scope.consts.get(&name.value).map(|(_, place)| place);
    let symbols = scope.symbols.get(&name.value).map(|(_, place)| place);
    let Some(earlier) = consts.or(symbols) else { return true };
    let place = FileSpan::new(file, name.span.clone());
    let message = format!("`{}` is declared twice", name.value);
    let error = Diagnostic::error(Code::NameDuplicate, message, place, "again here");
    diagnostics.push(error.with_label(earlier.clone(), "first here").help(RENAME));
    false
}

/// Value of an integer, or of an expression of consts.
pub(super) fn number(
    bound: &IntegerExpr,
    scope: &ManifestScope,
    file: &Arc<str>,
) -> Result<i128, Vec<Diagnostic>> {
    let values = |name: &str| scope.consts.get(name).map(|(value, _)| Expr::constant(*value));
    let symbol = match bound {
        IntegerExpr::Text(text) => {
            scope.symbols.get_key_value(text.value.trim()).map(|(name, _)| name)
        }
        IntegerExpr::Integer(_) => None,
    };
    let expr = constant(bound, &values, scope, &Facts::default(), file).map_err(|mut faults| {
        if let (Some(name), [fault]) = (symbol, faults.as_mut_slice()) {
            fault.message = format!("expected a constant, found the symbol `{name}`");
            fault.help.clear();
            fault.add_help("write a number, or a `const`");
        }
        for fault in faults.iter_mut().filter(|fault| fault.help.is_empty()) {
            // Without known names there is no suggestion either.
            fault.add_help("declare it above as a `const`, or write a number");
        }
        faults
    })?;
    let place = || FileSpan::new(file, bound.span());
    let value = expr
        .evaluate(&|_| None)
        .map_err(|error| vec![overflow(&error, error.to_string(), place())])?;
    if i64::try_from(value).is_err() {
        let message = format!("{value} does not fit 64 bits");
        let error = Diagnostic::error(Code::ExprOverflow, message, place(), "");
        return Err(vec![error.help(format!("write a number from {} to {}", i64::MIN, i64::MAX))]);
    }
    Ok(value)
}

fn symbol(
    item: &SymbolItem,
    scope: &ManifestScope,
    file: &Arc<str>,
) -> Result<Symbol, Vec<Diagnostic>> {
    let mut found = Vec::new();
    let mut fact = |bound: &Option<IntegerExpr>, default: i128| match bound {
        None => default,
        Some(IntegerExpr::Text(text)) if scope.symbols.contains_key(&text.value) => {
            let message = "facts that refer to other symbols are not supported yet";
            let place = FileSpan::new(file, text.span.clone());
            let error = Diagnostic::error(Code::NameNotYet, message, place, "");
            found.push(
                error.help("write a number, and check the relation where the sizes are known"),
            );
            default
        }
        Some(bound) => number(bound, scope, file).unwrap_or_else(|errors| {
            found.extend(errors);
            default
        }),
    };
    let (min, max, multiple) =
        (fact(&item.min, 1), fact(&item.max, DEFAULT_MAX), fact(&item.multiple, 1));
    if !found.is_empty() {
        return Err(found);
    }
    let name = &item.name.value;
    let wrong = if min < 0 {
        let message = format!("the minimum of `{name}` is negative: {min}");
        Some((message, "write `min=0`, or remove it for the default of 1".to_owned()))
    } else if multiple < 1 {
        let message = format!("`{name}` cannot be a multiple of {multiple}");
        Some((message, "write 1 or more, or remove it for the default of 1".to_owned()))
    } else if max > i128::from(i64::MAX) {
        let message = format!("the maximum of `{name}` does not fit 64 bits");
        Some((message, format!("write `max={}` or less", i64::MAX)))
    } else if max / multiple * multiple < min {
        let of =
            if multiple > 1 { format!(" that is a multiple of {multiple}") } else { String::new() };
        let message = format!("`{name}` has no values: there is no number from {min} to {max}{of}");
        let (below, above) =
            (max / multiple * multiple, (min + multiple - 1) / multiple * multiple);
        let greater = (above <= i128::from(i64::MAX)).then(|| format!("`max={above}`"));
        let less = (below > 0).then(|| format!("`min={below}`"));
        let options: Vec<String> = greater.into_iter().chain(less).collect();
        let options =
            if options.is_empty() { "a smaller `min`".to_owned() } else { options.join(", or ") };
        Some((message, format!("write {options}")))
    } else if max / multiple == 0 {
        let message = format!("the only value of `{name}` is 0");
        Some((message, format!("write 0 in place of `{name}`, or `max={multiple}`")))
    } else {
        None
    };
    match wrong {
        None => Ok(Symbol { name: name.clone(), min, max, multiple }),
        Some((message, help)) => {
            let place = FileSpan::new(file, item.span.clone());
            Err(vec![Diagnostic::error(Code::ShapeSymbol, message, place, "").help(help)])
        }
    }
}

/// Adds a suggestion to an error about a name, if a known one is similar.
pub(super) fn suggest<'a>(
    error: &mut Diagnostic,
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
) {
    if let Some(near) = nearest(name, known) {
        error.add_suggestion(near);
    }
}

/// Limit on the names that a help text lists.
const LISTED: usize = 12;

/// Like [`suggest`]; if no name is similar, lists the known ones (`tensors here: …`), or says that there are none.
pub(super) fn nearest_or_all(error: &mut Diagnostic, name: &str, what: &str, known: &[&str]) {
    if let Some(near) = nearest(name, known.iter().copied()) {
        error.add_suggestion(near);
    } else if known.is_empty() {
        error.add_help(format!("declare it first: there are no {what} here"));
    } else {
        let listed: Vec<&str> = known.iter().take(LISTED).copied().collect();
        let more = if known.len() > LISTED { ", …" } else { "" };
        error.add_help(format!("{what} here: `{}`{more}", listed.join("`, `")));
    }
}
