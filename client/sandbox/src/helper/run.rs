//! One run: new pid, ipc, uts, cgroup and network namespaces, a first process that watches, and the command.
//!
//! Three processes: the helper waits with the time limit; the first process of the pid namespace prepares the
//! mounts and watches memory and processes; the command itself has given up every right before it is
//! executed. When the first process ends, the kernel kills all others of the namespace: nothing outlives a
//! run.

use std::fs;
use std::io::{self, Error};
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::mount::MountFlags;
use rustix::process::{Pid, Resource, Rlimit, Signal, WaitOptions, WaitStatus};
use rustix::thread::{CapabilitySet, CapabilitySets, UnshareFlags};

use super::kernel::{self, Side};
use super::layout::NEW;
use super::measure::{Machine, SHM_SIZE, limit_pids, usage};
use super::session::Session;
use super::{cgroup, mounts, seccomp};
use crate::command::LimitKind;
use crate::error::SandboxError;
use crate::wire::{self, Reply, Request, RunRequest};

/// How often the first process counts, milliseconds.
const WATCH_MS: i64 = 10;
/// Rights that root's commands keep inside their user namespace: those over files, owners and own processes.
/// To trace is to see one's own processes of other users.
const ROOT_RIGHTS: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::SYS_PTRACE)
    .union(CapabilitySet::NET_BIND_SERVICE);

/// Parts of /proc that no command may write.
const PROC_READ_ONLY: [&str; 5] = ["sys", "sysrq-trigger", "irq", "bus", "fs"];
/// Parts of /proc that show the machine.
const PROC_HIDDEN: [&str; 29] = [
    "acpi",
    "asound",
    "buddyinfo",
    "config.gz",
    "driver",
    "dynamic_debug",
    "fb",
    "iomem",
    "ioports",
    "kallsyms",
    "kcore",
    "keys",
    "key-users",
    "kmsg",
    "kpagecgroup",
    "kpagecount",
    "kpageflags",
    "latency_stats",
    "mtrr",
    "pagetypeinfo",
    "sched_debug",
    "schedstat",
    "scsi",
    "slabinfo",
    "timer_list",
    "timer_stats",
    "vmallocinfo",
    "vmcore",
    "zoneinfo",
];

/// Runs one command and tells the caller how it ended. False when the caller is gone.
pub(super) fn run(session: &Session, request: &RunRequest, fds: Vec<OwnedFd>) -> io::Result<bool> {
    let Ok([stdin, stdout, stderr]) = <[OwnedFd; 3]>::try_from(fds) else {
        return Err(Error::other("a run needs three descriptors"));
    };
    let (ours, theirs) = socket_pair()?;
    let flags =
        libc::CLONE_NEWPID | libc::CLONE_NEWNS | libc::CLONE_NEWIPC | libc::CLONE_NEWUTS | libc::CLONE_NEWNET;
    let pid = match kernel::clone_into(flags) {
        Ok(Side::Child) => {
            drop(ours);
            First { session, request, socket: theirs, in_group: false }.main([stdin, stdout, stderr])
        }
        Ok(Side::Parent(pid)) => pid,
        Err(error) => {
            let error =
                SandboxError::NoNamespace { detail: format!("pid, mount, ipc, uts or network: {error}") };
            wire::send(&session.socket, &Reply::Failed(error), &[])?;
            return Ok(true);
        }
    };
    drop((theirs, stdin, stdout, stderr));

    // The changes lie in memory, and have a limit of their own.
    let memory = request.memory.saturating_add(session.view.disk_limit);
    let group = session.cgroups.as_ref().and_then(|parent| parent.group(pid, memory, request.processes).ok());
    wire::send(&ours, &group.is_some(), &[])?;
    let mut watch = Watch {
        pid,
        deadline: Instant::now() + Duration::from_millis(request.time_ms),
        ended_by: None,
        last: None,
    };
    let caller_is_there = watch.wait(session, &ours)?;
    // Returns when the last process of the namespace is gone.
    let status = rustix::process::waitpid(Pid::from_raw(pid), WaitOptions::empty());
    if !caller_is_there {
        return Ok(false);
    }
    let mut verdict = watch.verdict(group.as_ref(), status.ok().flatten().map(|(_, status)| status));
    if let Reply::Exited { limit: limit @ None, .. } = &mut verdict
        && super::export::is_excessive(&session.view)
    {
        *limit = Some(LimitKind::Files);
    }
    wire::send(&session.socket, &verdict, &[])?;
    Ok(true)
}

