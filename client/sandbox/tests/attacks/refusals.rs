//! Where it cannot isolate it refuses, and nothing runs bare.

use std::os::unix::process::CommandExt;
use std::path::Path;

use libc as c;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};
use zx1_sandbox::{Command, Network, Sandbox};

use crate::scenarios;
use crate::world::{self, TREE, Who, good, limits, sandbox};

scenarios! {
    contained:
        without_user_namespaces_it_refuses
        without_a_system_call_that_isolates_it_refuses
        without_a_helper_it_refuses
        a_working_tree_that_is_none_is_refused
        the_proxy_serves_only_the_list
        two_sandboxes_know_nothing_of_each_other;
    changing:;
}

/// Set in the process that must be refused; its value says what is taken from it.
const INNER: &str = "ZX1_TEST_REFUSED";

/// What the inner process does: it must not come to the command. Exit code 0 for a numbered refusal.
fn must_be_refused() {
    let built = Sandbox::builder().work_tree(TREE).build();
    let result = built.and_then(|mut sandbox| sandbox.run(&Command::shell("echo ran > /tmp/ran"), &limits()));
    match result {
        Err(error) => {
            println!("{}", error.code());
            assert!((9201..=9209).contains(&error.code()), "{error}");
            assert!(error.to_string().contains("nothing was run"), "{error}");
        }
        Ok(outcome) => panic!("it ran: {outcome:?}"),
    }
}

/// Plays the scenario again in a process from which something is taken, and gives what it said.
fn refused(
    who: Who,
    name: &str,
    taken: &str,
    take: impl FnMut() -> std::io::Result<()> + Send + Sync + 'static,
) -> String {
    let mut command = std::process::Command::new("/proc/self/exe");
    command.args([world::ARGUMENT, who.name(), name]).env(INNER, taken);
    // SAFETY: only system calls between fork and exec; the one thread of this process has no locks.
    unsafe { command.pre_exec(take) };
    let output = command.output().unwrap();
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "without {taken}: {} {text}", output.status);
    assert!(!Path::new("/tmp/ran").exists(), "without {taken} the command ran on the host");
    text
}

fn without_user_namespaces_it_refuses(who: Who) {
    if std::env::var_os(INNER).is_some() {
        return must_be_refused();
    }
    // SAFETY: no memory is involved.
    let (uid, gid) = unsafe { (c::getuid(), c::getgid()) };
    let said = refused(who, "without_user_namespaces_it_refuses", "user namespaces", move || {
        // A namespace of its own, so that only its own limit becomes 0.
        // SAFETY: one thread after the fork.
        if unsafe { c::unshare(c::CLONE_NEWUSER) } != 0 {
            return Err(std::io::Error::last_os_error());
        }
        std::fs::write("/proc/self/setgroups", "deny")?;
        std::fs::write("/proc/self/uid_map", format!("{uid} {uid} 1"))?;
        std::fs::write("/proc/self/gid_map", format!("{gid} {gid} 1"))?;
        std::fs::write("/proc/sys/user/max_user_namespaces", "0")
    });
    assert!(said.contains("9201"), "{said}");
}

fn without_a_system_call_that_isolates_it_refuses(who: Who) {
    if std::env::var_os(INNER).is_some() {
        return must_be_refused();
    }
    let calls: [(&str, c::c_long, Option<c::c_int>); 7] = [
        ("unshare", c::SYS_unshare, None),
        ("mount", c::SYS_mount, None),
        ("pivot_root", c::SYS_pivot_root, None),
        ("clone with a pid namespace", c::SYS_clone, Some(c::CLONE_NEWPID)),
        ("clone with a network namespace", c::SYS_clone, Some(c::CLONE_NEWNET)),
        ("setsid", c::SYS_setsid, None),
        ("capset", c::SYS_capset, None),
    ];
    for (what, call, flag) in calls {
        let filter = refusing(call, flag);
        refused(who, "without_a_system_call_that_isolates_it_refuses", what, move || {
            seccompiler::apply_filter(&filter).map_err(std::io::Error::other)
        });
    }
}

/// A filter that refuses one call, or one call with a flag in its first argument.
fn refusing(call: c::c_long, flag: Option<c::c_int>) -> BpfProgram {
    let rules = flag.map(|flag| {
        let bit = flag.cast_unsigned().into();
        let has =
            SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(bit), bit).unwrap();
        SeccompRule::new(vec![has]).unwrap()
    });
    let refuse = SeccompAction::Errno(c::EPERM as u32);
    let arch = std::env::consts::ARCH.try_into().unwrap();
    let rules = [(call, rules.into_iter().collect())].into();
    SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch).unwrap().try_into().unwrap()
}

fn without_a_helper_it_refuses(_: Who) {
    for helper in ["/nowhere/zx1-sandbox-init", "/etc/passwd"] {
        let error = Sandbox::builder().work_tree(TREE).helper(helper).build().unwrap_err();
        assert_eq!(error.code(), 9202, "{error}");
    }
    // A program that is none.
    let error = Sandbox::builder().work_tree(TREE).helper("/bin/true").build().unwrap_err();
    assert_eq!(error.code(), 9209, "{error}");
}

fn a_working_tree_that_is_none_is_refused(_: Who) {
    for tree in ["/home/u/nowhere", "/home/u/project/main.c", ""] {
        let error = Sandbox::builder().work_tree(tree).build().unwrap_err();
        assert_eq!(error.code(), 9210, "{tree}: {error}");
    }
    let command = Command::shell("true").cwd("/home/u/nowhere");
    assert_eq!(sandbox().run(&command, &limits()).unwrap_err().code(), 9213);
}

fn the_proxy_serves_only_the_list(_: Who) {
    let hosts = Network::Hosts(vec!["mirror.example.org".to_owned()]);
    let mut sandbox = Sandbox::builder().work_tree(TREE).network(hosts).build().unwrap();
    let ask = |target: &str| {
        format!(
            "perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(PeerAddr => \"127.0.0.1:3128\")
             or die \"no proxy\";
             print $s \"CONNECT {target} HTTP/1.1\\r\\n\\r\\n\"; print scalar <$s>'; echo $https_proxy"
        )
    };
    for target in [
        "example.org:443",
        "127.0.0.1:443",
        "169.254.169.254:443",
        "mirror.example.org:22",
        "mirror.example.org.evil.example:443",
    ] {
        let said = good(&mut sandbox, &ask(target));
        assert!(said.starts_with("HTTP/1.1 403"), "{target}: {said}");
        assert!(said.contains("http://127.0.0.1:3128"), "{said}");
    }
    // Allowed, but the jail has no network.
    assert!(good(&mut sandbox, &ask("mirror.example.org:443")).starts_with("HTTP/1.1 502"));
    // The proxy is the only way.
    let direct = "perl -MIO::Socket::INET -e '
        exit(IO::Socket::INET->new(PeerAddr => \"1.1.1.1:80\", Timeout => 2) ? 1 : 0)'";
    good(&mut sandbox, direct);
}

fn two_sandboxes_know_nothing_of_each_other(_: Who) {
    let (mut one, mut two) = (sandbox(), sandbox());
    good(&mut one, "echo one > mine; echo one > /tmp/mine");
    good(&mut two, "test ! -e mine; test ! -e /tmp/mine; echo two > mine");
    assert_eq!(good(&mut one, "cat mine"), "one\n");
    assert!(!one.changes().unwrap().to_string().contains("two"));
}
