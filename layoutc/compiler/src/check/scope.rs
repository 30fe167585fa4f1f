//! Scopes of manifests: the consts, symbols, transforms and other items by name that a manifest declares or imports by
//! `use`.

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
use crate::base::diagnostic::{CheckResult, Diagnostic, FileSpan};
use crate::base::nearest::nearest;
use crate::manifest::syntax::{
    ConstItem, Identifier, IntegerExpr, ItemKind, ManifestSyntax, StepKind, SymbolItem,
    TransformItem,
};
use crate::model::MemorySpace;

/// Greatest value of a symbol that declares no `max`: 2^31 - 1.
pub(super) const DEFAULT_MAX: i128 = (1 << 31) - 1;

/// Scopes of all loaded manifests, by the manifest's position in [`ManifestSet`].
pub(super) type ManifestScopes = Vec<ManifestScope>;

/// Items of one manifest by name: those that it declares, and those that it imports. A [`FileSpan`] is the location of
/// the name in the declaration of the item.
#[derive(Debug, Clone, Default)]
pub(super) struct ManifestScope {
    pub(super) consts: BTreeMap<String, (i128, FileSpan)>,
    pub(super) symbols: BTreeMap<String, (Symbol, FileSpan)>,
    pub(super) transforms: BTreeMap<String, Arc<TransformDef>>,
    pub(super) kernels: BTreeMap<String, Arc<KernelDef>>,
    pub(super) backends: BTreeMap<String, Arc<BackendDef>>,
    pub(super) spaces: BTreeMap<String, (MemorySpace, FileSpan)>,
    pub(super) meshes: BTreeMap<String, (Mesh, FileSpan)>,
    /// Kinds and names of items that have errors. A reference to one adds no diagnostic.
    pub(super) broken: BTreeSet<(ItemKind, String)>,
    /// True if part of the manifest, or of a manifest that it uses, could not be read or parsed. That part may declare
    /// an unknown name, so that a reference to an unknown name adds no diagnostic.
    pub(super) torn: bool,
}

/// Transform of a manifest, with the file that declares it.
#[derive(Debug)]
pub(super) struct TransformDef {
    pub(super) item: TransformItem,
    pub(super) file: Arc<str>,
    /// Position in [`ManifestSet`] of the manifest that declares the transform. The names in the steps are resolved in
    /// the scope of that manifest.
    pub(super) home: usize,
}

impl ManifestScope {
    pub(super) fn is_broken(&self, kind: ItemKind, name: &str) -> bool {
        self.torn || self.broken.contains(&(kind, name.to_string()))
    }

    /// Names that an expression without axes may use: consts, then symbols.
    pub(super) fn known(&self) -> impl Iterator<Item = &str> {
        self.consts.keys().chain(self.symbols.keys()).map(String::as_str)
    }

    /// Adds the item `name` of a manifest to the scope. If `found` is `Ok`, the item and the location of its name are
    /// inserted under its name in the map that `items` returns. If `found` is `Err`, its faults are added to
    /// `diagnostics`, and (kind, name) to `broken`.
    fn declare<T>(
        &mut self,
        (kind, name, file): (ItemKind, &Identifier, &Arc<str>),
        found: CheckResult<T>,
        items: impl FnOnce(&mut Self) -> &mut BTreeMap<String, (T, FileSpan)>,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        match found {
            Ok(item) => {
                items(self).insert(name.value.clone(), (item, name.at(file)));
            }
            Err(found) => {
                diagnostics.extend(found);
                self.broken.insert((kind, name.value.clone()));
            }
        }
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

/// Builds the scopes of all manifests in `files`, in their order there, and adds errors of their items to
/// `diagnostics`.
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
        let value = number(&item.value, scope, file);
        let value = value.map_err(|faults| with_order_help(faults, item, &syntax.consts));
        let key = (ItemKind::Const, &item.name, file);
        scope.declare(key, value, |scope| &mut scope.consts, diagnostics);
    }
    for item in &syntax.symbols {
        if !is_new(scope, &item.name, file, diagnostics) {
            continue;
        }
        let (symbol, key) = (symbol(item, scope, file), (ItemKind::Symbol, &item.name, file));
        scope.declare(key, symbol, |scope| &mut scope.symbols, diagnostics);
    }
    for item in &syntax.memory_spaces {
        let space = super::space::space(item, scope, file);
        let key = (ItemKind::MemorySpace, &item.name, file);
        scope.declare(key, space, |scope| &mut scope.spaces, diagnostics);
    }
    for item in &syntax.meshes {
        let (mesh, key) =
            (super::mesh::mesh(item, scope, file), (ItemKind::Mesh, &item.name, file));
        scope.declare(key, mesh, |scope| &mut scope.meshes, diagnostics);
    }
    for item in &syntax.transforms {
        let def = TransformDef { item: item.clone(), file: Arc::clone(file), home };
        let name = item.name.value.clone();
        let subject = format!("the transform `{name}`");
        if let Some(earlier) = scope.transforms.insert(name, Arc::new(def))
            && !(Arc::ptr_eq(&earlier.file, file) && earlier.item == *item)
        {
            let first = earlier.item.name.at(&earlier.file);
            diagnostics.push(declared_twice(&subject, item.name.at(file), first));
        }
    }
    check_applied_transforms(scope, syntax, diagnostics);
    kernels(scope, syntax, home, diagnostics);
    backends(scope, syntax, diagnostics);
}

