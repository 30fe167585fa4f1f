//! Model parts that templates hold as opaque values: a filter gets the Rust value itself, and the part becomes a
//! template value only if a template accesses its fields.

use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use minijinja::value::{DynObject, Enumerator, Object, ObjectRepr, Value};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::template_value::TemplateValue;
use crate::emit::syntax::{Expr, Function};
use crate::ir;
use crate::passes::{Requirements, requirements};

/// Part of the model that is shared with the templates that hold it, with the requirements of the IR that it is made
/// from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shared<T> {
    part: Arc<T>,
    requirements: Requirements,
}

impl<T> Shared<T> {
    /// Requirements of the part; empty unless it is made from IR.
    pub(super) fn requirements(&self) -> &Requirements {
        &self.requirements
    }

    /// Changes the part, before it is shared with a template.
    pub(super) fn change(&mut self, change: impl FnOnce(&mut T))
    where
        T: Clone,
    {
        change(Arc::make_mut(&mut self.part));
    }

    /// Union of the requirements of several parts.
    pub(super) fn union<'w>(parts: impl IntoIterator<Item = &'w Self>) -> Requirements
    where
        T: 'w,
    {
        parts.into_iter().map(Self::requirements).collect()
    }
}

impl<T> From<T> for Shared<T> {
    fn from(part: T) -> Self {
        Self { part: Arc::new(part), requirements: Requirements::default() }
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.part
    }
}

impl<T: Serialize> Serialize for Shared<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.part.serialize(serializer)
    }
}

impl<T: SharedValue> TemplateValue for Shared<T> {
    fn to_template_value(&self) -> Value {
        let part = Arc::clone(&self.part) as Arc<dyn SharedValue>;
        Value::from_object(LazyObject { part, inside: OnceLock::new() })
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Shared<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self::from)
    }
}

impl<T: JsonSchema> JsonSchema for Shared<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> std::borrow::Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// Types that [`Shared`] can hold: those that convert to a template value and can be shared between threads.
pub trait SharedValue: TemplateValue + Any + fmt::Debug + Send + Sync {}

impl<T: TemplateValue + Any + fmt::Debug + Send + Sync> SharedValue for T {}

/// Model part of type `T` in a template value; `None` if the value holds another type or was made by a template.
pub(super) fn part<T: Any>(value: &Value) -> Option<&T> {
    value.downcast_object_ref::<LazyObject>().and_then(LazyObject::part)
}

/// Template value that holds a model part; `inside` is the converted part, set at the first access of a field.
#[derive(Debug)]
struct LazyObject {
    part: Arc<dyn SharedValue>,
    inside: OnceLock<Value>,
}

impl LazyObject {
    fn part<T: Any>(&self) -> Option<&T> {
        let part: &dyn Any = &*self.part;
        part.downcast_ref()
    }

    fn inside(&self) -> &Value {
        self.inside.get_or_init(|| self.part.to_template_value())
    }

    fn object(&self) -> Option<&DynObject> {
        self.inside().as_object()
    }
}

impl Object for LazyObject {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        match self.part::<Function>() {
            Some(_) => ObjectRepr::Map,
            None => self.object().map_or(ObjectRepr::Plain, DynObject::repr),
        }
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.object()?.get_value(key)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        // The head of a function is read without converting its body.
        match (self.part::<Function>(), key) {
            (Some(function), "name") => Some(Value::from(function.name.as_str())),
            (Some(function), "doc") => Some(function.doc.iter().map(String::as_str).collect()),
            _ => self.object()?.get_value_by_str(key),
        }
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        self.object().map_or(Enumerator::NonEnumerable, DynObject::enumerate)
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        self.object()?.enumerator_len()
    }

    fn is_true(self: &Arc<Self>) -> bool {
        self.part::<Function>().is_some() || self.inside().is_true()
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.inside(), f)
    }
}

impl From<ir::Expr> for Shared<Expr> {
    fn from(expr: ir::Expr) -> Self {
        Self { requirements: Requirements::of_index(&expr), ..Expr::from(expr).into() }
    }
}

impl From<ir::Function> for Shared<Function> {
    fn from(function: ir::Function) -> Self {
        Self { requirements: requirements(&function), ..Function::from(function).into() }
    }
}
