//! Connects to a NATS server, and makes what the bus needs there.

use super::{ANSWER, Link, Shared};
use crate::bus::{Body, BusError, MAX_BYTES, Result, Settings, State, name};
use crate::topics::Topics;
use async_nats::jetstream::{self, kv, stream};
use async_nats::rustls;
use async_nats::{ConnectOptions, Event};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::watch;

/// Timeout for the first connection, and for reading what is kept.
pub(super) const START: Duration = Duration::from_secs(30);

/// Between two attempts to reconnect is a random part of a time that doubles up to this.
const MAX_PAUSE: Duration = Duration::from_secs(5);

/// What the server is asked, so that a connection that is silently cut is noticed after two of them.
const PING: Duration = Duration::from_secs(5);

/// Bytes of a message's headers, which count as the message's.
const HEADERS: usize = 4 << 10;

/// Where the server is and what the bus is called there.
#[derive(Debug, Clone)]
pub struct NatsSettings {
    /// URLs of the servers of one cluster: `nats://host:4222`, or `tls://…` with `ca_file`.
    pub servers: Vec<String>,
    /// Name of the bus: letters, digits, `-` and `_`. Stream, subjects and bucket begin with it.
    pub name: String,
    /// A file with the token that the server wants.
    pub token_file: Option<PathBuf>,
    /// The root certificates (PEM) of the servers that speak TLS; the system's do not count.
    pub ca_file: Option<PathBuf>,
    /// Number of servers of the cluster that keep each message and lease.
    pub replicas: usize,
    /// What is kept and for how long.
    pub bus: Settings,
}

impl NatsSettings {
    /// One server without a password.
    #[must_use]
    pub fn new(server: &str, name: &str) -> NatsSettings {
        NatsSettings {
            servers: vec![server.to_owned()],
            name: name.to_owned(),
            token_file: None,
            ca_file: None,
            replicas: 1,
            bus: Settings::default(),
        }
    }

    fn check(&self) -> Result<()> {
        let wrong = |why: &str| Err(BusError::Settings { why: why.to_owned() });
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if self.servers.is_empty() {
            return wrong("no server is named");
        }
        if self.ca_file.is_none() && self.servers.iter().any(|server| server.starts_with("tls:")) {
            return wrong("a server with tls:// needs a file with root certificates");
        }
        if self.name.is_empty() || self.name.len() > 64 || !self.name.bytes().all(is_word) {
            return wrong("its name must have 1 to 64 letters, digits, - or _");
        }
        if self.bus.lease < Duration::from_secs(1) {
            return wrong("a lease must last a second or longer");
        }
        if self.bus.window > self.bus.bounds.age {
            return wrong("message ids are remembered for longer than messages");
        }
        Ok(())
    }

    fn stream(&self) -> stream::Config {
        let bounds = self.bus.bounds;
        stream::Config {
            name: self.name.clone(),
            subjects: vec![format!("{}.topic.>", self.name)],
            max_messages_per_subject: i64::try_from(bounds.kept).unwrap_or(i64::MAX),
            max_bytes: i64::try_from(bounds.bytes).unwrap_or(i64::MAX),
            max_age: bounds.age,
            duplicate_window: self.bus.window,
            discard: stream::DiscardPolicy::Old,
            // What a consumer has not read yet is evicted when a topic gets more than is kept; a republished message
            // reaches whoever is connected, and names the one before it in its topic.
            republish: Some(stream::Republish {
                source: format!("{}.topic.>", self.name),
                destination: format!("{}.live.>", self.name),
                headers_only: false,
            }),
            storage: stream::StorageType::File,
            num_replicas: self.replicas,
            ..stream::Config::default()
        }
    }

    fn bucket(&self) -> kv::Config {
        kv::Config {
            bucket: format!("{}-leases", self.name),
            history: 1,
            max_age: self.bus.lease,
            max_value_size: i32::try_from(MAX_BYTES + HEADERS).unwrap_or(i32::MAX),
            storage: stream::StorageType::File,
            num_replicas: self.replicas,
            ..kv::Config::default()
        }
    }
}

fn refused(what: &'static str, why: &dyn std::fmt::Display) -> BusError {
    BusError::Refused { what, why: why.to_string() }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    let wrong = |why: &dyn std::fmt::Display| BusError::Settings {
        why: format!("{} cannot be read ({why})", path.display()),
    };
    match zx1_home::files::read(path, 1 << 20) {
        Ok(Some(bytes)) => Ok(bytes.to_vec()),
        Ok(None) => Err(wrong(&"there is no such file")),
        Err(error) => Err(wrong(&error)),
    }
}

/// The provider is named: where a process links two of them, the default is not defined.
fn tls(settings: &NatsSettings) -> Result<rustls::ClientConfig> {
    use rustls::pki_types::CertificateDer;
    use rustls::pki_types::pem::PemObject as _;
    let wrong = |why: &dyn std::fmt::Display| BusError::Settings { why: format!("TLS: {why}") };
    let mut roots = rustls::RootCertStore::empty();
    if let Some(path) = &settings.ca_file {
        for certificate in CertificateDer::pem_slice_iter(&read(path)?) {
            let certificate = certificate.map_err(|error| wrong(&error))?;
            roots.add(certificate).map_err(|error| wrong(&error))?;
        }
    }
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    Ok(config.map_err(|error| wrong(&error))?.with_root_certificates(roots).with_no_client_auth())
}

