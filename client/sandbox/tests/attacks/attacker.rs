//! The attacker's program: runs inside the sandbox, tries one thing and says of each step whether it held.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixStream};
use std::process::ExitCode;
use std::time::Duration;

use libc as c;

pub(crate) const ARGUMENT: &str = "zx1-attack";

pub(crate) fn main(arguments: &[&str]) -> ExitCode {
    let Some((name, rest)) = arguments.split_first() else { return ExitCode::FAILURE };
    match *name {
        "system-calls" => system_calls(),
        "socket-kinds" => socket_kinds(),
        "network" => network(rest),
        "local-sockets" => local_sockets(rest),
        "processes" => processes(),
        "proc-writes" => proc_writes(),
        "proc-reads" => proc_reads(),
        "descriptors" => descriptors(),
        "terminal" => terminal(),
        "devices" => devices(),
        "rights" => rights(),
        "mount-flags" => mount_flags(),
        "overlay-marks" => overlay_marks(),
        "own-attributes" => own_attributes(),
        "leaving-the-root" => leaving_the_root(),
        "other-architecture" => other_architecture(),
        "hidden-memory" => hidden_memory(),
        "unmapped-shared-memory" => unmapped_shared_memory(),
        "many-holes" => many_holes(),
        "forks" => forks(),
        "own-memory" => own_memory(),
        "files-in-shared-memory" => files_in_shared_memory(),
        "full-pipes" => full_pipes(),
        "full-sockets" => full_sockets(),
        "groups" => groups(),
        _ => println!("no such attack"),
    }
    ExitCode::SUCCESS
}

/// One line: an attack that succeeded is open.
fn said(what: &str, open: bool, detail: impl std::fmt::Display) {
    println!("{} {what}: {detail}", if open { "OPEN" } else { "held" });
}

fn tried<T>(what: &str, result: io::Result<T>) {
    match result {
        Ok(_) => said(what, true, "done"),
        Err(error) => said(what, false, error),
    }
}

fn call(number: c::c_long, arguments: [usize; 6]) -> io::Result<c::c_long> {
    let [a, b, c, d, e, f] = arguments;
    // SAFETY: the attacks pass null or valid pointers; what they break is their own process.
    match unsafe { c::syscall(number, a, b, c, d, e, f) } {
        -1 => Err(io::Error::last_os_error()),
        value => Ok(value),
    }
}

