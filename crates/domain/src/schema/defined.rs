//! The definition of a type in documents. It stands beside ids, too, so it uses nothing of this crate.

use schemars::{Schema, SchemaGenerator, json_schema};

/// Gives types a definition each: its words, its name where that is not the type's, the JSON type, and the rules.
macro_rules! defined {
    (@name $named:ident) => {
        stringify!($named)
    };
    (@name $named:ident $name:ident) => {
        stringify!($name)
    };
    ($($(#[doc = $doc:literal])* $named:ident $(as $name:ident)?: $kind:ident $rules:tt;)*) => {$(
        impl schemars::JsonSchema for $named {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $crate::schema::defined!(@name $named $($name)?).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let words = concat!($($doc, "\n"),*);
                let rules = schemars::json_schema!($rules);
                $crate::schema::definition(generator, stringify!($kind), words, rules)
            }
        }
    )*};
}
pub(crate) use defined;

/// The definition of a type. Where definitions are repeated in each place that refers to them, it is the JSON type alone.
pub(crate) fn definition(
    generator: &SchemaGenerator,
    kind: &str,
    words: &str,
    mut rules: Schema,
) -> Schema {
    if generator.settings().inline_subschemas {
        return json_schema!({ "type": kind });
    }
    rules.insert("type".to_owned(), kind.into());
    rules.insert("description".to_owned(), words.trim().into());
    rules
}
