//! The only way out of a sandbox: HTTP and HTTPS to named hosts (decision E11, scope `packages`).
//!
//! The listening socket belongs to the run's network namespace, its connections are accepted here and made
//! from here. A name is resolved once, every address that is not public is dropped, and the connection goes
//! to the checked address: a name that resolves to another address the second time gains nothing.

use std::io::{self, Error, ErrorKind, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::error::{Result, SandboxError};
use zx1_net::is_public;

/// Longest request head, bytes.
const HEAD_MAX: usize = 16 << 10;
/// Connections at the same time.
const CONNECTIONS_MAX: usize = 64;
/// A silent connection is closed after this.
const IDLE: Duration = Duration::from_secs(60);
/// Time to connect.
const CONNECT: Duration = Duration::from_secs(10);

/// Host names that may be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostList(Vec<String>);

impl HostList {
    /// Names such as `mirror.example.org`, or `*.example.org` for all names below one.
    pub(crate) fn new(hosts: &[String]) -> Result<Self> {
        let clean = |host: &String| {
            let name = host.to_ascii_lowercase();
            let plain = name.strip_prefix("*.").unwrap_or(&name);
            let labels = plain.split('.').all(|label| {
                !label.is_empty()
                    && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
            });
            // Addresses are not names: who allows one would pass over the check of names.
            if labels && plain.contains('.') && plain.parse::<IpAddr>().is_err() {
                Ok(name)
            } else {
                Err(SandboxError::BadHost { host: host.clone() })
            }
        };
        hosts.iter().map(clean).collect::<Result<_>>().map(Self)
    }

    fn allows(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        let host = host.strip_suffix('.').unwrap_or(&host);
        self.0.iter().any(|allowed| match allowed.strip_prefix('*') {
            Some(suffix) => host.strip_suffix(suffix).is_some_and(|rest| !rest.is_empty()),
            None => host == allowed,
        })
    }
}

/// How names become addresses; tests bring their own.
type Resolve = fn(&str, u16) -> io::Result<Vec<SocketAddr>>;

fn resolve(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    Ok((host, port).to_socket_addrs()?.filter(|address| is_public(address.ip())).collect())
}

struct Shared {
    hosts: HostList,
    resolve: Resolve,
    stop: AtomicBool,
    connections: AtomicUsize,
}

/// Accepts until it is dropped.
pub(crate) struct Proxy {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Proxy {
    pub(crate) fn start(listener: OwnedFd, hosts: HostList) -> Result<Self> {
        Self::start_with(TcpListener::from(listener), hosts, resolve)
    }

    fn start_with(listener: TcpListener, hosts: HostList, resolve: Resolve) -> Result<Self> {
        let shared = Arc::new(Shared {
            hosts,
            resolve,
            stop: AtomicBool::new(false),
            connections: AtomicUsize::new(0),
        });
        let fail = |error: Error| SandboxError::Proxy { detail: error.to_string() };
        listener.set_nonblocking(true).map_err(fail)?;
        let for_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("zx1-sandbox-proxy".to_owned())
            .spawn(move || accept(&listener, &for_thread))
            .map_err(fail)?;
        Ok(Self { shared, thread: Some(thread) })
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let tick = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
    while !shared.stop.load(Ordering::Relaxed) {
        let mut polled = [PollFd::new(listener, PollFlags::IN)];
        let _ = poll(&mut polled, Some(&tick));
        let Ok((client, _)) = listener.accept() else { continue };
        if shared.connections.fetch_add(1, Ordering::Relaxed) >= CONNECTIONS_MAX {
            shared.connections.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let for_thread = Arc::clone(shared);
        let spawned = std::thread::Builder::new().spawn(move || {
            let _ = serve(client, &for_thread);
            for_thread.connections.fetch_sub(1, Ordering::Relaxed);
        });
        if spawned.is_err() {
            shared.connections.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// What a request head asks for.
#[derive(Debug, PartialEq, Eq)]
enum Ask {
    /// A tunnel, for HTTPS.
    Tunnel { host: String, port: u16 },
    /// A plain request, with its head as it goes on.
    Plain { host: String, port: u16, head: Vec<u8> },
}

fn serve(mut client: TcpStream, shared: &Shared) -> io::Result<()> {
    client.set_nonblocking(false)?;
    client.set_read_timeout(Some(IDLE))?;
    client.set_write_timeout(Some(IDLE))?;
    let (head, rest) = read_head(&mut client)?;
    let Some(ask) = parse(&head) else {
        return refuse(
            &mut client,
            "400 Bad Request",
            "only CONNECT, GET and HEAD with a host name are served",
        );
    };
    let (host, port) = match &ask {
        Ask::Tunnel { host, port } | Ask::Plain { host, port, .. } => (host.as_str(), *port),
    };
    let right_port = matches!((&ask, port), (Ask::Tunnel { .. }, 443) | (Ask::Plain { .. }, 80));
    if !right_port || !shared.hosts.allows(host) {
        return refuse(&mut client, "403 Forbidden", "this host is not on the sandbox's list");
    }
    let mut server = match connect(host, port, shared.resolve) {
        Ok(server) => server,
        Err(error) => return refuse(&mut client, "502 Bad Gateway", &error.to_string()),
    };
    match ask {
        Ask::Tunnel { .. } => client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?,
        Ask::Plain { head, .. } => server.write_all(&head)?,
    }
    server.write_all(&rest)?;
    relay(client, server)
}

fn connect(host: &str, port: u16, resolve: Resolve) -> io::Result<TcpStream> {
    let mut last = Error::new(ErrorKind::PermissionDenied, "the name has no public address");
    for address in resolve(host, port)? {
        match TcpStream::connect_timeout(&address, CONNECT) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// The head up to its empty line, and what came behind it.
fn read_head(client: &mut TcpStream) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let mut bytes = Vec::new();
    let mut piece = [0u8; 4096];
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let rest = bytes.split_off(end.saturating_add(4));
            return Ok((bytes, rest));
        }
        if bytes.len() > HEAD_MAX {
            return Err(Error::new(ErrorKind::InvalidData, "the request head is too long"));
        }
        match client.read(&mut piece)? {
            0 => return Err(ErrorKind::UnexpectedEof.into()),
            count => bytes.extend_from_slice(piece.get(..count).unwrap_or_default()),
        }
    }
}

/// Plain requests keep their headers, but for those that are for a proxy, and never keep the connection: a
/// second request on it would not be checked.
fn parse(head: &[u8]) -> Option<Ask> {
    let text = std::str::from_utf8(head).ok()?;
    let mut lines = text.split("\r\n");
    let mut words = lines.next()?.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    if words.next().is_some() || !version.starts_with("HTTP/1.") {
        return None;
    }
    if method == "CONNECT" {
        let (host, port) = target.rsplit_once(':')?;
        return Some(Ask::Tunnel { host: name(host)?, port: port.parse().ok()? });
    }
    // No bodies: nothing is uploaded.
    if !matches!(method, "GET" | "HEAD") {
        return None;
    }
    let (authority, path) = match target.strip_prefix("http://")?.split_once('/') {
        Some((authority, path)) => (authority, format!("/{path}")),
        None => (target.strip_prefix("http://")?, "/".to_owned()),
    };
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) => (name(host)?, port.parse().ok()?),
        None => (name(authority)?, 80),
    };
    let mut out = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n");
    for line in lines.take_while(|line| !line.is_empty()) {
        let (key, _) = line.split_once(':')?;
        let dropped =
            ["host", "connection", "keep-alive", "content-length", "transfer-encoding", "te", "upgrade"];
        let key = key.to_ascii_lowercase();
        if !dropped.contains(&key.as_str()) && !key.starts_with("proxy-") {
            out.push_str(line);
            out.push_str("\r\n");
        }
    }
    out.push_str("\r\n");
    Some(Ask::Plain { host, port, head: out.into_bytes() })
}

fn name(host: &str) -> Option<String> {
    let fits =
        !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte));
    fits.then(|| host.to_ascii_lowercase())
}

fn refuse(client: &mut TcpStream, status: &str, why: &str) -> io::Result<()> {
    let body = format!("{why}\n");
    let length = body.len();
    write!(client, "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}")
}

fn relay(client: TcpStream, server: TcpStream) -> io::Result<()> {
    server.set_read_timeout(Some(IDLE))?;
    server.set_write_timeout(Some(IDLE))?;
    let (mut from_client, mut to_server) = (client.try_clone()?, server.try_clone()?);
    let up = std::thread::Builder::new().spawn(move || {
        let _ = io::copy(&mut from_client, &mut to_server);
        let _ = to_server.shutdown(Shutdown::Write);
    })?;
    let (mut from_server, mut to_client) = (server, client);
    let _ = io::copy(&mut from_server, &mut to_client);
    let _ = to_client.shutdown(Shutdown::Both);
    let _ = from_server.shutdown(Shutdown::Both);
    let _ = up.join();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_takes_names_and_no_addresses() {
        let hosts =
            |names: &[&str]| HostList::new(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        let list = hosts(&["mirror.example.org", "*.example.net"]).unwrap();
        assert!(list.allows("MIRROR.example.org.") && list.allows("files.example.net"));
        for host in ["example.org", "evil-mirror.example.org.evil", "example.net", "xexample.net", ""] {
            assert!(!list.allows(host), "{host}");
        }
        for bad in ["127.0.0.1", "localhost", "*", "a..b", "http://a.b", "a.b:80", "[::1]"] {
            assert_eq!(hosts(&[bad]).unwrap_err().code(), 9240, "{bad}");
        }
    }

    #[test]
    fn a_plain_request_goes_on_without_proxy_headers_and_closes() {
        let head = b"GET http://A.example:80/x?y HTTP/1.1\r\nHost: other\r\nProxy-Auth: s\r\nAccept: */*\r\n\
            Connection: keep-alive\r\n\r\n";
        let Some(Ask::Plain { host, port, head }) = parse(head) else { panic!("not plain") };
        assert_eq!((host.as_str(), port), ("a.example", 80));
        assert_eq!(head, b"GET /x?y HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\nAccept: */*\r\n\r\n");
    }

    #[test]
    fn other_methods_and_broken_heads_are_refused() {
        for head in [
            "POST http://a.example/ HTTP/1.1\r\n\r\n",
            "GET /path HTTP/1.1\r\n\r\n",
            "GET http://a.example/ x HTTP/1.1\r\n\r\n",
            "CONNECT a.example HTTP/1.1\r\n\r\n",
            "CONNECT [::1]:443 HTTP/1.1\r\n\r\n",
            "GET http://user@a.example/ HTTP/1.1\r\n\r\n",
            "\r\n\r\n",
        ] {
            assert_eq!(parse(head.as_bytes()), None, "{head}");
        }
    }

    /// Talks to a proxy whose names all resolve to one local server.
    fn ask(resolve: Resolve, request: &str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let hosts = HostList::new(&["ok.example".to_owned()]).unwrap();
        let _proxy = Proxy::start_with(listener, hosts, resolve).unwrap();
        let mut client = TcpStream::connect(address).unwrap();
        client.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn an_allowed_host_is_reached_ok() {
        fn to_test_server(_: &str, _: u16) -> io::Result<Vec<SocketAddr>> {
            let server = TcpListener::bind("127.0.0.1:0")?;
            let address = server.local_addr()?;
            std::thread::spawn(move || {
                let (mut client, _) = server.accept().unwrap();
                let (head, _) = read_head(&mut client).unwrap();
                client.write_all(&head).unwrap();
            });
            Ok(vec![address])
        }
        let answer = ask(to_test_server, "GET http://ok.example/hello HTTP/1.1\r\nHost: ok.example\r\n\r\n");
        assert!(answer.starts_with("GET /hello HTTP/1.1\r\nHost: ok.example\r\n"), "{answer}");
    }

    #[test]
    fn other_hosts_ports_and_names_of_private_addresses_fail() {
        let answer = ask(resolve, "CONNECT evil.example:443 HTTP/1.1\r\n\r\n");
        assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
        let answer = ask(resolve, "CONNECT ok.example:22 HTTP/1.1\r\n\r\n");
        assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
        fn to_loopback(_: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
            resolve("localhost", port)
        }
        let answer = ask(to_loopback, "CONNECT ok.example:443 HTTP/1.1\r\n\r\n");
        assert!(answer.starts_with("HTTP/1.1 502"), "{answer}");
        assert!(answer.contains("no public address"), "{answer}");
    }
}