fn system_calls() {
    let path = |text: &'static [u8]| text.as_ptr() as usize;
    let (root, tmp) = (path(b"/\0"), path(b"/tmp\0"));
    let fs = path(b"tmpfs\0");
    let name = path(b"zx1\0");
    let buffer = vec![0u8; 4096];
    let at = buffer.as_ptr() as usize;
    let cwd = c::AT_FDCWD as usize;
    let calls: &[(&str, c::c_long, [usize; 6])] = &[
        ("mount", c::SYS_mount, [fs, tmp, fs, 0, 0, 0]),
        ("bind mount", c::SYS_mount, [root, tmp, 0, c::MS_BIND as usize, 0, 0]),
        ("remount", c::SYS_mount, [0, root, 0, (c::MS_REMOUNT | c::MS_BIND) as usize, 0, 0]),
        ("umount", c::SYS_umount2, [path(b"/proc\0"), c::MNT_DETACH as usize, 0, 0, 0, 0]),
        ("pivot_root", c::SYS_pivot_root, [tmp, tmp, 0, 0, 0, 0]),
        ("chroot", c::SYS_chroot, [tmp, 0, 0, 0, 0, 0]),
        ("open_tree", c::SYS_open_tree, [cwd, root, 1, 0, 0, 0]),
        ("fsopen", c::SYS_fsopen, [fs, 0, 0, 0, 0, 0]),
        ("mount_setattr", c::SYS_mount_setattr, [cwd, root, 0, at, 32, 0]),
        ("open_tree_attr", 467, [cwd, root, 1, at, 32, 0]),
        ("unshare a user namespace", c::SYS_unshare, [c::CLONE_NEWUSER as usize, 0, 0, 0, 0, 0]),
        ("unshare the mounts", c::SYS_unshare, [c::CLONE_NEWNS as usize, 0, 0, 0, 0, 0]),
        ("unshare the time", c::SYS_unshare, [0x80, 0, 0, 0, 0, 0]),
        ("clone a user namespace", c::SYS_clone, [(c::CLONE_NEWUSER | c::SIGCHLD) as usize, 0, 0, 0, 0, 0]),
        ("clone3", c::SYS_clone3, [at, 64, 0, 0, 0, 0]),
        ("bpf", c::SYS_bpf, [0, at, 64, 0, 0, 0]),
        ("userfaultfd", c::SYS_userfaultfd, [1, 0, 0, 0, 0, 0]),
        ("perf_event_open", c::SYS_perf_event_open, [at, 0, usize::MAX, usize::MAX, 0, 0]),
        ("io_uring", c::SYS_io_uring_setup, [4, at, 0, 0, 0, 0]),
        ("keyctl", c::SYS_keyctl, [0, -3isize as usize, 0, 0, 0, 0]),
        ("add_key", c::SYS_add_key, [path(b"user\0"), name, at, 4, -3isize as usize, 0]),
        ("request_key", c::SYS_request_key, [path(b"user\0"), name, 0, 0, 0, 0]),
        ("open_by_handle_at", c::SYS_open_by_handle_at, [cwd, at, 0, 0, 0, 0]),
        ("fanotify", c::SYS_fanotify_init, [0, 0, 0, 0, 0, 0]),
        ("kexec", c::SYS_kexec_load, [0, 0, 0, 0, 0, 0]),
        ("init_module", c::SYS_init_module, [at, 0, name, 0, 0, 0]),
        ("ctrl-alt-del off", c::SYS_reboot, [0xfee1_dead, 672_274_793, 0, 0, 0, 0]),
        ("swapon", c::SYS_swapon, [tmp, 0, 0, 0, 0, 0]),
        ("syslog", c::SYS_syslog, [3, at, 4096, 0, 0, 0]),
        ("settimeofday", c::SYS_settimeofday, [0, at, 0, 0, 0, 0]),
        ("sethostname", c::SYS_sethostname, [name, 3, 0, 0, 0, 0]),
        ("acct", c::SYS_acct, [0, 0, 0, 0, 0, 0]),
        ("ptrace process 1", c::SYS_ptrace, [16, 1, 0, 0, 0, 0]),
        ("pidfd_getfd", c::SYS_pidfd_getfd, [0, 0, 0, 0, 0, 0]),
        ("kcmp", c::SYS_kcmp, [1, 1, 0, 0, 0, 0]),
        ("memfd_create", c::SYS_memfd_create, [name, 0, 0, 0, 0, 0]),
        ("memfd_secret", c::SYS_memfd_secret, [0, 0, 0, 0, 0, 0]),
        ("a character device", c::SYS_mknodat, [cwd, path(b"/tmp/c\0"), 0o20666, 0x103, 0, 0]),
        ("a block device", c::SYS_mknodat, [cwd, path(b"/tmp/b\0"), 0o60666, 0x800, 0, 0]),
        ("a whiteout", c::SYS_mknodat, [cwd, path(b"/tmp/w\0"), 0o20000, 0, 0, 0]),
        (
            "a whiteout by renaming",
            c::SYS_renameat2,
            [cwd, path(b"/tmp/shared\0"), cwd, path(b"/tmp/s2\0"), 4, 0],
        ),
        ("quotactl", c::SYS_quotactl, [0x0080_0007, 0, 0, at, 0, 0]),
    ];
    for (what, number, arguments) in calls {
        tried(what, call(*number, *arguments));
    }
    // The upper half of an argument that the kernel reads as 32 bits must not hide it from the filter.
    let hidden = (1usize << 40) | c::CLONE_NEWUSER as usize;
    tried("unshare with high bits", call(c::SYS_unshare, [hidden, 0, 0, 0, 0, 0]));
    #[cfg(target_arch = "x86_64")]
    {
        tried("mount by its x32 number", call(0x4000_0000 | c::SYS_mount, [fs, tmp, fs, 0, 0, 0]));
        tried("iopl", call(c::SYS_iopl, [3, 0, 0, 0, 0, 0]));
        tried("mknod", call(c::SYS_mknod, [path(b"/tmp/m\0"), 0o20000, 0, 0, 0, 0]));
    }
    let one = [c::iovec { iov_base: at as *mut c::c_void, iov_len: 8 }];
    let remote = one.as_ptr() as usize;
    tried("memory of process 1", call(c::SYS_process_vm_readv, [1, remote, 1, remote, 1, 0]));
    // SAFETY: no memory is involved.
    let reached = unsafe { c::setns(0, 0) };
    said("setns", reached == 0, io::Error::last_os_error());
}