/// The helper's side of a run.
struct Watch {
    pid: i32,
    deadline: Instant,
    ended_by: Option<LimitKind>,
    last: Option<Reply>,
}

impl Watch {
    /// Until the first process is gone; false when the caller is.
    fn wait(&mut self, session: &Session, first: &OwnedFd) -> io::Result<bool> {
        let mut caller_is_there = true;
        loop {
            let left = self.deadline.saturating_duration_since(Instant::now());
            if left.is_zero() && self.ended_by.is_none() {
                self.kill(LimitKind::Time);
            }
            let timeout = if self.ended_by.is_some() { None } else { Timespec::try_from(left).ok() };
            let mut polled = [PollFd::new(first, PollFlags::IN), PollFd::new(&session.socket, PollFlags::IN)];
            let watched = if caller_is_there { 2 } else { 1 };
            match poll(polled.get_mut(..watched).unwrap_or_default(), timeout.as_ref()) {
                Err(rustix::io::Errno::INTR) => continue,
                result => result?,
            };
            let [from_first, from_caller] = polled;
            let caller_speaks = caller_is_there && !from_caller.revents().is_empty();
            if !from_first.revents().is_empty() {
                match wire::receive::<Reply>(first) {
                    Ok(Some((Reply::Listening { port }, fds))) => {
                        let fds: Vec<_> = fds.iter().map(AsFd::as_fd).collect();
                        wire::send(&session.socket, &Reply::Listening { port }, &fds)?;
                    }
                    // What came first is the cause.
                    Ok(Some((reply, _))) => {
                        self.last.get_or_insert(reply);
                    }
                    Ok(None) | Err(_) => return Ok(caller_is_there),
                }
            }
            if caller_speaks {
                match wire::receive::<Request>(&session.socket) {
                    Ok(Some((Request::Kill, _))) => self.kill(LimitKind::Canceled),
                    _ => {
                        caller_is_there = false;
                        self.kill(LimitKind::Canceled);
                    }
                }
            }
        }
    }

    fn kill(&mut self, why: LimitKind) {
        self.ended_by.get_or_insert(why);
        if let Some(pid) = Pid::from_raw(self.pid) {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
    }

    fn verdict(self, group: Option<&cgroup::Group>, status: Option<WaitStatus>) -> Reply {
        match self.last {
            Some(Reply::Failed(error)) => Reply::Failed(error),
            Some(Reply::Exited { exit, signal, limit }) => {
                let seen = group.and_then(|group| {
                    if group.out_of_memory() {
                        Some(LimitKind::Memory)
                    } else {
                        group.out_of_processes().then_some(LimitKind::Processes)
                    }
                });
                Reply::Exited { exit, signal, limit: limit.or(seen).or(self.ended_by) }
            }
            _ => {
                if let Some(code) = status.and_then(WaitStatus::exit_status) {
                    let detail = format!("the run's first process ended by itself with exit code {code}");
                    return Reply::Failed(SandboxError::setup("watching the command", detail));
                }
                let memory = group.is_some_and(cgroup::Group::out_of_memory).then_some(LimitKind::Memory);
                let signal = status.and_then(WaitStatus::terminating_signal).or(Some(libc::SIGKILL));
                Reply::Exited { exit: None, signal, limit: self.ended_by.or(memory) }
            }
        }
    }
}

/// Pid 1 of the run.
struct First<'a> {
    session: &'a Session,
    request: &'a RunRequest,
    socket: OwnedFd,
    /// A group bounds memory and processes; the kernel counts there.
    in_group: bool,
}

