//! The address of a server.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use url::{Host, Url};

/// An http or https address: scheme, host, port, path. [`Display`](fmt::Display) shows no user, password or
/// query, since those may be secrets.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Endpoint(Url);

/// Why a text is not an [`Endpoint`]. The messages continue "invalid address: …" and do not repeat the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EndpointError {
    /// Neither `http://` nor `https://`.
    #[error("it does not begin with http:// or https://")]
    Scheme,
    /// Characters that URL parsers drop or replace, so that a person and a parser read different hosts.
    #[error("it contains a space, a backslash or a control character")]
    Characters,
    /// The text is not a URL.
    #[error("{0}")]
    Malformed(#[from] url::ParseError),
    /// A user or password, as in `user:password@host`.
    #[error("it contains a user name or a password")]
    Credentials,
    /// A query, as in `?a=b`.
    #[error("it contains a query")]
    Query,
    /// A fragment, as in `#part`.
    #[error("it contains a fragment")]
    Fragment,
}

impl Endpoint {
    /// Parses the base address of a server. A path is allowed; user, password, query and fragment are not.
    ///
    /// # Errors
    /// The first rule that the text breaks.
    pub fn parse(text: &str) -> Result<Endpoint, EndpointError> {
        let Endpoint(url) = Endpoint::parse_with_secrets(text)?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(EndpointError::Credentials);
        }
        if url.query().is_some() {
            return Err(EndpointError::Query);
        }
        Ok(Endpoint(url))
    }

    /// Parses the address of an RPC service, where providers put keys into the user, the password or the
    /// query. A fragment is not allowed.
    ///
    /// # Errors
    /// The first rule that the text breaks.
    pub fn parse_with_secrets(text: &str) -> Result<Endpoint, EndpointError> {
        let text = text.trim();
        let begins = |scheme: &str| text.get(..scheme.len()).is_some_and(|t| t.eq_ignore_ascii_case(scheme));
        if !begins("http://") && !begins("https://") {
            return Err(EndpointError::Scheme);
        }
        if text.contains(|c: char| c.is_whitespace() || c.is_control() || c == '\\') {
            return Err(EndpointError::Characters);
        }
        // A third slash would be skipped, and the path's first part read as the host.
        if text.split_once("://").is_some_and(|(_, rest)| rest.starts_with('/')) {
            return Err(EndpointError::Malformed(url::ParseError::EmptyHost));
        }
        let url = Url::parse(text)?;
        if url.fragment().is_some() {
            return Err(EndpointError::Fragment);
        }
        Ok(Endpoint(url))
    }

    /// Whether the server is on this machine: a loopback address or exactly `localhost`. A name such as
    /// `127.evil.example` or `localhost.example` is not.
    pub fn is_this_machine(&self) -> bool {
        match self.0.host() {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        }
    }

    /// The IP address, where the host is one and no name.
    pub fn ip(&self) -> Option<IpAddr> {
        match self.0.host()? {
            Host::Domain(_) => None,
            Host::Ipv4(address) => Some(address.into()),
            Host::Ipv6(address) => Some(address.into()),
        }
    }

    /// Whether the connection is encrypted.
    pub fn is_https(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// The host, IPv6 addresses in brackets.
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// The port, the scheme's default included.
    pub fn port(&self) -> u16 {
        self.0.port_or_known_default().unwrap_or_default()
    }

    /// The path without a slash at its end; empty for the root.
    pub fn path(&self) -> &str {
        self.0.path().trim_end_matches('/')
    }

    /// The address itself, secrets included.
    pub fn url(&self) -> &Url {
        &self.0
    }

    /// The URL of a path below the endpoint's own, such as `/contracts?limit=10`. The host cannot change,
    /// whatever `path` holds. A query of the endpoint is replaced.
    pub fn at(&self, path: &str) -> Url {
        let (path, query) = match path.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (path, None),
        };
        let slash = if path.is_empty() || path.starts_with('/') { "" } else { "/" };
        let mut url = self.0.clone();
        url.set_path(&format!("{}{slash}{path}", self.path()));
        url.set_query(query);
        url
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.0.scheme(), self.host())?;
        if let Some(port) = self.0.port() {
            write!(f, ":{port}")?;
        }
        f.write_str(self.path())
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({self})")
    }
}

