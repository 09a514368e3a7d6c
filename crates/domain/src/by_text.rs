//! Types that are stored and sent as the text by which they are read and shown.

/// The conversions that serde needs for that, by `FromStr` and `Display`.
macro_rules! by_text {
    ($($named:ty),+) => {$(
        impl TryFrom<String> for $named {
            type Error = <$named as std::str::FromStr>::Err;

            fn try_from(text: String) -> Result<Self, <$named as std::str::FromStr>::Err> {
                text.parse()
            }
        }

        impl From<$named> for String {
            fn from(named: $named) -> String {
                named.to_string()
            }
        }
    )+};
}
pub(crate) use by_text;