impl First<'_> {
    fn main(mut self, stdio: [OwnedFd; 3]) -> ! {
        if let Err(error) = self.live(stdio) {
            let _ = wire::send(&self.socket, &Reply::Failed(error), &[]);
        }
        kernel::exit_now(0)
    }

    fn live(&mut self, stdio: [OwnedFd; 3]) -> Result<(), SandboxError> {
        let setup = |step: &'static str| move |error: io::Error| SandboxError::setup(step, error);
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
            .map_err(|error| SandboxError::setup("binding the run to the helper", error))?;
        let Ok(Some((in_group, _))) = wire::receive::<bool>(&self.socket) else {
            return Ok(());
        };
        self.in_group = in_group;
        // After the group was joined, so that the group is the root of what the command can see.
        kernel::unshare(UnshareFlags::NEWCGROUP)
            .map_err(|error| SandboxError::NoNamespace { detail: format!("cgroup: {error}") })?;
        bring_loopback_up().map_err(setup("bringing the loopback up"))?;
        for &port in &self.request.ports {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
                .map_err(setup("listening on the run's loopback"))?;
            wire::send(&self.socket, &Reply::Listening { port }, &[listener.as_fd()])
                .map_err(setup("passing a listening socket"))?;
        }
        self.mount()?;
        // Where it may, the process that counts goes before those that it counts: a fork bomb must not starve
        // it.
        let usual = rustix::process::getpriority_process(None).unwrap_or(0);
        let _ = rustix::process::setpriority_process(None, -20);
        let (command, go) = self.start(stdio, usual)?;
        drop(go);
        self.watch(command).map_err(setup("watching the command"))
    }

    /// What belongs to this pid namespace only, then the final root.
    fn mount(&self) -> Result<(), SandboxError> {
        let new = Path::new(NEW);
        let proc = new.join("proc");
        let quiet = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        // Processes that may not be traced are not there: the first one, which has rights. Before Linux 5.8
        // only the weaker form is known, which the group root passes.
        mounts::mount("proc", &proc, quiet, "hidepid=ptraceable")
            .or_else(|_| mounts::mount("proc", &proc, quiet, "hidepid=2"))
            .map_err(|error| SandboxError::NoProc { detail: error.to_string() })?;
        let more = || -> io::Result<()> {
            self.settings(&proc);
            for name in PROC_READ_ONLY {
                let path = proc.join(name);
                if path.exists() {
                    mounts::bind(&path, &path, false)?;
                    mounts::make_read_only(&path)?;
                }
            }
            for name in PROC_HIDDEN {
                let path = proc.join(name);
                if let Ok(meta) = fs::symlink_metadata(&path) {
                    let mask = if meta.is_dir() { "dir" } else { "file" };
                    mounts::bind(&Path::new(super::layout::EMPTY).join(mask), &path, false)?;
                }
            }
            let writable = MountFlags::NOSUID | MountFlags::NODEV;
            mounts::mount("tmpfs", &new.join("dev/shm"), writable, &format!("mode=1777,size={SHM_SIZE}"))?;
            mounts::mount(
                "devpts",
                &new.join("dev/pts"),
                MountFlags::NOSUID | MountFlags::NOEXEC,
                "newinstance,ptmxmode=0666,mode=0620",
            )?;
            mounts::mount("mqueue", &new.join("dev/mqueue"), quiet, "")?;
            if self.request.read_only {
                for path in self.session.writable_mounts() {
                    mounts::make_read_only(&path)?;
                }
            }
            std::env::set_current_dir(new)?;
            rustix::process::pivot_root(".", ".")?;
            // The old root lies over the new one now; what is on top is taken away.
            mounts::detach(Path::new("."))?;
            std::env::set_current_dir("/")
        };
        more().map_err(|error| SandboxError::setup("mounting for the run", error))
    }

    /// Settings of the run's own namespaces; all others of /proc/sys are the machine's and become read-only.
    fn settings(&self, proc: &Path) {
        // The group's own count says that it refused something; another limit would only come before it.
        if !self.in_group {
            limit_pids(proc, self.request.processes);
        }
        // System V memory belongs to no process. An ordinary user has this right since Linux 5.19.
        let pages = self.request.memory / self.session.page_size;
        let _ = fs::write(proc.join("sys/kernel/shmall"), pages.to_string());
        if self.session.privileged {
            // Root can serve on any port outside, so a fix has to be able to here.
            let _ = fs::write(proc.join("sys/net/ipv4/ip_unprivileged_port_start"), "0");
        }
    }

    /// Starts the command's process and, as root, gives it a user namespace.
    fn start(&self, stdio: [OwnedFd; 3], priority: i32) -> Result<(Pid, OwnedFd), SandboxError> {
        let setup = |error: io::Error| SandboxError::setup("starting the command", error);
        let (ready_read, ready_write) = pipe().map_err(setup)?;
        let (go_read, go_write) = pipe().map_err(setup)?;
        let pid = match kernel::clone_into(0).map_err(setup)? {
            Side::Child => {
                drop((ready_read, go_write));
                let _ = rustix::process::setpriority_process(None, priority);
                Last { first: self }.main(stdio, ready_write, go_read)
            }
            Side::Parent(pid) => pid,
        };
        drop((ready_write, go_read, stdio));
        if self.session.privileged {
            // One byte when the namespace is there; nothing when the command's process failed and said so
            // itself.
            let mut byte = [0u8];
            if rustix::io::read(&ready_read, &mut byte).is_ok_and(|count| count == 1) {
                write_maps(pid).map_err(setup)?;
                rustix::io::write(&go_write, &byte).map_err(|error| setup(error.into()))?;
            }
        }
        let pid = Pid::from_raw(pid).ok_or_else(|| setup(Error::other("no pid")))?;
        Ok((pid, go_write))
    }

    /// Waits for the command, buries orphans, counts memory and processes.
    fn watch(&self, command: Pid) -> io::Result<()> {
        let handle = rustix::process::pidfd_open(command, rustix::process::PidfdFlags::empty())?;
        let tick = Timespec { tv_sec: 0, tv_nsec: WATCH_MS * 1_000_000 };
        let mut limit = None;
        let mut machine = Machine::now();
        loop {
            let mut polled = [PollFd::new(&handle, PollFlags::IN)];
            match poll(&mut polled, Some(&tick)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
                if pid == command {
                    let reply = Reply::Exited {
                        exit: status.exit_status(),
                        signal: status.terminating_signal(),
                        limit,
                    };
                    return wire::send(&self.socket, &reply, &[]);
                }
            }
            if self.in_group {
                continue;
            }
            let (memory, processes) = usage();
            if processes >= u64::from(self.request.processes) {
                limit = Some(LimitKind::Processes);
            }
            let hidden =
                machine.is_exhausted(self.request.memory.saturating_add(self.session.view.disk_limit));
            let over = if memory > self.request.memory || hidden {
                Some(LimitKind::Memory)
            } else {
                (processes > u64::from(self.request.processes)).then_some(LimitKind::Processes)
            };
            if over.is_some() {
                let reply = Reply::Exited { exit: None, signal: Some(libc::SIGKILL), limit: over };
                return wire::send(&self.socket, &reply, &[]);
            }
        }
    }
}