fn socket_kinds() {
    let kinds: &[(&str, c::c_int, c::c_int, c::c_int)] = &[
        ("packet", c::AF_PACKET, c::SOCK_RAW, 0),
        ("vsock", c::AF_VSOCK, c::SOCK_STREAM, 0),
        ("alg", c::AF_ALG, c::SOCK_SEQPACKET, 0),
        ("bluetooth", c::AF_BLUETOOTH, c::SOCK_RAW, 1),
        ("xdp", c::AF_XDP, c::SOCK_RAW, 0),
        ("key", c::AF_KEY, c::SOCK_RAW, 2),
        ("can", c::AF_CAN, c::SOCK_RAW, 1),
        ("tipc", c::AF_TIPC, c::SOCK_RDM, 0),
        ("raw ip", c::AF_INET, c::SOCK_RAW, c::IPPROTO_ICMP),
        ("raw ipv6", c::AF_INET6, c::SOCK_RAW, c::IPPROTO_ICMPV6),
        ("audit", c::AF_NETLINK, c::SOCK_RAW, 9),
        ("netfilter", c::AF_NETLINK, c::SOCK_RAW, 12),
        ("device events", c::AF_NETLINK, c::SOCK_RAW, 15),
        ("crypto by netlink", c::AF_NETLINK, c::SOCK_RAW, 21),
    ];
    for (what, family, kind, protocol) in kinds {
        tried(what, call(c::SYS_socket, [*family as usize, *kind as usize, *protocol as usize, 0, 0, 0]));
    }
    // Changing the network needs a right that is not there: a new interface.
    let Ok(socket) = call(c::SYS_socket, [c::AF_NETLINK as usize, c::SOCK_RAW as usize, 0, 0, 0, 0]) else {
        return;
    };
    let mut message = [0u8; 32];
    message[0] = 32;
    message[4..6].copy_from_slice(&16u16.to_ne_bytes());
    message[6..8].copy_from_slice(&0x0605u16.to_ne_bytes());
    let mut answer = [0u8; 256];
    // SAFETY: both buffers are valid for their lengths.
    let length = unsafe {
        c::send(socket as c::c_int, message.as_ptr().cast(), message.len(), 0);
        c::recv(socket as c::c_int, answer.as_mut_ptr().cast(), answer.len(), 0)
    };
    let code = i32::from_ne_bytes([answer[16], answer[17], answer[18], answer[19]]);
    said("a new interface", length < 20 || code == 0, format!("answer {code}"));
}

/// `address` … of listeners on the host, and addresses of the world.
fn network(rest: &[&str]) {
    for address in rest.iter().copied().chain(["1.1.1.1:53", "169.254.169.254:80", "[2606:4700::1111]:53"]) {
        let parsed = address.parse().expect("an address");
        tried(address, TcpStream::connect_timeout(&parsed, Duration::from_secs(2)));
        let bind = if parsed.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
        let sent = UdpSocket::bind(bind).and_then(|socket| socket.send_to(b"secret", parsed));
        // A datagram to the own loopback goes nowhere, but it goes.
        if !parsed.ip().is_loopback() {
            tried(&format!("{address} udp"), sent);
        }
    }
    let resolved = std::net::ToSocketAddrs::to_socket_addrs("example.org:80");
    tried("a name", resolved.map(Iterator::count));
}

/// Listeners of the host: `@name` is abstract, other names are paths; `|path` is a pipe with a reader.
fn local_sockets(rest: &[&str]) {
    for name in rest {
        if let Some(name) = name.strip_prefix('@') {
            let address = SocketAddr::from_abstract_name(name).expect("a name");
            tried(name, UnixStream::connect_addr(&address));
        } else if let Some(path) = name.strip_prefix('|') {
            let flags = c::O_NONBLOCK;
            let opened =
                std::os::unix::fs::OpenOptionsExt::custom_flags(fs::OpenOptions::new().write(true), flags)
                    .open(path);
            tried(path, opened.and_then(|mut pipe| pipe.write_all(b"secret")));
        } else {
            tried(name, UnixStream::connect(name));
        }
    }
}

