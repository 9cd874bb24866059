//! Limits by cgroup v2. Where no groups can be made these are skipped, with the reason; `scripts/cgroup-v2` has a
//! machine where they can.

use std::fs;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use zx1_sandbox::{Command, LimitKind, Limits, Outcome, Sandbox};

use crate::attacker::ARGUMENT;
use crate::jail::{ATTACKER, USER};
use crate::scenarios;
use crate::world::{TREE, Who, attack, good, has_one_user, limits, sandbox};

scenarios! {
    contained:
        limits_are_by_groups
        a_run_has_a_group_with_all_limits_and_leaves_none
        a_killed_helper_leaves_no_group_to_its_caller
        who_starts_next_removes_what_is_left_of_the_dead_with_its_processes
        groups_of_the_living_and_of_others_stay
        every_kind_of_memory_counts
        refused_processes_are_the_verdict
        files_within_the_disk_limit_are_no_memory
        limits_beyond_what_the_kernel_can_count_are_kept
        a_group_is_out_of_its_commands_reach
        a_name_that_is_taken_lifts_no_limit
        without_a_group_the_run_is_watched;
    changing: ;
}

/// Names the jail's own group to the scenarios.
const DELEGATED: &str = "ZX1_TEST_GROUP";
/// Where the kernel's groups are, here and in the jail.
pub(crate) const TOP: &str = "/sys/fs/cgroup";

/// Why groups cannot be made here, if so.
pub(crate) fn why_not() -> Option<String> {
    static REASON: OnceLock<Option<String>> = OnceLock::new();
    REASON.get_or_init(|| parent().err()).clone()
}

/// The nearest group of this process's own below which others can have limits.
fn parent() -> Result<PathBuf, String> {
    if !Path::new(TOP).join("cgroup.controllers").exists() {
        return Err(format!("{TOP} is not cgroup v2"));
    }
    let own = fs::read_to_string("/proc/self/cgroup").map_err(|error| error.to_string())?;
    let own = own.lines().find_map(|line| line.strip_prefix("0::/")).ok_or("no group of cgroup v2")?;
    let own = Path::new(TOP).join(own);
    for path in own.ancestors().take_while(|path| path.starts_with(TOP)) {
        let controllers = fs::read_to_string(path.join("cgroup.subtree_control")).unwrap_or_default();
        let has = |name: &str| controllers.split_whitespace().any(|controller| controller == name);
        let probe = path.join(format!("zx1-probe-{}", std::process::id()));
        if has("memory") && has("pids") && fs::create_dir(&probe).is_ok() {
            fs::remove_dir(&probe).map_err(|error| error.to_string())?;
            return Ok(path.to_owned());
        }
    }
    Err(format!(
        "{} is below no group with the controllers memory and pids that this user may use",
        own.display()
    ))
}

/// A group for one jail, as a login manager delegates it; its processes live in a leaf of it.
pub(crate) struct Delegated {
    path: PathBuf,
}

impl Delegated {
    pub(crate) fn new(who: Who, real_root: bool) -> Option<Self> {
        let path = parent().ok()?.join(format!("zx1-jail-{}", std::process::id()));
        fs::create_dir(&path).unwrap();
        fs::write(path.join("cgroup.subtree_control"), "+memory +pids").unwrap();
        fs::create_dir(path.join("leaf")).unwrap();
        if who == Who::User && real_root {
            for group in [path.clone(), path.join("leaf")] {
                let files = [
                    "",
                    "cgroup.procs",
                    "cgroup.threads",
                    "cgroup.subtree_control",
                    "cgroup.max.descendants",
                ];
                for file in files {
                    chown(group.join(file), Some(USER), Some(USER)).unwrap();
                }
            }
        }
        Some(Self { path })
    }

    /// Makes the scenario's process part of it.
    pub(crate) fn enter(&self, child: &mut std::process::Command) {
        use std::os::unix::process::CommandExt;
        child.env(DELEGATED, &self.path);
        let file = self.path.join("leaf/cgroup.procs");
        // SAFETY: one file is opened and written between fork and exec; the parent has one thread.
        unsafe { child.pre_exec(move || fs::write(&file, "0")) };
    }

    /// Groups that were left behind.
    pub(crate) fn left(&self) -> Vec<String> {
        groups_in(&self.path)
    }
}

impl Drop for Delegated {
    fn drop(&mut self) {
        for name in groups_in(&self.path).into_iter().chain(["leaf".to_owned()]) {
            let _ = fs::remove_dir(self.path.join(name));
        }
        let _ = fs::remove_dir(&self.path);
    }
}

fn groups_in(parent: &Path) -> Vec<String> {
    let entries = fs::read_dir(parent).unwrap().flatten().filter(|entry| entry.path().is_dir());
    let names = entries.map(|entry| entry.file_name().into_string().unwrap());
    names.filter(|name| name != "leaf").collect()
}