/// The command's own process, until it is executed.
struct Last<'a> {
    first: &'a First<'a>,
}

impl Last<'_> {
    fn main(self, stdio: [OwnedFd; 3], ready: OwnedFd, go: OwnedFd) -> ! {
        let error = match self.give_up_rights(ready, go) {
            Ok(()) => self.execute(stdio),
            Err(error) => error,
        };
        let _ = wire::send(&self.first.socket, &Reply::Failed(error), &[]);
        kernel::exit_now(125)
    }

    fn give_up_rights(&self, ready: OwnedFd, go: OwnedFd) -> Result<(), SandboxError> {
        let setup = |step: &'static str| move |error: rustix::io::Errno| SandboxError::setup(step, error);
        let request = self.first.request;
        let privileged = self.first.session.privileged;
        if privileged {
            kernel::unshare(UnshareFlags::NEWUSER)
                .map_err(|error| SandboxError::NoUserNamespace { detail: error.to_string() })?;
            rustix::io::write(&ready, &[1]).map_err(setup("asking for the maps"))?;
            let mut byte = [0u8];
            if rustix::io::read(&go, &mut byte).map_err(setup("waiting for the maps"))? != 1 {
                return Err(SandboxError::setup("writing the maps", "no answer"));
            }
        }
        // No controlling terminal: nothing can be typed into the user's shell.
        rustix::process::setsid().map_err(setup("leaving the session"))?;
        let limit = |resource: Resource, value: u64| {
            let value = Some(value);
            rustix::process::setrlimit(resource, Rlimit { current: value, maximum: value })
        };
        // With 1 the kernel starts no helper for core files either: with 0 a pipe in core_pattern would hand
        // memory of the command to a program of the host, which keeps it.
        limit(Resource::Core, 1).map_err(setup("limiting core files"))?;
        limit(Resource::Fsize, request.file_size).map_err(setup("limiting file sizes"))?;
        let most = rustix::process::getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX);
        limit(Resource::Nofile, request.open_files.min(most)).map_err(setup("limiting descriptors"))?;
        // Counted in the user namespace, so the user's other processes do not matter. The helper and the
        // first process count too. The machine's root alone is exempt from it; a container's root is not.
        if !self.first.in_group {
            let most = rustix::process::getrlimit(Resource::Nproc).maximum.unwrap_or(u64::MAX);
            let value = u64::from(request.processes).saturating_add(2).min(most);
            limit(Resource::Nproc, value).map_err(setup("limiting processes"))?;
        }
        let keep = if privileged { ROOT_RIGHTS } else { CapabilitySet::empty() };
        drop_capabilities(keep).map_err(setup("dropping capabilities"))?;
        rustix::thread::set_no_new_privs(true).map_err(setup("setting no_new_privs"))?;
        seccomp::install(&self.first.session.filter)
            .map_err(|error| SandboxError::NoSeccomp { detail: error.to_string() })
    }

    /// Returns only if that fails before the program is looked for.
    fn execute(&self, stdio: [OwnedFd; 3]) -> SandboxError {
        let request = self.first.request;
        let cwd = request.cwd.path();
        if let Err(error) = std::env::set_current_dir(&cwd) {
            return SandboxError::BadDirectory { path: crate::error::show(&cwd), detail: error.to_string() };
        }
        let Some((program, arguments)) = request.argv.split_first() else {
            return SandboxError::BadCommand { detail: "it is empty".to_owned() };
        };
        if let Err(error) = kernel::close_from_at_exec(3) {
            return SandboxError::setup("closing descriptors", error);
        }
        let [mut stdin, stdout, stderr] = stdio;
        if request.no_input {
            // That of the caller is the host's: root's commands could change its mode and owner.
            match fs::File::open("/dev/null") {
                Ok(null) => stdin = null.into(),
                Err(error) => return SandboxError::setup("opening /dev/null", error),
            }
        }
        let message = stderr.try_clone();
        let mut command = std::process::Command::new(program.os());
        command.args(arguments.iter().map(crate::raw::Raw::os)).env_clear();
        command.envs(request.env.iter().map(|(name, value)| (name.os(), value.os())));
        command.env("PWD", &cwd);
        command.stdin(Stdio::from(stdin)).stdout(Stdio::from(stdout)).stderr(Stdio::from(stderr));
        let error = command.exec();
        // As a shell says it, with a shell's exit codes.
        let code = if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 };
        if let Ok(message) = message {
            let text = format!("{}: {error}\n", crate::error::show(Path::new(&program.os())));
            let _ = rustix::io::write(&message, text.as_bytes());
        }
        kernel::exit_now(code)
    }
}

