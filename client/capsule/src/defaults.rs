//! Every limit of the capsule.

/// How often the watcher looks whether an agent runs, seconds.
pub const TICK_S: u64 = 600;
/// How often it looks for signals, seconds.
pub const POLL_S: u64 = 1;
/// A generation that has not written SUCCESS after this is ended, seconds.
pub const SUCCESS_S: u64 = 120;
/// A generation that was asked to make room is ended after this, seconds.
pub const LEAVE_S: u64 = 10;
/// First pause between failures, and the longest, seconds.
pub const BACK_OFF_S: (u64, u64) = (5, 300);
/// Failures are forgotten after this time of health, seconds.
pub const HEALTHY_S: u64 = 300;
/// Use of one processor that counts as runaway, in thousandths, and for how long, seconds.
pub const RUNAWAY: (u32, u64) = (950, 600);
/// Size of a generation's log that is cut, bytes.
pub const LOG_MAX: u64 = 64 << 20;
/// A log that is too large again within this ends its generation, seconds.
pub const LOG_AGAIN_S: u64 = 600;
/// The most that one observation moves the machine's clock, milliseconds: a jump of the clock, or a machine that slept,
/// lets no time run out.
pub const STEP_MAX_MS: u64 = 10_000;

/// Largest signal file, bytes.
pub const SIGNAL_MAX: u64 = 256;
/// Longest branch name, bytes.
pub const BRANCH_MAX: usize = 100;

/// One push, bytes.
pub const PUSH_MAX: u64 = 64 << 20;
/// One repository, bytes.
pub const REPOSITORY_MAX: u64 = 1 << 30;
/// Pushes in an hour.
pub const PUSHES_AN_HOUR: usize = 60;
/// Commits in a push whose COMMS.md is looked at.
pub const COMMITS_MAX: usize = 5_000;
/// Largest COMMS.md, bytes.
pub const COMMS_MAX: u64 = 1 << 20;
/// Connections to a broker at the same time.
pub const CONNECTIONS_MAX: usize = 16;
/// A silent or endless git connection is ended after this, seconds.
pub const GIT_S: u64 = 600;

/// Tokens of a capsule's model.
pub const TOKENS: u64 = 1_000_000;
/// Time of a session with the model, seconds.
pub const SESSION_S: u64 = 3_600;
/// Requests to the model in a minute.
pub const SENDS_A_MINUTE: usize = 10;

/// Ports on the capsule's own loopback: git, models, packages.
pub const PORTS: [u16; 3] = [9418, 8080, 3128];
/// Name of the agent's folder within a branch's.
pub const WORK: &str = "minifram";
