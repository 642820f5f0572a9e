//! One webhook: where to, under which secret, and about what.

use std::net::IpAddr;
use std::str::FromStr;

use plangate_approval::event::Kind;
use plangate_graph::Digest;
use ureq::http::Uri;

use crate::sign::Secret;

/// Where a webhook goes: https, or http to this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address(Uri);

/// Where something is told, what, and under which secret.
#[derive(Clone, Debug)]
pub struct Webhook {
    address: Address,
    secret: Secret,
    events: Vec<Kind>,
}

/// Why a URL is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// It cannot be read, or has no host.
    #[error("{0:?} is no URL: expected https://host/path")]
    Url(String),
    /// Neither http nor https.
    #[error("the scheme {0:?} is not spoken: expected https")]
    Scheme(String),
    /// Not https, and not to this machine.
    #[error("http goes to this machine alone (localhost, 127.0.0.1, [::1]); {0} needs https")]
    Plain(String),
    /// A name or password in the URL.
    #[error("the URL holds a name or password: a receiver knows the sender by the signature")]
    Credentials,
}

impl Address {
    /// The URL as it is shown: without a query, which may hold a token.
    pub fn shown(&self) -> String {
        shown(&self.0.to_string())
    }

    /// What its files beside the store are called: 16 hexadecimal digits of the URL's digest. Another URL is another
    /// webhook, which is told what happens from then on.
    pub fn name(&self) -> String {
        let digest = Digest::of(self.0.to_string().as_bytes()).to_string();
        digest.trim_start_matches("sha256:").chars().take(16).collect()
    }

    pub(crate) fn url(&self) -> &Uri {
        &self.0
    }

    /// Whether what is sent there is encrypted.
    pub(crate) fn is_encrypted(&self) -> bool {
        self.0.scheme_str() == Some("https")
    }

    /// Whether it goes to this machine: then no proxy is asked.
    pub(crate) fn is_local(&self) -> bool {
        self.0.host().is_some_and(is_loopback)
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(url: &str) -> Result<Address, AddressError> {
        let parsed: Uri = url.parse().map_err(|_| AddressError::Url(shown(url)))?;
        let (Some(scheme), Some(host)) = (parsed.scheme_str(), parsed.host().filter(|h| !h.is_empty()))
        else {
            return Err(AddressError::Url(shown(url)));
        };
        if parsed.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err(AddressError::Credentials);
        }
        match scheme {
            "https" => {}
            "http" if is_loopback(host) => {}
            "http" => return Err(AddressError::Plain(host.to_owned())),
            other => return Err(AddressError::Scheme(other.to_owned())),
        }
        Ok(Address(parsed))
    }
}

impl Webhook {
    /// Tells events of these kinds to this address.
    pub fn new(address: Address, secret: Secret, events: Vec<Kind>) -> Webhook {
        Webhook { address, secret, events }
    }

    /// Where it goes.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Whether it is told of events of this kind.
    pub fn wants(&self, kind: &str) -> bool {
        self.events.iter().any(|wanted| wanted.as_str() == kind)
    }

    pub(crate) fn secret(&self) -> &Secret {
        &self.secret
    }
}

fn shown(url: &str) -> String {
    url.split(['?', '#']).next().unwrap_or_default().to_owned()
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(url: &str) -> Result<Address, AddressError> {
        url.parse()
    }

    #[test]
    fn https_or_this_machine() {
        for url in [
            "https://example.invalid/hook",
            "http://localhost:8080/hook",
            "http://127.0.0.1/hook",
            "http://127.8.9.10:1/",
            "http://[::1]:8080/hook",
        ] {
            address(url).unwrap();
        }
        for url in ["http://example.invalid/hook", "http://localhost.example.invalid/", "http://10.0.0.1/"] {
            assert!(matches!(address(url), Err(AddressError::Plain(_))), "{url}");
        }
        assert!(matches!(address("ftp://example.invalid/"), Err(AddressError::Scheme(_))));
        for url in ["", "example.invalid/hook", "/hook", "https://"] {
            assert!(matches!(address(url), Err(AddressError::Url(_))), "{url}: {:?}", address(url));
        }
        assert_eq!(address("https://ann:pw@example.invalid/"), Err(AddressError::Credentials));
    }

    #[test]
    fn neither_secret_nor_query_is_shown() {
        let here = address("https://example.invalid/hook?token=abc").unwrap();
        assert_eq!(here.shown(), "https://example.invalid/hook");
        assert_ne!(here.name(), address("https://example.invalid/hook?token=abd").unwrap().name());
        assert_eq!(here.name().len(), 16);
        let secret = Secret::new("sixteen bytes or more").unwrap();
        let hook = Webhook::new(here, secret, vec![Kind::Asked]);
        assert!(!format!("{hook:?}").contains("sixteen"));
        assert!(hook.wants("asked") && !hook.wants("leased"));
    }
}
