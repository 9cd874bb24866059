//! The outer jail: new namespaces and a throwaway root in memory, in which the sandbox under test sees a
//! whole host. Programs come from the real /usr, read-only; everything else is made anew and may be
//! destroyed.

use std::ffi::CString;
use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use rustix::fs::{FileType, Mode};
use rustix::mount::{MountFlags, MountPropagationFlags, UnmountFlags};

use crate::groups;
use crate::snapshot::{self, Depth};
use crate::world::{self, Scenario, Who};

pub(crate) const ARGUMENT: &str = "zx1-jail";
/// Longest time of one attack.
const DEADLINE: Duration = Duration::from_secs(120);
/// The ordinary user of the jail.
pub(crate) const USER: u32 = 1000;
/// Where this program lies in the jail, for attackers.
pub(crate) const ATTACKER: &str = "/opt/attack/attacker";

/// Plays a scenario in a fresh jail; the parent's side.
pub(crate) fn run(who: Who, name: &str) -> Result<(), libtest_mimic::Failed> {
    let output = Command::new(std::env::current_exe()?)
        .args([ARGUMENT, who.name(), name])
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin")
        .output()?;
    if output.status.success() {
        return Ok(());
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Err(format!("{}\n{}{}", output.status, text(&output.stdout), text(&output.stderr)).into())
}

/// First process of a test: makes the namespaces, waits for the end.
pub(crate) fn enter(who: Who, scenario: &Scenario) -> ExitCode {
    let (uid, gid) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    let mut flags = libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWIPC | libc::CLONE_NEWNET;
    if uid != 0 {
        flags |= libc::CLONE_NEWUSER;
    }
    let group = groups::Delegated::new(who, uid == 0);
    // SAFETY: this process has one thread.
    check("unshare", unsafe { libc::unshare(flags) });
    if uid != 0 {
        fs::write("/proc/self/setgroups", "deny").expect("setgroups");
        fs::write("/proc/self/uid_map", format!("0 {uid} 1")).expect("uid_map");
        fs::write("/proc/self/gid_map", format!("0 {gid} 1")).expect("gid_map");
    }
    // SAFETY: one thread, so the child can go on.
    match unsafe { libc::fork() } {
        0 => {
            // SAFETY: no memory is involved.
            unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
            let good =
                std::panic::catch_unwind(|| first(who, scenario, uid == 0, group.as_ref())).unwrap_or(false);
            let _ = io::stderr().flush();
            std::process::exit(i32::from(!good))
        }
        pid => {
            let started = Instant::now();
            let pid = rustix::process::Pid::from_raw(pid).expect("fork");
            loop {
                let status = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::NOHANG);
                if let Some((_, status)) = status.expect("waitpid") {
                    let good = status.exit_status() == Some(0);
                    return if good { ExitCode::SUCCESS } else { ExitCode::FAILURE };
                }
                if started.elapsed() > DEADLINE {
                    eprintln!("the jail did not end within {DEADLINE:?}");
                    let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
                    return ExitCode::FAILURE;
                }
                // A poll of a child's end, not a wait for an event of the test.
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
}

/// Process 1 of the jail: builds the root, plays the scenario in a child, compares the trees.
fn first(who: Who, scenario: &Scenario, real_root: bool, group: Option<&groups::Delegated>) -> bool {
    let exe = fs::read("/proc/self/exe").expect("this program");
    build_root(&exe, group.is_some());
    bring_loopback_up();
    world::plant();
    let before = snapshot::take(Path::new("/"), Depth::Untouched);
    let mut child = Command::new("/proc/self/exe");
    child.args([world::ARGUMENT, who.name(), scenario.name]);
    child.env("HOME", if who == Who::Root { "/root" } else { "/home/u" });
    if !real_root {
        child.env(world::ONE_USER, "1");
    }
    if let Some(group) = group {
        group.enter(&mut child);
    }
    if who == Who::User {
        // SAFETY: only system calls between fork and exec.
        unsafe { child.pre_exec(move || become_user(real_root)) };
    }
    let status = child.status().expect("the scenario's process");
    if !status.success() {
        eprintln!("the scenario ended with {status} (signal {:?})", status.signal());
        return false;
    }
    let left = group.map(groups::Delegated::left).unwrap_or_default();
    if !left.is_empty() {
        eprintln!("groups are left behind: {left:?}");
        return false;
    }
    let differences = snapshot::differences(&before, &snapshot::take(Path::new("/"), Depth::Untouched));
    if scenario.may_change || differences.is_empty() {
        return true;
    }
    eprintln!("the attack changed the real filesystem:\n{}", differences.join("\n"));
    false
}

/// Uid 1000; where the jail knows one user only, a user namespace in which that one is called so.
fn become_user(real_root: bool) -> io::Result<()> {
    if real_root {
        // SAFETY: plain system calls.
        let done = unsafe {
            libc::setgroups(0, std::ptr::null()) == 0 && libc::setgid(USER) == 0 && libc::setuid(USER) == 0
        };
        return if done { Ok(()) } else { Err(io::Error::last_os_error()) };
    }
    // SAFETY: one thread after the fork.
    if unsafe { libc::unshare(libc::CLONE_NEWUSER) } != 0 {
        return Err(io::Error::last_os_error());
    }
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{USER} 0 1"))?;
    fs::write("/proc/self/gid_map", format!("{USER} 0 1"))
}

fn check(what: &str, result: libc::c_int) {
    assert!(result == 0, "{what}: {}", io::Error::last_os_error());
}

fn build_root(exe: &[u8], has_groups: bool) {
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    rustix::mount::mount_change("/", private).expect("private mounts");
    let root = Path::new("/tmp");
    tmpfs(root, MountFlags::NOSUID | MountFlags::NODEV, "mode=0755,size=1g");
    for dir in
        ["proc", "sys", "dev", "run", "usr", "etc", "opt/attack", "root", "home/u", "var/lib", "var/tmp"]
    {
        fs::create_dir_all(root.join(dir)).unwrap();
    }
    for dir in ["tmp", "mnt/alias", "mnt/data", "mnt/strange name\\\n", "srv/locked"] {
        fs::create_dir_all(root.join(dir)).unwrap();
    }
    for name in ["bin", "sbin", "lib", "lib32", "lib64", "libx32"] {
        let path = Path::new("/").join(name);
        let Ok(meta) = fs::symlink_metadata(&path) else { continue };
        if meta.is_symlink() {
            symlink(fs::read_link(&path).unwrap(), root.join(name)).unwrap();
        } else {
            fs::create_dir(root.join(name)).unwrap();
            bind_read_only(&path, &root.join(name));
        }
    }
    bind_read_only(Path::new("/usr"), &root.join("usr"));
    copy_settings(&root.join("etc"));
    fs::write(root.join("opt/attack/attacker"), exe).unwrap();
    set_mode(&root.join("opt/attack/attacker"), 0o755);
    symlink("/run", root.join("var/run")).unwrap();
    set_mode(&root.join("tmp"), 0o1777);
    set_mode(&root.join("var/tmp"), 0o1777);
    set_mode(&root.join("root"), 0o700);
    own(&root.join("home/u"));
    set_mode(&root.join("home/u"), 0o755);

    let quiet = MountFlags::NOSUID | MountFlags::NODEV;
    tmpfs(&root.join("mnt/data"), quiet, "mode=1777,size=16m");
    tmpfs(&root.join("mnt/strange name\\\n"), quiet, "mode=1777,size=1m");
    tmpfs(&root.join("srv/locked"), quiet | MountFlags::NOEXEC | MountFlags::NOATIME, "mode=1777,size=1m");
    tmpfs(&root.join("run"), quiet, "mode=0755,size=1m");
    make_dev(&root.join("dev"));
    rustix::mount::mount("proc", root.join("proc"), "proc", quiet | MountFlags::NOEXEC, None).expect("proc");
    rustix::mount::mount("sysfs", root.join("sys"), "sysfs", quiet | MountFlags::NOEXEC, None)
        .expect("sysfs");
    if has_groups {
        let groups = Path::new(groups::TOP);
        rustix::mount::mount_bind(groups, root.join(groups.strip_prefix("/").unwrap())).expect("the groups");
    }
    // A second way to the same files.
    rustix::mount::mount_bind(root.join("home/u"), root.join("mnt/alias")).expect("an alias");
    std::env::set_current_dir(root).unwrap();
    rustix::process::pivot_root(".", ".").expect("pivot_root");
    rustix::mount::unmount(".", UnmountFlags::DETACH).expect("leaving the real root");
    std::env::set_current_dir("/").unwrap();
}

/// The jail's own network namespace is new, too.
fn bring_loopback_up() {
    // SAFETY: the request is large enough for the kernel's struct and lives during the call.
    unsafe {
        let socket = libc::socket(libc::AF_INET, libc::SOCK_DGRAM, 0);
        let mut request: libc::ifreq = std::mem::zeroed();
        for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
            *to = *from as libc::c_char;
        }
        request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
        check("the loopback", libc::ioctl(socket, libc::SIOCSIFFLAGS, &raw const request));
        libc::close(socket);
    }
}

fn make_dev(dev: &Path) {
    tmpfs(dev, MountFlags::NOSUID, "mode=0755,size=64k");
    for name in ["null", "zero", "full", "random", "urandom", "tty"] {
        let (from, to) = (Path::new("/dev").join(name), dev.join(name));
        let number = fs::metadata(&from).unwrap().rdev();
        let mode = Mode::from_raw_mode(0o666);
        // Nodes of the jail's own: an attack on them must not reach the real ones.
        if rustix::fs::mknodat(rustix::fs::CWD, &to, FileType::CharacterDevice, mode, number).is_ok() {
            set_mode(&to, 0o666);
            continue;
        }
        fs::File::create(&to).unwrap();
        bind_read_only(&from, &to);
    }
    fs::create_dir(dev.join("pts")).unwrap();
    fs::create_dir(dev.join("shm")).unwrap();
    let options = CString::new("newinstance,ptmxmode=0666,mode=0620").unwrap();
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    rustix::mount::mount("devpts", dev.join("pts"), "devpts", flags, options.as_c_str()).expect("devpts");
    symlink("pts/ptmx", dev.join("ptmx")).unwrap();
    tmpfs(&dev.join("shm"), MountFlags::NOSUID | MountFlags::NODEV, "mode=1777,size=16m");
}

/// Of the real /etc only what programs need to start; users and secrets are the jail's own.
fn copy_settings(etc: &Path) {
    for name in ["ld.so.cache", "ld.so.conf", "localtime", "profile", "bash.bashrc", "protocols", "services"]
    {
        if let Ok(bytes) = fs::read(Path::new("/etc").join(name)) {
            fs::write(etc.join(name), bytes).unwrap();
        }
    }
    fs::create_dir(etc.join("alternatives")).unwrap();
    for entry in fs::read_dir("/etc/alternatives").into_iter().flatten().flatten() {
        if let Ok(target) = fs::read_link(entry.path()) {
            symlink(target, etc.join("alternatives").join(entry.file_name())).unwrap();
        }
    }
    fs::write(etc.join("passwd"), "root:x:0:0:root:/root:/bin/bash\nu:x:1000:1000::/home/u:/bin/bash\n")
        .unwrap();
    fs::write(etc.join("group"), "root:x:0:\nu:x:1000:\n").unwrap();
    fs::write(etc.join("nsswitch.conf"), "passwd: files\ngroup: files\nhosts: files\n").unwrap();
    fs::write(etc.join("hosts"), "127.0.0.1 localhost\n").unwrap();
}

fn tmpfs(at: &Path, flags: MountFlags, data: &str) {
    let data = CString::new(data).unwrap();
    let done = rustix::mount::mount("tmpfs", at, "tmpfs", flags, data.as_c_str());
    done.unwrap_or_else(|error| panic!("a tmpfs at {at:?}: {error}"));
}

/// Keeps the flags that are locked for an ordinary user, and adds the one.
fn bind_read_only(from: &Path, to: &Path) {
    rustix::mount::mount_bind(from, to).expect("a bind mount");
    let path = CString::new(to.to_str().unwrap()).unwrap();
    let mut attributes =
        libc::mount_attr { attr_set: libc::MOUNT_ATTR_RDONLY, attr_clr: 0, propagation: 0, userns_fd: 0 };
    // SAFETY: both pointers are valid for the call.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            0,
            &raw mut attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    assert!(result == 0, "read-only {to:?}: {}", io::Error::last_os_error());
}

pub(crate) fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Gives a file to the ordinary user, where the jail knows one besides root.
pub(crate) fn own(path: &Path) {
    let _ = chown(path, Some(USER), Some(USER));
}

/// A file of the ordinary user.
pub(crate) fn plant(path: impl Into<PathBuf>, bytes: impl AsRef<[u8]>, mode: u32) {
    let path: PathBuf = path.into();
    let mut missing: Vec<_> = path.ancestors().skip(1).take_while(|dir| !dir.exists()).collect();
    while let Some(dir) = missing.pop() {
        fs::create_dir(dir).unwrap();
        give_as_parent(dir);
    }
    fs::write(&path, bytes).unwrap();
    give_as_parent(&path);
    set_mode(&path, mode);
}

fn give_as_parent(path: &Path) {
    if path.starts_with("/home/u") {
        own(path);
    }
}
