//! The filter of system calls: what a build tool never needs and an attack on the kernel or the host does.
//!
//! A list of refusals, not of permissions: any tool of any language has to work. Refused calls fail with
//! EPERM. Some fail with ENOSYS as on an old kernel, so that programs go another way: `clone3`, because its
//! flags lie in memory that a filter cannot read, where C libraries then use `clone`; `memfd_create`, because
//! files in memory without a name escape the limits of the disk and, without cgroups, of memory. Other
//! architectures' calls (32-bit, x32) kill the process or fail: they would be another set of numbers.

use std::collections::BTreeMap;
use std::io::{Error, Result};

use libc as c;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Len, SeccompCmpOp as Op, SeccompCondition as Condition,
    SeccompFilter, SeccompRule as Rule, TargetArch,
};

/// Refused whatever the arguments.
const REFUSED: &[c::c_long] = &[
    // Mounts and roots: the view is final.
    c::SYS_mount,
    c::SYS_umount2,
    c::SYS_pivot_root,
    c::SYS_chroot,
    c::SYS_move_mount,
    c::SYS_open_tree,
    c::SYS_fsopen,
    c::SYS_fsconfig,
    c::SYS_fsmount,
    c::SYS_fspick,
    c::SYS_mount_setattr,
    SYS_OPEN_TREE_ATTR,
    c::SYS_swapon,
    c::SYS_swapoff,
    c::SYS_quotactl,
    c::SYS_quotactl_fd,
    // Files by handle pass over the view; fanotify sees whole mounts.
    c::SYS_open_by_handle_at,
    c::SYS_fanotify_init,
    // Namespaces of others.
    c::SYS_setns,
    // The kernel's key rings are not in any namespace.
    c::SYS_keyctl,
    c::SYS_add_key,
    c::SYS_request_key,
    // The kernel's large and often attacked interfaces.
    c::SYS_bpf,
    c::SYS_userfaultfd,
    c::SYS_perf_event_open,
    c::SYS_io_uring_setup,
    c::SYS_io_uring_enter,
    c::SYS_io_uring_register,
    // The machine itself.
    c::SYS_kexec_load,
    #[cfg(target_arch = "x86_64")]
    c::SYS_kexec_file_load,
    c::SYS_init_module,
    c::SYS_finit_module,
    c::SYS_delete_module,
    c::SYS_reboot,
    c::SYS_acct,
    c::SYS_syslog,
    c::SYS_settimeofday,
    c::SYS_clock_settime,
    c::SYS_clock_adjtime,
    c::SYS_adjtimex,
    c::SYS_sethostname,
    c::SYS_setdomainname,
    c::SYS_vhangup,
    c::SYS_lookup_dcookie,
    c::SYS_nfsservctl,
    #[cfg(target_arch = "x86_64")]
    c::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    c::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    c::SYS_modify_ldt,
    // Memory and descriptors of processes by number.
    c::SYS_kcmp,
    c::SYS_pidfd_getfd,
    c::SYS_move_pages,
    c::SYS_migrate_pages,
];

/// Linux 6.15; the same number on every architecture.
const SYS_OPEN_TREE_ATTR: c::c_long = 467;

/// All flags that make a namespace.
const NAMESPACES: [c::c_int; 8] = [
    c::CLONE_NEWUSER,
    c::CLONE_NEWNS,
    c::CLONE_NEWPID,
    c::CLONE_NEWIPC,
    c::CLONE_NEWUTS,
    c::CLONE_NEWNET,
    c::CLONE_NEWCGROUP,
    0x80, // CLONE_NEWTIME, only in unshare: in clone these bits are the signal
];

/// Kinds of socket that stay: local ones, IP (its own network namespace) and questions about that namespace.
/// Others, vsock first of all, are not in a network namespace or are rarely used and often attacked.
const SOCKETS: [c::c_int; 4] = [c::AF_UNIX, c::AF_INET, c::AF_INET6, c::AF_NETLINK];