fn own() -> PathBuf {
    PathBuf::from(std::env::var_os(DELEGATED).expect("the jail has a group"))
}

/// Groups of running commands, and of what was left behind.
fn groups() -> Vec<String> {
    groups_in(&own())
}

fn is_populated(group: &Path) -> bool {
    fs::read_to_string(group.join("cgroup.events")).is_ok_and(|text| text.contains("populated 1"))
}

/// Values of the only group with processes while a command runs, for some of its files.
fn during_a_run<const N: usize>(limits: &Limits, files: [&str; N]) -> [String; N] {
    during_a_run_of(&mut sandbox(), limits, files)
}

fn during_a_run_of<const N: usize>(sandbox: &mut Sandbox, limits: &Limits, files: [&str; N]) -> [String; N] {
    let mut seen = None;
    let canceller = sandbox.canceller();
    let outcome = sandbox
        .run_with(&Command::shell("echo started; sleep 60"), limits, |_, _| {
            let populated = groups().into_iter().map(|name| own().join(name)).find(|path| is_populated(path));
            seen = populated.map(|path| {
                files.map(|file| {
                    fs::read_to_string(path.join(file))
                        .map_or("none".to_owned(), |text| text.trim().to_owned())
                })
            });
            canceller.cancel();
        })
        .unwrap();
    assert_eq!(outcome.limit_hit, Some(LimitKind::Canceled), "{outcome:?}");
    seen.expect("the run is in a group")
}

fn limits_are_by_groups(_: Who) {
    assert_eq!(sandbox().info().limits_by, "cgroup v2");
}

fn a_run_has_a_group_with_all_limits_and_leaves_none(_: Who) {
    let [memory, swap, together, processes] =
        during_a_run(&limits(), ["memory.max", "memory.swap.max", "memory.oom.group", "pids.max"]);
    // The changes lie in memory too, up to the limit of the disk.
    assert_eq!(memory, ((512u64 << 20) + (64 << 20)).to_string());
    assert!(swap == "0" || swap == "none", "{swap}");
    assert_eq!(together, "1");
    assert_eq!(processes, "65", "the run's first process and 64 of the command");
    assert_eq!(groups(), Vec::<String>::new());
}

/// A sandbox whose helper was killed while a command ran.
fn with_killed_helper() -> Sandbox {
    let mut killed = sandbox();
    let outcome = killed.run_with(&Command::shell("echo started; sleep 60"), &limits(), |_, _| {
        let helper = helper().expect("the helper runs");
        rustix::process::kill_process(helper, rustix::process::Signal::KILL).unwrap();
    });
    assert_eq!(outcome.unwrap_err().code(), 9209);
    killed
}

fn a_killed_helper_leaves_no_group_to_its_caller(_: Who) {
    let killed = with_killed_helper();
    assert_eq!(groups().len(), 1, "nobody was there to remove it");
    drop(killed);
    assert_eq!(groups(), Vec::<String>::new());
}

fn who_starts_next_removes_what_is_left_of_the_dead_with_its_processes(_: Who) {
    // As if the caller had been killed too.
    std::mem::forget(with_killed_helper());
    assert_eq!(groups().len(), 1, "nobody was there to remove it");
    // The kernel ends a run with its helper; should a process be left all the same, nothing else would end it.
    let mut left = process_in("zx1-sandbox-1-0");
    let mut next = sandbox();
    assert_eq!(groups(), Vec::<String>::new());
    let status = left.wait().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(9), "{status}");
    good(&mut next, "true");
}

fn groups_of_the_living_and_of_others_stay(_: Who) {
    let others =
        ["zx1-sandbox", "zx1-sandbox-", "zx1-sandbox-1", "zx1-sandbox-1-0-0", "zx1-sandbox-1-x", "other-1-0"];
    let mut processes = others.map(process_in);
    let mut seen = None;
    let outcome = sandbox()
        .run_with(&Command::shell("echo started; sleep 3; echo done"), &limits(), |_, _| {
            seen.get_or_insert_with(|| {
                let before = groups();
                good(&mut sandbox(), "true");
                (before, groups())
            });
        })
        .unwrap();
    assert!(outcome.success() && outcome.stdout.text().ends_with("done\n"), "{outcome:?}");
    let (before, after) = seen.unwrap();
    assert_eq!((before.len(), &before), (others.len() + 1, &after));
    for (name, process) in others.iter().zip(&mut processes) {
        assert!(process.try_wait().unwrap().is_none(), "{name}");
        process.kill().unwrap();
        process.wait().unwrap();
        fs::remove_dir(own().join(name)).unwrap();
    }
}