/// Nothing is left in any set but what is to be kept; the bounding set keeps exec from adding to it.
fn drop_capabilities(keep: CapabilitySet) -> rustix::io::Result<()> {
    rustix::thread::clear_ambient_capability_set()?;
    for number in 0..64u32 {
        let one = CapabilitySet::from_bits_retain(1 << number);
        if !keep.contains(one) {
            match rustix::thread::remove_capability_from_bounding_set(one) {
                // Past the last one that this kernel knows.
                Ok(()) | Err(rustix::io::Errno::INVAL) => {}
                Err(error) => return Err(error),
            }
        }
    }
    let sets = CapabilitySets { effective: keep, permitted: keep, inheritable: CapabilitySet::empty() };
    rustix::thread::set_capabilities(None, sets)
}

/// Maps every user and group that this namespace knows to itself: files keep their owners.
fn write_maps(pid: i32) -> io::Result<()> {
    for kind in ["uid_map", "gid_map"] {
        let own = fs::read_to_string(format!("/proc/self/{kind}"))?;
        let same: Vec<String> = own
            .lines()
            .filter_map(|line| {
                let mut fields = line.split_whitespace();
                let (inside, _, count) = (fields.next()?, fields.next()?, fields.next()?);
                Some(format!("{inside} {inside} {count}\n"))
            })
            .collect();
        fs::write(format!("/proc/{pid}/{kind}"), same.concat())?;
    }
    Ok(())
}

