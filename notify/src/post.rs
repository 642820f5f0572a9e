//! One POST: no redirects, ten seconds at most, and TLS by the certificates that this machine trusts.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use plangate_approval::Time;
use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsProvider};

use crate::message::Message;
use crate::sign::{ID, SIGNATURE, TIMESTAMP, signature};
use crate::webhook::{Address, Webhook};

/// How long an attempt may take, from the look-up of the name to the head of the answer.
const TIMEOUT: Duration = Duration::from_secs(10);

/// What attempts are made with.
#[derive(Debug, Default)]
pub(crate) struct Post {
    /// Made with the first attempt, or why it cannot be.
    agent: OnceLock<Result<Agent, String>>,
}

impl Post {
    /// Makes one attempt. The error says what went wrong.
    pub(crate) fn send(&self, webhook: &Webhook, message: &Message, now: Time) -> Result<(), String> {
        let timestamp = now.0.div_euclid(1000);
        let signed = signature(webhook.secret(), &message.id, timestamp, &message.body)
            .ok_or("it could not be signed")?;
        let address = webhook.address();
        let agent = self.agent.get_or_init(|| agent(address)).as_ref().map_err(Clone::clone)?;
        let answer = agent
            .post(address.url().clone())
            .header("content-type", "application/json")
            .header(ID, &message.id)
            .header(TIMESTAMP, timestamp.to_string())
            .header(SIGNATURE, signed)
            .send(&message.body[..])
            .map_err(|e| e.to_string())?;
        let status = answer.status();
        if status.is_success() {
            return Ok(());
        }
        let redirect = if status.is_redirection() { "; redirects are not followed" } else { "" };
        Err(format!("answered {}{redirect}", status.as_u16()))
    }
}

fn agent(address: &Address) -> Result<Agent, String> {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .max_idle_connections(1)
        .timeout_global(Some(TIMEOUT))
        .user_agent(concat!("plangate/", env!("CARGO_PKG_VERSION")));
    // A proxy of the environment is for what goes out; what stays here is nobody else's.
    let config = if address.is_local() { config.proxy(None) } else { config };
    let config = if address.is_encrypted() { config.tls_config(tls()?) } else { config };
    Ok(config.build().into())
}

fn tls() -> Result<TlsConfig, String> {
    let found = rustls_native_certs::load_native_certs();
    if found.certs.is_empty() {
        let why = found.errors.first().map(|e| format!(": {e}")).unwrap_or_default();
        return Err(format!("this machine has no certificates to trust{why}"));
    }
    let roots = found.certs.iter().map(|certificate| Certificate::from_der(certificate).to_owned());
    Ok(TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .root_certs(RootCerts::from(roots))
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build())
}