/// Faults `faults` in the value of the const `item` with one change: the message of an unknown name is replaced if the
/// name is that of `item` ("refers to itself"), or that of another const in `consts` ("is declared below its use").
/// `consts` are all consts of the manifest.
fn with_order_help(
    mut faults: Vec<Diagnostic>,
    item: &ConstItem,
    consts: &[ConstItem],
) -> Vec<Diagnostic> {
    for fault in faults.iter_mut().filter(|fault| fault.code == Code::NameUnknown) {
        let name = fault.message.split('`').nth(1).unwrap_or_default().to_owned();
        let is_later = consts.iter().any(|other| other.name.value == name);
        if name == item.name.value {
            fault.message = format!("the const `{name}` refers to itself");
            fault.help = vec!["write a number, or an expression of consts above it".to_owned()];
        } else if is_later {
            fault.message = format!("the const `{name}` is declared below its use");
            fault.help = vec![format!("move `const {name}` above `const {}`", item.name.value)];
        } else {
            continue;
        }
        fault.fixes.clear();
    }
    faults
}

/// Checks that each transform of a manifest applies only transforms that exist, also if no layout uses it. A transform
/// that does not is reported and removed from the scope.
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

/// Error at `place` for the name of a transform that does not exist. `axes` are the axes of the layout, for help on
/// layout names of other tools; `None` if they are unknown.
pub(super) fn unknown_transform(
    name: &str,
    place: FileSpan,
    scope: &ManifestScope,
    axes: Option<&[Axis]>,
) -> Diagnostic {
    let message = format!("there is no transform `{name}`");
    let error = Diagnostic::error(Code::NameUnknown, message, place, "");
    let known = scope.transforms.keys().map(String::as_str);
    let is_near = nearest(name, known.clone()).is_some();
    match foreign_syntax::layout(name, axes).filter(|_| !is_near) {
        Some(help) => error.help(help),
        None => error.nearest_or_all(name, "transforms", known),
    }
}

fn backends(scope: &mut ManifestScope, syntax: &ManifestSyntax, diagnostics: &mut Vec<Diagnostic>) {
    let file = &syntax.file;
    for item in &syntax.backends {
        let def = BackendDef { item: item.clone(), file: Arc::clone(file) };
        let name = item.name.value.clone();
        let subject = format!("the backend `{name}`");
        if let Some(earlier) = scope.backends.insert(name, Arc::new(def))
            && !(Arc::ptr_eq(&earlier.file, file) && earlier.item == *item)
        {
            let first = earlier.item.name.at(&earlier.file);
            diagnostics.push(declared_twice(&subject, item.name.at(file), first));
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
                let (subject, first) =
                    (format!("the kernel `{name}`"), earlier.item.name.at(&earlier.file));
                diagnostics.push(declared_twice(&subject, item.name.at(file), first));
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
    let subject = format!("`{}`", name.value);
    diagnostics.push(declared_twice(&subject, name.at(file), earlier.clone()));
    false
}

/// Error for a second declaration of a name: `place` is the second, `first` the first one. `subject` starts the
/// message.
pub(super) fn declared_twice(subject: &str, place: FileSpan, first: FileSpan) -> Diagnostic {
    let message = format!("{subject} is declared twice");
    Diagnostic::error(Code::NameDuplicate, message, place, "again here")
        .with_label(first, "first here")
        .help("give one of the two another name")
}

/// Error for a name that no tensor of the manifest has. `None` if a tensor has it, if the tensor is invalid and has
/// been reported, or if part of the manifest could not be parsed and may declare it.
pub(super) fn undeclared_tensor(name: &Identifier, syntax: &ManifestSyntax) -> Option<Diagnostic> {
    let known = syntax.tensors.iter().map(|tensor| tensor.name.value.as_str());
    let is_broken = syntax.torn || syntax.broken.contains(&(ItemKind::Tensor, name.value.clone()));
    if is_broken || known.clone().any(|known| known == name.value) {
        return None;
    }
    let message = format!("there is no tensor `{}`", name.value);
    let error = Diagnostic::error(Code::NameUnknown, message, name.at(&syntax.file), "");
    let views = syntax.views.iter().map(|view| view.name.value.as_str());
    Some(error.nearest_or_all(&name.value, "tensors", known.chain(views)))
}

/// Value of an integer or of an expression of consts. A value beyond 64 bits is an error.
pub(super) fn number(
    bound: &IntegerExpr,
    scope: &ManifestScope,
    file: &Arc<str>,
) -> CheckResult<i128> {
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
    let place = || bound.at(file);
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

fn symbol(item: &SymbolItem, scope: &ManifestScope, file: &Arc<str>) -> CheckResult<Symbol> {
    let mut found = Vec::new();
    let mut fact = |bound: &Option<IntegerExpr>, default: i128| match bound {
        None => default,
        Some(IntegerExpr::Text(text)) if scope.symbols.contains_key(&text.value) => {
            let message = "facts that refer to other symbols are not supported yet";
            let place = text.at(file);
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