fn processes() {
    for name in ["mem", "root/etc/passwd", "cwd/x", "fd/0", "environ", "maps", "exe", "stack", "syscall"] {
        tried(name, fs::File::open(format!("/proc/1/{name}")).and_then(|mut file| file.read(&mut [0u8; 8])));
    }
    tried("the root of process 1", fs::read_dir("/proc/1/root"));
    tried("the descriptors of process 1", fs::read_dir("/proc/1/fd"));
    let pids = fs::read_dir("/proc").expect("/proc").flatten();
    let others = pids
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| *pid != std::process::id());
    said("other processes", others.count() > 0, "listed");
    // SAFETY: signals to oneself at most.
    let killed = unsafe { c::kill(1, c::SIGKILL) };
    said("kill process 1", false, format!("{killed}, and this line comes all the same"));
    let parent = fs::read_to_string("/proc/self/status").unwrap_or_default();
    said("the parent is process 1", !parent.contains("\nPPid:\t1\n"), "seen");
}

fn proc_writes() {
    for name in [
        "/proc/sys/kernel/core_pattern",
        "/proc/sys/kernel/hostname",
        "/proc/sys/kernel/modprobe",
        "/proc/sys/vm/drop_caches",
        "/proc/sys/net/ipv4/ip_forward",
        "/proc/sysrq-trigger",
        "/proc/irq/default_smp_affinity",
        "/proc/1/oom_score_adj",
        "/proc/1/comm",
        "/sys/devices/system/cpu/cpu1/online",
        "/sys/kernel/mm/transparent_hugepage/enabled",
        "/sys/fs/cgroup/cgroup.procs",
    ] {
        tried(name, fs::OpenOptions::new().write(true).open(name));
    }
    for name in ["/proc/sys", "/sys/devices/system", "/proc/fs", "/dev", "/sys"] {
        tried(&format!("a file in {name}"), fs::File::create(format!("{name}/zx1")));
    }
}

fn proc_reads() {
    for name in [
        "/proc/kcore",
        "/proc/kallsyms",
        "/proc/kmsg",
        "/proc/keys",
        "/proc/key-users",
        "/proc/timer_list",
        "/proc/slabinfo",
        "/proc/vmallocinfo",
        "/proc/kpageflags",
        "/proc/iomem",
        "/proc/config.gz",
        "/sys/kernel/debug",
        "/sys/firmware",
        "/dev/mem",
        "/dev/kmsg",
        "/dev/vda",
        "/dev/sda",
        "/dev/fuse",
        "/dev/kvm",
        "/dev/net/tun",
    ] {
        // A mask is empty: nothing comes of it.
        match fs::File::open(name).and_then(|mut file| file.read(&mut [0u8; 64])) {
            Ok(0) => said(name, false, "empty"),
            Ok(count) => said(name, true, format!("{count} bytes")),
            Err(error) => said(name, false, error),
        }
    }
}

fn descriptors() {
    let own = fs::read_dir("/proc/self/fd").expect("/proc/self/fd");
    for entry in own.flatten() {
        let number: i32 = entry.file_name().to_str().and_then(|name| name.parse().ok()).unwrap_or(-1);
        let target = fs::read_link(entry.path()).unwrap_or_default().display().to_string();
        let fine = match number {
            0 => target == "/dev/null",
            1 | 2 => target.starts_with("pipe:"),
            // The listing's own.
            _ => target.starts_with("/proc/"),
        };
        said(&format!("descriptor {number}"), !fine, target);
    }
    // Nothing comes down through the open directory of a parent either.
    for number in 3..64 {
        let up = format!("/proc/self/fd/{number}/../../..");
        if let Ok(mut entries) = fs::read_dir(&up) {
            let host = entries.any(|entry| entry.is_ok_and(|entry| entry.file_name() == "host"));
            said(&up, host, "a way up");
        }
    }
}