/// A process of nobody's run, in a new group of this name.
fn process_in(name: &str) -> std::process::Child {
    let group = own().join(name);
    fs::create_dir(&group).unwrap();
    let child = std::process::Command::new("sleep").arg("100").spawn().unwrap();
    fs::write(group.join("cgroup.procs"), child.id().to_string()).unwrap();
    child
}

/// The helper of the only sandbox of this jail.
fn helper() -> Option<rustix::process::Pid> {
    fs::read_dir("/proc").unwrap().flatten().find_map(|entry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        let is_helper = String::from_utf8_lossy(&line).contains("zx1-sandbox-helper");
        // The run's own processes have the same command line until they execute the command.
        let parent = fs::read_to_string(entry.path().join("stat")).ok()?;
        let parent = parent.rsplit(") ").next()?.split(' ').nth(1)?.parse::<u32>().ok()?;
        (is_helper && parent == std::process::id()).then(|| rustix::process::Pid::from_raw(pid)).flatten()
    })
}

fn attempt(what: &str, limits: &Limits) -> Outcome {
    let mut sandbox = Sandbox::builder().work_tree(TREE).disk_limit(16 << 20).build().unwrap();
    sandbox.run(&Command::argv([ATTACKER, ARGUMENT, what]), limits).unwrap()
}

fn every_kind_of_memory_counts(_: Who) {
    let small = Limits { memory: 32 << 20, ..limits() };
    for what in [
        "own-memory",
        "hidden-memory",
        "unmapped-shared-memory",
        "files-in-shared-memory",
        "full-pipes",
        "full-sockets",
    ] {
        let outcome = attempt(what, &small);
        // The kernel may refuse so large a segment of System V at once.
        let refused = what == "hidden-memory" && outcome.stdout.text().ends_with(": 0 MiB\n");
        assert!(outcome.limit_hit == Some(LimitKind::Memory) || refused, "{what}: {outcome:?}");
        assert!(!outcome.stdout.text().contains("OPEN"), "{what}: {outcome:?}");
        assert_eq!(groups(), Vec::<String>::new(), "{what}");
    }
}

fn refused_processes_are_the_verdict(_: Who) {
    for (processes, most) in [(64, 63), (400, 399)] {
        let outcome = attempt("forks", &Limits { processes, ..limits() });
        assert_eq!(outcome.limit_hit, Some(LimitKind::Processes), "{outcome:?}");
        // The attacker itself is one of them.
        assert_eq!(outcome.stdout.text(), format!("held forks: {most}\n"));
    }
}

fn files_within_the_disk_limit_are_no_memory(_: Who) {
    let small = Limits { memory: 32 << 20, ..limits() };
    let outcome = sandbox().run(&Command::shell("head -c 60M /dev/zero > big && echo done"), &small).unwrap();
    assert!(outcome.success(), "{outcome:?}");
}

fn limits_beyond_what_the_kernel_can_count_are_kept(_: Who) {
    let large = Limits { memory: u64::MAX, processes: u32::MAX, ..limits() };
    let [memory] = during_a_run(&large, ["memory.max"]);
    assert_eq!(memory, "max");
}

fn a_group_is_out_of_its_commands_reach(_: Who) {
    attack(&mut sandbox(), "groups");
}

fn a_name_that_is_taken_lifts_no_limit(_: Who) {
    let mut sandbox = sandbox();
    // Another machine in a namespace of its own counts its processes from 1 too.
    let helper = helper().unwrap().as_raw_nonzero().get();
    for number in 0..200 {
        fs::create_dir(own().join(format!("zx1-sandbox-{helper}-{number}"))).unwrap();
    }
    let [processes] = during_a_run_of(&mut sandbox, &limits(), ["pids.max"]);
    assert_eq!(processes, "65");
    for name in groups() {
        fs::remove_dir(own().join(name)).unwrap();
    }
}

fn without_a_group_the_run_is_watched(who: Who) {
    let mut before = sandbox();
    // The kernel refuses every other group here from now on.
    fs::write(own().join("cgroup.max.descendants"), "1").unwrap();
    let after = sandbox();
    // The group above the jail's belongs to whoever made the jail; in a jail of root that is not the user.
    let above = if who == Who::Root || has_one_user() { "cgroup v2" } else { "rlimits and watching" };
    assert_eq!(after.info().limits_by, above);
    for sandbox in [&mut before, &mut { after }] {
        let small = Limits { memory: 64 << 20, ..limits() };
        let outcome = sandbox.run(&Command::argv([ATTACKER, ARGUMENT, "own-memory"]), &small).unwrap();
        assert_eq!(outcome.limit_hit, Some(LimitKind::Memory), "{outcome:?}");
        assert!(!outcome.stdout.text().contains("OPEN"), "{outcome:?}");
    }
}