impl FromStr for Endpoint {
    type Err = EndpointError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Endpoint::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local(text: &str) -> bool {
        Endpoint::parse_with_secrets(text).unwrap().is_this_machine()
    }

    #[test]
    fn this_machine_is_a_loopback_address_or_exactly_localhost() {
        for here in [
            "http://127.0.0.1:8000",
            "http://127.9.8.7",
            "http://127.1/",
            "https://localhost:1/x",
            "http://LOCALHOST",
            "http://[::1]:8899/",
            "http://127.0.0.1:80?a=@b",
            "http://me:secret@127.0.0.1",
        ] {
            assert!(local(here), "{here}");
        }
        for foreign in [
            "http://127.evil.example",
            "http://127.0.0.1.evil.example",
            "http://localhost.example",
            "http://localhost.",
            "http://xlocalhost",
            "http://127.0.0.1@evil.example",
            "http://localhost:80@evil.example",
            "http://0.0.0.0",
            "http://128.0.0.1",
            "http://10.0.0.1",
            "http://[::2]",
            "http://[::ffff:127.0.0.1]",
            "https://example.org/127.0.0.1",
            "https://example.org?localhost",
        ] {
            assert!(!local(foreign), "{foreign}");
        }
    }

    #[test]
    fn what_is_no_plain_address_fails_with_its_reason() {
        use EndpointError as E;
        let reason = |text: &str| Endpoint::parse(text).unwrap_err();
        for text in ["", "fix", "ftp://x", "http:x", "http:/x", "127.0.0.1:8899", "file:///etc", "http"] {
            assert_eq!(reason(text), E::Scheme, "{text}");
        }
        for text in ["http://a b", "http://a\tb", "http://evil\\@x", "http://x/\u{1b}[31m"] {
            assert_eq!(reason(text), E::Characters, "{text}");
        }
        for text in ["http://", "http:///x", "http://:80", "http://x:99999", "http://[::1", "http://?a=b"] {
            assert!(matches!(reason(text), E::Malformed(_)), "{text}");
        }
        for text in ["http://u:p@x", "http://u@x", "http://:p@x"] {
            assert_eq!(reason(text), E::Credentials, "{text}");
        }
        assert_eq!(reason("http://x/?q=1"), E::Query);
        assert_eq!(reason("http://x/#a"), E::Fragment);
        assert_eq!(Endpoint::parse_with_secrets("http://x/?k=1#a").unwrap_err(), E::Fragment);
    }

    #[test]
    fn secrets_are_never_shown() {
        let endpoint = Endpoint::parse_with_secrets("https://me:s3cret@x.example:8/rpc/?key=s3cret").unwrap();
        assert_eq!(endpoint.to_string(), "https://x.example:8/rpc");
        assert!(!format!("{endpoint:?}").contains("s3cret"));
        assert!(endpoint.url().as_str().contains("s3cret"));
    }

    #[test]
    fn a_path_below_an_endpoint_cannot_change_its_host() {
        let at = |base: &str, path: &str| Endpoint::parse(base).unwrap().at(path).to_string();
        assert_eq!(at("http://x/market/", "/contracts"), "http://x/market/contracts");
        assert_eq!(at("http://x", "/contracts?a=1&b=2"), "http://x/contracts?a=1&b=2");
        assert_eq!(at("http://x", ".evil.example/a"), "http://x/.evil.example/a");
        assert_eq!(at("http://x", "@evil.example"), "http://x/@evil.example");
        assert_eq!(at("http://x/v1", ""), "http://x/v1");
        assert!(at("http://x", "//evil.example").starts_with("http://x/"));
        assert_eq!(at("http://x", "/a#b"), "http://x/a%23b");
    }

    #[test]
    fn an_endpoint_is_read_back_from_what_it_shows() {
        for text in ["http://x", "https://x.example:8000/a/b", "http://[::1]:1", "https://x/?"] {
            let shown = Endpoint::parse_with_secrets(text).unwrap().to_string();
            assert_eq!(Endpoint::parse(&shown).unwrap().to_string(), shown);
        }
        assert_eq!(Endpoint::parse(" HTTP://X.Example:80/ ").unwrap().to_string(), "http://x.example");
        assert_eq!(Endpoint::parse("https://x").unwrap().port(), 443);
    }
}