fn terminal() {
    tried("the terminal", fs::OpenOptions::new().read(true).write(true).open("/dev/tty"));
    let byte = b"x".as_ptr() as usize;
    tried("typing", call(c::SYS_ioctl, [0, c::TIOCSTI as usize, byte, 0, 0, 0]));
    let hidden = (1usize << 32) | c::TIOCSTI as usize;
    tried("typing with high bits", call(c::SYS_ioctl, [0, hidden, byte, 0, 0, 0]));
    // An own terminal can be opened, but nothing can be typed into it.
    if let Ok(own) = fs::OpenOptions::new().read(true).write(true).open("/dev/ptmx") {
        let own = own.as_raw_fd() as usize;
        tried("typing into one's own", call(c::SYS_ioctl, [own, c::TIOCSTI as usize, byte, 0, 0, 0]));
    }
    tried("the virtual console", call(c::SYS_ioctl, [0, c::TIOCLINUX as usize, byte, 0, 0, 0]));
}

/// Device files are shared with the host: their looks must not change.
fn devices() {
    for name in ["null", "zero", "full", "random", "urandom", "tty"] {
        let path = format!("/dev/{name}");
        tried(&format!("mode of {name}"), fs::set_permissions(&path, fs::Permissions::from_mode(0o600)));
        tried(&format!("owner of {name}"), std::os::unix::fs::chown(&path, Some(1000), Some(1000)));
        let times =
            fs::File::open(&path).and_then(|file| file.set_modified(std::time::SystemTime::UNIX_EPOCH));
        tried(&format!("time of {name}"), times);
        tried(&format!("removing {name}"), fs::remove_file(&path));
    }
    // The same through standard input, which is /dev/null.
    // SAFETY: plain calls on descriptor 0.
    unsafe {
        said("mode of standard input", c::fchmod(0, 0o600) == 0, io::Error::last_os_error());
        said("owner of standard input", c::fchown(0, 1000, 1000) == 0, io::Error::last_os_error());
    }
    let through = fs::set_permissions("/proc/self/fd/0", fs::Permissions::from_mode(0o600));
    tried("mode of standard input by its name", through);
    let mut null = fs::OpenOptions::new().read(true).write(true).open("/dev/null").expect("/dev/null works");
    said("writing to /dev/null", null.write(b"x").is_err(), "works");
}

/// What the process may do.
fn rights() {
    let status = fs::read_to_string("/proc/self/status").expect("/proc/self/status");
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.trim_start_matches(':').trim().to_owned()
    };
    // chown, dac_override, fowner, fsetid, kill, setgid, setuid, net_bind_service, sys_ptrace
    const FILES: u64 = 0b1000_0000_0100_1111_1011;
    for set in ["CapEff", "CapPrm", "CapBnd"] {
        let value = u64::from_str_radix(&field(set), 16).unwrap_or(u64::MAX);
        // SAFETY: no memory is involved.
        let allowed = if unsafe { c::getuid() } == 0 { FILES } else { 0 };
        said(set, value & !allowed != 0, format!("{value:x}"));
    }
    for set in ["CapInh", "CapAmb"] {
        said(set, field(set).chars().any(|digit| digit != '0'), field(set));
    }
    said("new privileges", field("NoNewPrivs") != "1", field("NoNewPrivs"));
    said("a filter", field("Seccomp") != "2", field("Seccomp"));
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    // 1 is the value with which the kernel does not even start its helper for core files.
    let core = limits.lines().find(|line| line.starts_with("Max core")).unwrap_or_default().to_owned();
    said("core files", core.split_whitespace().nth(4) != Some("1"), core);
    let copy = "/tmp/own-setuid";
    let set =
        fs::copy("/bin/sh", copy).and_then(|_| fs::set_permissions(copy, fs::Permissions::from_mode(0o6755)));
    let out =
        std::process::Command::new(copy).args(["-p", "-c", "cat /proc/self/status | grep ^Cap"]).output();
    let text = out.map(|out| String::from_utf8_lossy(&out.stdout).into_owned()).unwrap_or_default();
    let caps = text.lines().find_map(|line| line.strip_prefix("CapEff:\t")).unwrap_or("0");
    let caps = u64::from_str_radix(caps, 16).unwrap_or(u64::MAX);
    said("a setuid shell", caps & !FILES != 0, format!("{set:?} {caps:x}"));
    // SAFETY: no memory is involved.
    if unsafe { c::getuid() } != 0 {
        tried("becoming root", call(c::SYS_setuid, [0, 0, 0, 0, 0, 0]));
        tried("another group", call(c::SYS_setgid, [0, 0, 0, 0, 0, 0]));
        let group = [0u32];
        tried("more groups", call(c::SYS_setgroups, [1, group.as_ptr() as usize, 0, 0, 0, 0]));
    }
}