/// Full jitter, so that processes that were cut off together do not come back together.
pub(super) fn pause(attempt: usize) -> Duration {
    let most = Duration::from_millis(50).saturating_mul(1 << attempt.min(12)).min(MAX_PAUSE);
    let mut random = [0; 4];
    // Without randomness they come back together.
    let _ = getrandom::fill(&mut random);
    most.mul_f64(f64::from(u32::from_le_bytes(random)) / f64::from(u32::MAX))
}

/// Refuses a server before 2.10.
fn check_version(version: &str) -> Result<()> {
    let mut numbers = version.split(['.', '-']).map(|number| number.parse::<u32>().ok());
    let is_new = match (numbers.next().flatten(), numbers.next().flatten()) {
        (Some(major), Some(minor)) => (major, minor) >= (2, 10),
        _ => false,
    };
    if is_new { Ok(()) } else { Err(BusError::OldServer { version: version.chars().take(32).collect() }) }
}

/// Connects for the first time.
pub(super) async fn open(settings: NatsSettings) -> Result<Shared> {
    settings.check()?;
    // The first connection stands before anybody looks.
    let (changes, link) = watch::channel(Link { is_up: true, losses: 0 });
    let mut options = ConnectOptions::new()
        .name(&settings.name)
        .tls_client_config(tls(&settings)?)
        .request_timeout(Some(ANSWER))
        .ping_interval(PING)
        .max_reconnects(None)
        .reconnect_delay_callback(pause)
        .event_callback(move |event| {
            match event {
                Event::Connected => changes.send_modify(|link| link.is_up = true),
                Event::Disconnected | Event::Closed => changes.send_modify(|link| {
                    (link.is_up, link.losses) = (false, link.losses.saturating_add(1));
                }),
                _ => {}
            }
            std::future::ready(())
        });
    if let Some(path) = &settings.token_file {
        let token = String::from_utf8(read(path)?);
        let token = token.map_err(|_| BusError::Settings { why: "the token is not text".to_owned() })?;
        options = options.token(token.trim().to_owned());
    }
    let unreachable = |why: &dyn std::fmt::Display| BusError::Unreachable { why: why.to_string() };
    let client = tokio::time::timeout(START, options.connect(settings.servers.as_slice())).await;
    let client =
        client.map_err(|_| unreachable(&"no answer in time"))?.map_err(|error| unreachable(&error))?;
    check_version(&client.server_info().version)?;
    let jetstream =
        jetstream::ContextBuilder::new().timeout(ANSWER).ack_timeout(ANSWER).build(client.clone());
    let (bucket, _) = prepare(&settings, &client, &jetstream).await?;
    Ok(Shared {
        topics: Topics::<Body>::new(settings.bus.bounds),
        settings,
        client,
        jetstream,
        bucket,
        state: watch::Sender::new(State::Degraded),
        link,
        published: watch::Sender::new(0),
        mirrored: watch::Sender::new(0),
    })
}

/// Makes bucket and stream where they are missing or are another version's.
pub(super) async fn prepare(
    settings: &NatsSettings,
    client: &async_nats::Client,
    jetstream: &jetstream::Context,
) -> Result<(kv::Store, stream::Info)> {
    let server = client.server_info();
    check_version(&server.version)?;
    if server.max_payload < MAX_BYTES + HEADERS {
        return Err(refused("large messages", &format!("max_payload is {}", server.max_payload)));
    }
    let bucket = jetstream.create_or_update_key_value(settings.bucket()).await;
    let bucket = bucket.map_err(|error| refused("the bucket of leases", &error))?;
    let made = jetstream.create_or_update_stream(settings.stream()).await;
    Ok((bucket, made.map_err(|error| refused("the stream of messages", &error))?))
}

/// The topic of a subject, which begins with `topic` in the stream and with `live` when it is republished.
pub(super) fn topic(settings: &NatsSettings, kind: &str, subject: &str) -> Option<String> {
    let rest = subject.strip_prefix(&settings.name)?.strip_prefix('.')?;
    name::from_subject(rest.strip_prefix(kind)?.strip_prefix('.')?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_from_2_10_on_are_accepted() {
        for version in ["2.10.0", "2.15.1", "2.11.0-RC.3", "3.0.0"] {
            assert_eq!(check_version(version), Ok(()), "{version}");
        }
        for version in ["2.9.25", "1.4.1", "2", "", "x.10.1", "2.x"] {
            assert_eq!(check_version(version), Err(BusError::OldServer { version: version.to_owned() }));
        }
    }

    #[test]
    fn pauses_grow_to_five_seconds() {
        for attempt in [0, 1, 7, 12, 99, usize::MAX] {
            assert!(pause(attempt) <= MAX_PAUSE);
        }
        assert!(pause(0) <= Duration::from_millis(50));
    }

    #[test]
    fn settings_that_contradict_themselves_fail() {
        let good = || NatsSettings::new("nats://127.0.0.1:4222", "zx1");
        assert_eq!(good().check(), Ok(()));
        let mut bad = [good(), good(), good(), good(), good()];
        bad[0].servers.clear();
        bad[1].name = "zx1.relay".to_owned();
        bad[2].bus.lease = Duration::from_millis(999);
        bad[3].bus.bounds.age = Duration::from_secs(1);
        bad[4].servers.push("tls://127.0.0.1:4222".to_owned());
        for settings in bad {
            assert!(matches!(settings.check(), Err(BusError::Settings { .. })), "{settings:?}");
        }
    }
}
