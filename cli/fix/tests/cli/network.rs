//! `--allow-host` against real servers at public addresses: exactly the named host can be reached.
//!
//! The addresses are public by their numbers only. The test runs itself again in a network of its own, where
//! they belong to the loopback device, with a hosts file of its own: nothing leaves the machine.

use crate::support::{Home, Http, Market};
use std::os::unix::fs::MetadataExt as _;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const NAME: &str = "network::a_fix_reaches_exactly_the_host_that_was_allowed";
const INSIDE: &str = "FIX_TEST_IN_OWN_NETWORK";

/// Makes the network, and goes on as the user that it was.
const SETUP: &str = "
    set -e
    ip link set lo up
    for address in 11.1.1.1 11.1.1.2 10.1.1.1; do ip address add $address/32 dev lo; done
    echo 0 > /proc/sys/net/ipv4/ip_unprivileged_port_start
    mount --bind \"$HOSTS\" /etc/hosts
    exec \"$@\"
";

const HOSTS: &str = "127.0.0.1 localhost
11.1.1.1 packages.example.org
11.1.1.2 other.example.org sub.packages.example.org
10.1.1.1 private.example.org
127.0.0.1 loop.example.org
";

/// What must all fail: other names, the allowed host's address, other ports, names of private addresses
/// although they are allowed, tunnels elsewhere, and everything without the proxy.
const FORBIDDEN: &str = r#"
    n=0
    for url in http://other.example.org/ http://sub.packages.example.org/ http://11.1.1.1/ http://11.1.1.2/ \
        http://packages.example.org:8080/ http://private.example.org/ http://loop.example.org/ \
        http://10.1.1.1/ http://127.0.0.1/ http://localhost/; do
        curl -fsS -m 20 "$url" >> stolen && exit 2
        curl -fsS -m 20 --noproxy '*' "$url" >> stolen && exit 3
        n=$((n + 2))
    done
    for url in http://other.example.org:443/ http://packages.example.org:80/ http://11.1.1.1:443/; do
        curl -fsS -m 20 -p "$url" >> stolen && exit 4
        n=$((n + 1))
    done
    curl -fsS -m 20 --noproxy '*' http://packages.example.org/ >> stolen && exit 5
    curl -fsS -m 20 -d letters http://packages.example.org/ >> stolen && exit 6
    echo "$n refused" > refused
"#;

#[test]
fn a_fix_reaches_exactly_the_host_that_was_allowed() {
    if std::env::var_os(INSIDE).is_some() {
        return inside();
    }
    let home = Home::new();
    let hosts = home.file("hosts", HOSTS);
    let myself = std::env::current_exe().unwrap();
    let user = std::fs::metadata(home.path()).unwrap();
    let mut command = Command::new("unshare");
    if user.uid() != 0 {
        command.arg("--map-root-user");
    }
    command.args(["--net", "--mount", "sh", "-c", SETUP, "sh"]);
    if user.uid() != 0 {
        // Back to an ordinary user, one user namespace further in.
        let (uid, gid) = (user.uid(), user.gid());
        command.args(["unshare", &format!("--map-user={uid}"), &format!("--map-group={gid}")]);
    }
    command.arg(myself).args(["--exact", NAME, "--nocapture"]);
    command.env(INSIDE, "1").env("HOSTS", hosts).stdin(Stdio::null());
    let output = command.output().unwrap();
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

/// A server that counts who comes.
fn counting(address: &str, says: &'static str) -> (Http, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    let answer = move |_: &str| {
        counted.fetch_add(1, Ordering::SeqCst);
        Some(says.to_owned())
    };
    (Http::serve_at(address, answer), count)
}

fn inside() {
    let (_package, plain) = counting("11.1.1.1:80", "the package\n");
    let (_tunnel, tunneled) = counting("11.1.1.1:443", "through a tunnel\n");
    let others = ["11.1.1.1:8080", "11.1.1.2:80", "11.1.1.2:443", "10.1.1.1:80", "127.0.0.1:80"]
        .map(|address| counting(address, "a secret\n"));
    let market = Market::start(&[]);
    let fetch = "curl -fsS -m 20 http://packages.example.org/file > done\n\
                 curl -fsS -m 20 -p http://packages.example.org:443/ >> done";
    let fix = format!("set -e\n{fetch}\nset +e\n{FORBIDDEN}");
    let run = |options: &[&str]| {
        let (home, agents) = (Home::new(), Home::new());
        let mut agent = market.scripted_agent(&agents, &fix);
        let line = ["grep", "-q", "tunnel", "done"];
        let mut terminal = vec!["--server", market.url(), "--yes"];
        terminal.extend(options.iter().chain(&line));
        let said = home.fix(terminal);
        agent.kill();
        (home, said)
    };
    let names = ["packages.example.org", "private.example.org", "loop.example.org"];
    let allowed: Vec<&str> = names.into_iter().flat_map(|name| ["--allow-host", name]).collect();
    let (home, said) = run(&allowed);
    assert_eq!(said.code, 0, "{said:?}");
    let read = |name: &str| std::fs::read_to_string(home.work().join(name)).unwrap();
    assert_eq!(read("done"), "the package\nthrough a tunnel\n");
    assert_eq!((read("refused").as_str(), read("stolen").as_str()), ("23 refused\n", ""));
    assert!(said.err.contains("network: packages.example.org private.example.org"), "{said:?}");
    let counts = || (plain.load(Ordering::SeqCst), tunneled.load(Ordering::SeqCst));
    assert_eq!(counts(), (1, 1));
    // Without the option the same fix reaches nothing.
    let (home, said) = run(&[]);
    assert!(said.code == 2 && said.err.contains("network: none"), "{said:?}");
    assert!(!home.work().join("done").exists());
    assert_eq!(counts(), (1, 1));
    for (_, count) in &others {
        assert_eq!(count.load(Ordering::SeqCst), 0);
    }
    // A host is a name: an address would pass over the check of names.
    let (home, said) = run(&["--allow-host", "11.1.1.1"]);
    assert!(said.code == 2 && said.err.contains("error 92"), "{said:?}");
    assert!(home.fix(["--server", market.url(), "contracts", "--all"]).ok().contains("No contracts"));
}
