//! A server of files on loopback, as owners of agents host them, honest or not.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What is served at a path.
#[derive(Clone, Debug)]
pub enum Served {
    /// A whole file, with its length.
    File(Vec<u8>),
    /// Spaces without their length beforehand; how many bytes.
    Long(usize),
    /// The beginning of an answer, and nothing more for as long as the reader waits.
    Hangs,
}

#[derive(Debug, Default)]
struct State {
    files: BTreeMap<String, Served>,
    asked: BTreeMap<String, usize>,
    open: Vec<TcpStream>,
}

/// The server; its thread ends with the process.
#[derive(Clone, Debug)]
pub struct Hosting {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl Hosting {
    /// Serves nothing yet, on a free port.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let hosting = Self { address: listener.local_addr().unwrap(), state: Arc::default() };
        let state = Arc::clone(&hosting.state);
        std::thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                let state = Arc::clone(&state);
                std::thread::spawn(move || answer(socket, &state));
            }
        });
        hosting
    }

    /// The address of a path, whether anything is there or not.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    /// Serves this there from now on.
    pub fn put(&self, path: &str, served: Served) {
        self.state.lock().unwrap().files.insert(format!("/{path}"), served);
    }

    /// How often the path was asked for.
    pub fn asked(&self, path: &str) -> usize {
        self.state.lock().unwrap().asked.get(&format!("/{path}")).copied().unwrap_or_default()
    }
}

fn answer(mut socket: TcpStream, state: &Mutex<State>) {
    let mut head = [0; 4096];
    let Ok(read) = socket.read(&mut head) else { return };
    let head = String::from_utf8_lossy(head.get(..read).unwrap_or_default()).into_owned();
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let served = {
        let mut state = state.lock().unwrap();
        *state.asked.entry(path.clone()).or_default() += 1;
        state.files.get(&path).cloned()
    };
    let ok = "HTTP/1.1 200 OK\r\nConnection: close\r\n";
    // A reader that has gone is none of the server's business.
    let _ = match served {
        None => write!(socket, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"),
        Some(Served::File(bytes)) => {
            let head = format!("{ok}Content-Length: {}\r\n\r\n", bytes.len());
            socket.write_all(&[head.as_bytes(), &bytes].concat())
        }
        Some(Served::Long(length)) => {
            socket.write_all(&[format!("{ok}\r\n").as_bytes(), &vec![b' '; length]].concat())
        }
        Some(Served::Hangs) => {
            let begun = write!(socket, "{ok}Content-Length: 100\r\n\r\n{{");
            state.lock().unwrap().open.push(socket);
            begun
        }
    };
}
