//! Signing a message, and verifying it on the other side.
//!
//! The headers are those of the Standard Webhooks specification, for which most languages have a library:
//!
//! | header | content |
//! |---|---|
//! | `webhook-id` | the delivery's id; the same each time that the event is told to this webhook |
//! | `webhook-timestamp` | when this attempt was made, in seconds since 1970 |
//! | `webhook-signature` | `v1,` and the base64 of HMAC-SHA256 over `ID.TIMESTAMP.BODY` |

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// The header with the delivery's id.
pub const ID: &str = "webhook-id";
/// The header with the time of the attempt.
pub const TIMESTAMP: &str = "webhook-timestamp";
/// The header with the signature.
pub const SIGNATURE: &str = "webhook-signature";
/// How far the sender's clock and the receiver's may lie apart, in seconds.
pub const TOLERANCE_S: i64 = 300;

/// The fewest bytes of a secret.
const FEWEST: usize = 16;

/// What the sender and the receiver share. Never shown.
#[derive(Clone)]
pub struct Secret(Vec<u8>);

/// Why a text is no secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// What follows `whsec_` cannot be read.
    #[error("what follows whsec_ is no base64")]
    Base64,
    /// Too short to protect anything.
    #[error("it is too short: at least {FEWEST} bytes")]
    Short,
}

/// Why a message does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotGenuine {
    /// The timestamp is no number.
    #[error("the timestamp is no number")]
    Timestamp,
    /// It was signed longer ago, or later, than [`TOLERANCE_S`].
    #[error("the timestamp is too far from now")]
    Time,
    /// No signature fits.
    #[error("no signature fits")]
    Signature,
}

impl Secret {
    /// From the text that both sides were given: `whsec_` and base64, or any other text, whose bytes count.
    pub fn new(text: &str) -> Result<Secret, SecretError> {
        let bytes = match text.strip_prefix("whsec_") {
            Some(encoded) => STANDARD.decode(encoded).map_err(|_| SecretError::Base64)?,
            None => text.as_bytes().to_vec(),
        };
        if bytes.len() < FEWEST { Err(SecretError::Short) } else { Ok(Secret(bytes)) }
    }

    fn mac(&self, id: &str, timestamp: &str, body: &[u8]) -> Option<Hmac<Sha256>> {
        // A key of any length is taken.
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).ok()?;
        for part in [id.as_bytes(), b".", timestamp.as_bytes(), b".", body] {
            mac.update(part);
        }
        Some(mac)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// The value of the header [`SIGNATURE`]; nothing if it could not be made.
pub fn signature(secret: &Secret, id: &str, timestamp: i64, body: &[u8]) -> Option<String> {
    let mac = secret.mac(id, &timestamp.to_string(), body)?;
    Some(format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes())))
}

/// For receivers in Rust: whether these headers and this body come from somebody with the secret, and were signed within
/// [`TOLERANCE_S`] of `now` (seconds since 1970). Compares in constant time. What was seen before is told by its id.
pub fn verify(
    secret: &Secret,
    id: &str,
    timestamp: &str,
    signatures: &str,
    body: &[u8],
    now: i64,
) -> Result<(), NotGenuine> {
    let at: i64 = timestamp.parse().map_err(|_| NotGenuine::Timestamp)?;
    if now.abs_diff(at) > TOLERANCE_S.unsigned_abs() {
        return Err(NotGenuine::Time);
    }
    // A sender that changes its secret signs with both for a while.
    let fits = signatures.split(' ').filter_map(|one| one.strip_prefix("v1,")).any(|encoded| {
        let mac = secret.mac(id, timestamp, body);
        mac.zip(STANDARD.decode(encoded).ok()).is_some_and(|(mac, given)| mac.verify_slice(&given).is_ok())
    });
    if fits { Ok(()) } else { Err(NotGenuine::Signature) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed by another implementation of HMAC-SHA256.
    const KNOWN: &str = "v1,aOdGbNtOrVy3VduSnHlfp1HouhI0ic7QH4Jyoyw/aD4=";

    fn secret() -> Secret {
        Secret::new("whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3").unwrap()
    }

    #[test]
    fn a_known_signature() {
        let made = signature(&secret(), "msg_1", 1_790_000_000, b"{\"type\":\"asked\"}").unwrap();
        assert_eq!(made, KNOWN);
        // The same bytes, however they were written down.
        let plain = Secret::new("0123456789abcdef01234567").unwrap();
        assert_eq!(signature(&plain, "msg_1", 1_790_000_000, b"{\"type\":\"asked\"}").unwrap(), KNOWN);
    }

    #[test]
    fn what_was_changed_does_not_verify() {
        let body = b"{\"type\":\"asked\"}";
        let check = |id, at: &str, signatures: &str, body: &[u8], now| {
            verify(&secret(), id, at, signatures, body, now)
        };
        let at = "1790000000";
        assert_eq!(check("msg_1", at, KNOWN, body, 1_790_000_300), Ok(()));
        assert_eq!(check("msg_1", at, &format!("v1,bm9uZQ== v2,x {KNOWN}"), body, 1_790_000_000), Ok(()));
        assert_eq!(check("msg_2", at, KNOWN, body, 1_790_000_000), Err(NotGenuine::Signature));
        assert_eq!(check("msg_1", "1790000001", KNOWN, body, 1_790_000_000), Err(NotGenuine::Signature));
        assert_eq!(check("msg_1", at, KNOWN, b"{}", 1_790_000_000), Err(NotGenuine::Signature));
        assert_eq!(check("msg_1", at, KNOWN, body, 1_790_000_301), Err(NotGenuine::Time));
        assert_eq!(check("msg_1", at, KNOWN, body, 1_789_999_699), Err(NotGenuine::Time));
        assert_eq!(check("msg_1", "soon", KNOWN, body, 1_790_000_000), Err(NotGenuine::Timestamp));
        assert_eq!(check("msg_1", at, "", body, 1_790_000_000), Err(NotGenuine::Signature));
        let other = Secret::new("another secret of two").unwrap();
        assert_eq!(verify(&other, "msg_1", at, KNOWN, body, 1_790_000_000), Err(NotGenuine::Signature));
    }

    #[test]
    fn a_secret_is_long_enough() {
        assert_eq!(Secret::new("fifteen bytes..").unwrap_err(), SecretError::Short);
        assert_eq!(Secret::new("whsec_c2hvcnQ=").unwrap_err(), SecretError::Short);
        assert_eq!(Secret::new("whsec_%%").unwrap_err(), SecretError::Base64);
    }
}
