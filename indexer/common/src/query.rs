//! The parameters of a query.

/// Names and values in their order, with the escapes of URLs undone; a broken escape stays as it is.
pub fn pairs(query: Option<&str>) -> impl Iterator<Item = (String, String)> {
    let pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    pairs.map(|(name, value)| (name.into_owned(), value.into_owned()))
}

#[cfg(test)]
mod tests {
    use super::pairs;

    #[test]
    fn escapes_are_undone_and_broken_ones_stay() {
        let read =
            |text| pairs(Some(text)).map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>();
        assert_eq!(read("a=b+c%20d%2&&%zz%41"), ["a=b c d%2", "%zzA="]);
        assert_eq!(read("a=%ff&a=1=2"), ["a=\u{fffd}", "a=1=2"]);
        assert_eq!(pairs(None).count(), 0);
    }
}
