//! Macros that declare ids, each with its checks and its definition in documents.

/// Defines a validated text id with the usual conversions, in any module of this crate.
///
/// One that documents show has its definition behind a semicolon: the words, another name than the type's, and the rules.
macro_rules! text_id {
    (
        $(#[$doc:meta])* $name:ident, $kind:literal, $rule:literal, $valid:expr
        $(; $(#[doc = $words:literal])* $(as $shown:ident)? { $($rules:tt)* })?
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::ids::InvalidId;

            fn from_str(value: &str) -> Result<Self, $crate::ids::InvalidId> {
                let valid: fn(&str) -> bool = $valid;
                if valid(value) {
                    Ok(Self(value.to_owned()))
                } else {
                    Err($crate::ids::InvalidId::new($kind, value, $rule))
                }
            }
        }

        impl TryFrom<String> for $name {
            type Error = $crate::ids::InvalidId;

            fn try_from(value: String) -> Result<Self, $crate::ids::InvalidId> {
                value.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        $(
            #[cfg(feature = "schema")]
            $crate::schema::defined! {
                $(#[doc = $words])*
                $name $(as $shown)?: string { $($rules)* };
            }
        )?
    };
}

pub(crate) use text_id;

/// Defines an id that is a ULID in lower case. Documents show it as `Ulid`, or under the name behind a semicolon.
macro_rules! ulid_id {
    ($(#[$doc:meta])* $name:ident, $kind:literal) => {
        $crate::ids::ulid_id!(
            $(#[$doc])* $name, $kind;
            #[doc = "An id that is a ULID in lower case."]
            as Ulid
        );
    };
    ($(#[$doc:meta])* $name:ident, $kind:literal; $(#[doc = $words:literal])* as $shown:ident) => {
        $crate::ids::text_id!(
            $(#[$doc])* $name, $kind, "26 characters, a ULID in lower case", $crate::ids::is_ulid;
            $(#[doc = $words])*
            as $shown { "pattern": "^[0-7][0-9a-hjkmnp-tv-z]{25}$", "examples": ["01k0000000000000000000000a"] }
        );

        impl $name {
            /// The id of a ULID.
            pub fn from_ulid(ulid: ulid::Ulid) -> Self {
                Self(ulid.to_string().to_ascii_lowercase())
            }
        }
    };
}
pub(crate) use ulid_id;