/// No mount of the view may be without nosuid; none but the device files without nodev.
fn mount_flags() {
    let mounts = fs::read_to_string("/proc/self/mountinfo").expect("mountinfo");
    for line in mounts.lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let (point, options) = (fields[4], fields[5]);
        let has = |name: &str| options.split(',').any(|option| option == name);
        let device = point.starts_with("/dev/");
        let fine = device || (has("nosuid") && has("nodev"));
        said(point, !fine, options);
        if device && !["/dev/pts", "/dev/shm", "/dev/mqueue"].contains(&point) {
            said(&format!("writing to the inode of {point}"), !has("ro"), options);
        }
    }
    let propagation =
        mounts.lines().filter(|line| line.contains(" shared:") || line.contains(" master:")).count();
    said("mounts that propagate", propagation > 0, propagation);
}

/// Marks of the overlay, set by hand: they must not bring anything to light.
fn overlay_marks() {
    let _ = fs::create_dir("/home/u/project/marked");
    for (name, value) in [
        ("user.overlay.opaque", &b"y"[..]),
        ("user.overlay.redirect", b"/.ssh"),
        ("user.overlay.redirect", b"/home/u/.ssh"),
        ("user.overlay.metacopy", b""),
        ("user.overlay.origin", b"x"),
        ("user.overlay.whiteout", b"y"),
    ] {
        // They may be stored as ordinary attributes; whether that shows anything is looked at afterwards.
        let _ = rustix::fs::setxattr("/home/u/project/marked", name, value, rustix::fs::XattrFlags::empty());
    }
    for name in ["trusted.overlay.opaque", "trusted.overlay.redirect", "security.capability"] {
        let set = rustix::fs::setxattr("/home/u/project/marked", name, b"y", rustix::fs::XattrFlags::empty());
        tried(name, set.map_err(io::Error::from));
    }
    let inside = fs::read_dir("/home/u/project/marked").into_iter().flatten().count();
    said("names in the marked directory", inside > 0, inside);
}

/// Attributes of the user's own, which a commit keeps.
fn own_attributes() {
    for name in ["added", "hard.c"] {
        let set = rustix::fs::setxattr(name, "user.zx1", b"hello", rustix::fs::XattrFlags::empty());
        said(name, set.is_err(), "set");
    }
}

fn leaving_the_root() {
    for name in [
        "/host",
        "/view",
        "/upper",
        "/shadow",
        "/empty",
        "/../host",
        "/proc/self/root/host",
        "/proc/self/cwd/../../../host",
    ] {
        tried(name, fs::symlink_metadata(name));
    }
    let up = "../".repeat(40);
    let top = fs::metadata(&up).map(|meta| (meta.dev(), meta.ino())).ok();
    let root = fs::metadata("/").map(|meta| (meta.dev(), meta.ino())).ok();
    said("above the root", top != root, format!("{top:?}"));
}

fn other_architecture() {
    #[cfg(target_arch = "x86_64")]
    {
        let result: i32;
        // SAFETY: getpid (20) of the 32-bit table touches no memory.
        unsafe { std::arch::asm!("int 0x80", inlateout("eax") 20 => result) };
        said("a 32-bit call", result > 0, result);
    }
}

/// Memory that no process maps: System V segments, as large as allowed.
fn hidden_memory() {
    let mut total = 0u64;
    for _ in 0..12 {
        // SAFETY: the segment is only touched where it was attached.
        unsafe {
            let id = c::shmget(c::IPC_PRIVATE, 64 << 20, 0o600);
            if id < 0 {
                break;
            }
            let at = c::shmat(id, std::ptr::null(), 0);
            if at as isize == -1 {
                break;
            }
            std::ptr::write_bytes(at.cast::<u8>(), 1, 64 << 20);
            c::shmdt(at);
        }
        total += 64;
    }
    said("memory without a process", total > 512, format!("{total} MiB"));
}