/// Sets the loopback of this network namespace up: one netlink message, interface 1.
fn bring_loopback_up() -> io::Result<()> {
    use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};
    const RTM_NEWLINK: u16 = 16;
    const REQUEST_AND_ACK: u16 = 5;
    // No protocol is number 0, which is NETLINK_ROUTE.
    let socket =
        rustix::net::socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    let mut message = Vec::with_capacity(32);
    message.extend_from_slice(&32u32.to_ne_bytes());
    message.extend_from_slice(&RTM_NEWLINK.to_ne_bytes());
    message.extend_from_slice(&REQUEST_AND_ACK.to_ne_bytes());
    message.extend_from_slice(&[0; 8]); // sequence, port
    message.extend_from_slice(&[0; 4]); // family, padding, type
    message.extend_from_slice(&1i32.to_ne_bytes());
    message.extend_from_slice(&1u32.to_ne_bytes()); // IFF_UP
    message.extend_from_slice(&1u32.to_ne_bytes()); // which flags to change
    rustix::net::send(&socket, &message, SendFlags::empty())?;
    let mut answer = [0u8; 256];
    let (_, length) = rustix::net::recv(&socket, &mut answer, RecvFlags::empty())?;
    let code = answer.get(16..20).filter(|_| length >= 20).and_then(|bytes| bytes.try_into().ok());
    match code.map(i32::from_ne_bytes) {
        Some(0) => Ok(()),
        Some(error) => Err(Error::from_raw_os_error(error.saturating_neg())),
        None => Err(Error::other("a short answer")),
    }
}

fn socket_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
    socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).map_err(Into::into)
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).map_err(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[allow(clippy::zombie_processes, reason = "waitpid takes the status, as for a run's first process")]
    fn verdict(line: &str) -> Reply {
        let child = std::process::Command::new("sh").args(["-c", line]).spawn().unwrap();
        let pid = Pid::from_child(&child);
        let (_, status) = rustix::process::waitpid(Some(pid), WaitOptions::empty()).unwrap().unwrap();
        let watch = Watch { pid: 0, deadline: Instant::now(), ended_by: None, last: None };
        watch.verdict(None, Some(status))
    }

    #[test]
    fn a_first_process_that_ends_without_an_answer_is_no_command_that_was_killed() {
        let Reply::Failed(error) = verdict("exit 101") else { panic!("a fault of the sandbox") };
        assert!(error.to_string().contains("exit code 101"), "{error}");
        let killed = Reply::Exited { exit: None, signal: Some(9), limit: None };
        assert_eq!(format!("{:?}", verdict("kill -KILL $$")), format!("{killed:?}"));
    }
}