/// The programs in the order in which they are installed.
pub(super) fn programs() -> Result<Vec<BpfProgram>> {
    let mut rules: BTreeMap<i64, Vec<Rule>> = REFUSED.iter().map(|call| (*call, Vec::new())).collect();

    let bit = |arg: u8, bit: c::c_int| condition(arg, Op::MaskedEq(bits(bit)), bits(bit));
    for flag in NAMESPACES {
        rules.entry(c::SYS_unshare).or_default().push(rule(vec![bit(0, flag)?])?);
        if flag != 0x80 {
            rules.entry(c::SYS_clone).or_default().push(rule(vec![bit(0, flag)?])?);
        }
    }

    let not: Vec<Condition> =
        SOCKETS.iter().map(|kind| condition(0, Op::Ne, bits(*kind))).collect::<Result<_>>()?;
    rules.insert(c::SYS_socket, vec![rule(not)?]);
    // AF_UNIX alone makes pairs; others that could are refused by the kernel.

    // Typing into the terminal of the user.
    for request in [c::TIOCSTI, c::TIOCLINUX] {
        rules.entry(c::SYS_ioctl).or_default().push(rule(vec![condition(1, Op::Eq, request)?])?);
    }

    // Device nodes. Without the capability these fail anyway; a character device 0:0 would not.
    for kind in [c::S_IFCHR, c::S_IFBLK] {
        let masked = Op::MaskedEq(u64::from(c::S_IFMT));
        rules.entry(c::SYS_mknodat).or_default().push(rule(vec![condition(
            2,
            masked.clone(),
            u64::from(kind),
        )?])?);
        #[cfg(target_arch = "x86_64")]
        rules.entry(c::SYS_mknod).or_default().push(rule(vec![condition(1, masked, u64::from(kind))?])?);
    }

    // Netlink speaks with many parts of the kernel; programs need only the one that lists interfaces and
    // routes.
    rules.entry(c::SYS_socket).or_default().push(rule(vec![
        condition(0, Op::Eq, bits(c::AF_NETLINK))?,
        condition(2, Op::Ne, bits(c::NETLINK_ROUTE))?,
    ])?);

    let refuse = compile(rules, c::EPERM)?;
    let missing = [c::SYS_clone3, c::SYS_memfd_create, c::SYS_memfd_secret];
    let missing = compile(missing.map(|call| (call, Vec::new())).into(), c::ENOSYS)?;
    Ok(vec![with_x32_refused(refuse), missing])
}

/// Installs the programs for this process and all its children. Sets no_new_privs too.
pub(super) fn install(programs: &[BpfProgram]) -> Result<()> {
    programs.iter().try_for_each(|program| seccompiler::apply_filter(program).map_err(Error::other))
}

fn compile(rules: BTreeMap<i64, Vec<Rule>>, errno: c::c_int) -> Result<BpfProgram> {
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(Error::other)?;
    let errno = u32::try_from(errno).map_err(Error::other)?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(errno), arch)
        .map_err(Error::other)?;
    BpfProgram::try_from(filter).map_err(Error::other)
}

fn rule(conditions: Vec<Condition>) -> Result<Rule> {
    Rule::new(conditions).map_err(Error::other)
}

/// The kernel reads these arguments as 32 bits, so the upper half must not matter.
fn condition(arg: u8, operator: Op, value: u64) -> Result<Condition> {
    Condition::new(arg, Len::Dword, operator, value).map_err(Error::other)
}

fn bits(value: c::c_int) -> u64 {
    u64::from(value.cast_unsigned())
}

/// x32 calls have the architecture of 64-bit ones and other numbers, from 0x4000_0000 on.
#[cfg(target_arch = "x86_64")]
fn with_x32_refused(program: BpfProgram) -> BpfProgram {
    use seccompiler::sock_filter;
    const LOAD_NUMBER: u16 = 0x20; // BPF_LD | BPF_W | BPF_ABS, offset 0 is the number
    const JUMP_IF_GREATER_OR_EQUAL: u16 = 0x35; // BPF_JMP | BPF_JGE | BPF_K
    const RETURN: u16 = 0x06; // BPF_RET | BPF_K
    const ERRNO: u32 = 0x0005_0000;
    let mut whole = vec![
        sock_filter { code: LOAD_NUMBER, jt: 0, jf: 0, k: 0 },
        sock_filter { code: JUMP_IF_GREATER_OR_EQUAL, jt: 0, jf: 1, k: 0x4000_0000 },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: ERRNO | bits(c::ENOSYS) as u32 },
    ];
    whole.extend(program);
    whole
}

#[cfg(not(target_arch = "x86_64"))]
fn with_x32_refused(program: BpfProgram) -> BpfProgram {
    program
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_filter_compiles_ok() {
        let programs = super::programs().unwrap();
        assert_eq!(programs.len(), 2);
        assert!(programs.iter().all(|program| program.len() < 4096));
    }
}