/// Shared pages stay when their mapping forgets them.
fn unmapped_shared_memory() {
    let length = 1usize << 30;
    // SAFETY: the mapping is our own and is touched within its length.
    unsafe {
        let flags = c::MAP_SHARED | c::MAP_ANONYMOUS | c::MAP_NORESERVE;
        let at = c::mmap(std::ptr::null_mut(), length, c::PROT_READ | c::PROT_WRITE, flags, -1, 0);
        assert!(at != c::MAP_FAILED);
        let piece = 16usize << 20;
        for start in (0..length).step_by(piece) {
            let at = at.cast::<u8>().add(start);
            std::ptr::write_bytes(at, 1, piece);
            c::madvise(at.cast(), piece, c::MADV_DONTNEED);
        }
    }
    said("shared memory that is not mapped", true, "1 GiB");
}

/// Files that are all hole: nothing to store, everything to read.
fn many_holes() {
    for number in 0..64 {
        let file = fs::File::create(format!("/home/u/project/hole{number}")).expect("a file");
        let _ = file.set_len(1 << 30);
    }
    said("holes", false, "made");
}

fn forks() {
    let mut made = 0;
    for _ in 0..2000 {
        // SAFETY: the child waits to be killed.
        match unsafe { c::fork() } {
            0 => loop {
                // SAFETY: no memory is involved.
                unsafe { c::pause() };
            },
            -1 => break,
            _ => made += 1,
        }
    }
    said("forks", made >= 2000, made);
}

/// Each byte is different from zero, so that every page is there.
fn own_memory() {
    let all = vec![1u8; 1 << 30];
    said("own memory", true, std::hint::black_box(&all).len());
}

fn files_in_shared_memory() {
    let written =
        fs::File::create("/dev/shm/large").and_then(|mut file| file.write_all(&vec![1u8; 200 << 20]));
    said("files in /dev/shm", written.is_ok(), "200 MiB");
}

/// As much as pipes take without a reader.
fn full_pipes() {
    let mut total = 0;
    let mut kept = Vec::new();
    for _ in 0..1000 {
        let Ok((reader, mut writer)) = io::pipe() else { break };
        // SAFETY: no memory is involved.
        unsafe {
            c::fcntl(writer.as_raw_fd(), c::F_SETPIPE_SZ, 1 << 20);
            c::fcntl(writer.as_raw_fd(), c::F_SETFL, c::O_NONBLOCK);
        }
        while let Ok(count) = writer.write(&[1u8; 1 << 16]) {
            total += count;
        }
        kept.push((reader, writer));
    }
    said("full pipes", true, total);
}

/// As much as sockets take without a reader.
fn full_sockets() {
    let mut total = 0;
    let mut kept = Vec::new();
    for _ in 0..1500 {
        let Ok((reader, mut writer)) = UnixStream::pair() else { break };
        writer.set_nonblocking(true).expect("a socket");
        while let Ok(count) = writer.write(&[1u8; 1 << 16]) {
            total += count;
        }
        kept.push((reader, writer));
    }
    said("full sockets", true, total);
}

/// Limits of the group that this process is in, and ways out of it.
fn groups() {
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let seen = own.lines().filter(|line| line.starts_with("0::")).any(|line| line != "0::/");
    said("the name of the group", seen, own.trim());
    let mounts = fs::read_to_string("/proc/self/mountinfo").expect("mountinfo");
    said("a mount of groups", mounts.contains(" - cgroup"), "looked for");
    for top in ["/sys/fs/cgroup", "/proc/1/root/sys/fs/cgroup", "/host/sys/fs/cgroup"] {
        for name in ["cgroup.procs", "cgroup.subtree_control", "memory.max", "pids.max", "cgroup.kill"] {
            tried(&format!("{top}/{name}"), fs::OpenOptions::new().write(true).open(format!("{top}/{name}")));
        }
        tried(&format!("a group in {top}"), fs::create_dir(format!("{top}/zx1")));
    }
    let path = |text: &'static [u8]| text.as_ptr() as usize;
    let (kind, at) = (path(b"cgroup2\0"), path(b"/tmp\0"));
    tried("mounting groups", call(c::SYS_mount, [kind, at, kind, 0, 0, 0]));
    tried("a namespace of groups", call(c::SYS_unshare, [c::CLONE_NEWCGROUP as usize, 0, 0, 0, 0, 0]));
    tried("another rank for the kernel", fs::write("/proc/self/oom_score_adj", "-1000"));
}
