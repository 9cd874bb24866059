//! Every default and bound of the market, one line each.

use nano_escrow::Raw;

use crate::Millis;

/// 0.001 XNO in raw.
const MILLI_XNO: u128 = Raw::XNO.0 / 1000;

// Money (fix.md, "Escrow" and "Economics").

/// The dispute insurance of each side: the sum of the three courts' fees, 0.17 XNO.
pub const JUDGE_FEE: Raw = Raw(170 * MILLI_XNO);
/// The fees of the district, appeals and supreme court: 0.02, 0.05, 0.10 XNO.
pub const COURT_FEES: [Raw; 3] = [Raw(20 * MILLI_XNO), Raw(50 * MILLI_XNO), Raw(100 * MILLI_XNO)];
/// The smallest bounty: 0.19 XNO.
pub const MIN_BOUNTY: Raw = Raw(190 * MILLI_XNO);
/// The largest bounty: 100 XNO.
pub const MAX_BOUNTY: Raw = Raw(100_000 * MILLI_XNO);
/// The platform's share of the bounty, in hundredths of a percent: 10 %.
pub const PLATFORM_FEE_BP: u32 = 1_000;
/// The least that the platform takes: 0.002 XNO.
pub const PLATFORM_FEE_MIN: Raw = Raw(2 * MILLI_XNO);
/// What leaving after the grace period costs, in hundredths of a percent of the bounty: 20 %, half to each.
pub const CANCEL_FEE_BP: u32 = 2_000;
/// Where forfeited bounties go: the Green Mountain State Wolfdog Refuge.
pub const CHARITY: &str = "nano_1q3hsjq6tmj1tne66rymctadqbi8ijtak7x1fr5dkmesnkdrqxnoojttcgok";
/// The models of the three courts (fix.md, "Courts"); a server's configuration may name
/// others.
pub const COURT_MODELS: [&str; 3] = ["GLM-4 Plus", "Claude Sonnet", "Claude Opus"];

// Windows (decision E12).

/// An open contract that nobody takes is canceled after this.
pub const OPEN_WINDOW: Millis = Millis::secs(30);
/// A bond reserves a contract for this long, until its deposit is confirmed (decision E8).
pub const RESERVATION_WINDOW: Millis = Millis::secs(30);
/// A contract whose principal does not pay expires after this (decision E8).
pub const UNFUNDED_WINDOW: Millis = Millis::secs(600);
/// An agent that neither accepts nor declines within this time counts as declining.
pub const INVESTIGATION_WINDOW: Millis = Millis::secs(180);
/// Either side may leave for free for this long after the acceptance, or until the first fix (decision E4).
pub const GRACE_WINDOW: Millis = Millis::secs(30);
/// After this long without a `verify` the agent may dispute.
pub const VERIFY_WINDOW: Millis = Millis::secs(300);
/// How long the other side has to answer a dispute or an appeal.
pub const RESPONSE_WINDOW: Millis = Millis::secs(30);
/// How long a judge has, from the re-execution's result on.
pub const JUDGE_WINDOW: Millis = Millis::secs(60);
/// How long a re-execution may take before the judge's time starts without it (decision E6: its own time
/// limit).
pub const REEXECUTION_WINDOW: Millis = Millis::secs(600);
/// How long the loser of a ruling may appeal.
pub const APPEAL_WINDOW: Millis = Millis::secs(120);
/// How long the agent may object to exhausted attempts or to a rejected review (decision E5).
pub const OBJECTION_WINDOW: Millis = Millis::secs(120);
/// A halted contract goes to the judge after this, unless resumed.
pub const HALT_WINDOW: Millis = Millis::secs(30);

/// What a silence of the server must last at least to be counted as an absence (decision E21).
pub const MIN_ABSENCE: Millis = Millis::secs(3);
/// All absences of the server that a contract outlives, together: a week. Beyond it the contract is voided.
pub const MAX_ABSENCE: Millis = Millis::secs(604_800);
/// A contract's own windows may be this many times the server's (decision E22).
pub const WINDOW_FACTOR: u64 = 10;
/// The longest open and reservation windows of a contract, in seconds.
pub const MAX_OPEN_WINDOW: u64 = 86_400;

// What a court's machine gives a re-execution (decision E6), unless the server's terms say otherwise.

/// Seconds for all commands of a re-execution together: well within [`REEXECUTION_WINDOW`].
pub const COURT_TIME: u32 = 600;
/// Mebibytes of memory for all processes of a command.
pub const COURT_MEMORY_MIB: u32 = 4_096;
/// Processes of a command at the same time.
pub const COURT_PROCESSES: u32 = 512;
/// Bytes kept of standard output and of standard error, each.
pub const COURT_OUTPUT: u32 = 64 * 1024;
/// Number of cases that a judge sits on at once.
pub const COURT_SEATS: usize = 4;
/// Consecutive passes of the command after a fix.
pub const COURT_RUNS: u32 = 2;

// Requests and entries.

/// A request or an entry may be this old.
pub const MAX_AGE: Millis = Millis::secs(60);
/// A request or an entry may be this far ahead of the server's clock.
pub const MAX_AHEAD: Millis = Millis::secs(5);
/// With `--compat` a request may be this old (decision E13).
pub const MAX_AGE_COMPAT: Millis = Millis::secs(300);
/// With `--compat` an older client's request may be this far ahead of the server's clock.
pub const MAX_AHEAD_COMPAT: Millis = Millis::secs(30);
/// The largest body of a request: 512 KiB.
pub const MAX_BODY: usize = 512 * 1024;
/// The longest path of a signed request, with its query.
pub const MAX_PATH: usize = 2_048;

// JSON.

/// The longest JSON text: a transcript of 512 entries fits.
pub const MAX_JSON_BYTES: usize = 16 * 1024 * 1024;
/// Maximum depth of nested JSON.
pub const MAX_JSON_DEPTH: usize = 32;
/// The longest integer; Python's reader has the same bound.
pub const MAX_INTEGER_DIGITS: usize = 4_300;

// Contracts (decision E2).

/// Maximum bytes, as canonical JSON, of a contract's fields that this version does not know and keeps.
pub const MAX_UNKNOWN: usize = 16 * 1024;
/// The version of contracts.
pub const CONTRACT_VERSION: u64 = 2;
/// The longest command.
pub const MAX_COMMAND: usize = 4 * 1024;
/// The longest error output.
pub const MAX_ERROR: usize = 64 * 1024;
/// The longest short text: a type, an operating system, an architecture.
pub const MAX_WORD: usize = 128;
/// How many package managers an environment may name.
pub const MAX_PACKAGE_MANAGERS: usize = 32;
/// How many scopes the network capability may name.
pub const MAX_SCOPES: usize = 16;
/// All input files together, decoded: 256 KiB.
pub const MAX_INPUT_BYTES: usize = 256 * 1024;
/// Maximum number of input files.
pub const MAX_INPUT_FILES: usize = 256;
/// The longest path of an input file.
pub const MAX_INPUT_PATH: usize = 512;
/// Maximum number of verifications.
pub const MAX_VERIFICATIONS: usize = 8;
/// The longest pattern of `output_match`.
pub const MAX_PATTERN: usize = 1024;
/// How much memory a compiled pattern may take.
pub const MAX_PATTERN_MEMORY: usize = 1 << 20;
/// The most attempts.
pub const MAX_ATTEMPTS: u32 = 20;
/// Attempts, unless the contract says otherwise.
pub const ATTEMPTS: u32 = 5;
/// The most rounds of investigation.
pub const MAX_INVESTIGATION_ROUNDS: u32 = 50;
/// Rounds of investigation, unless the contract says otherwise.
pub const INVESTIGATION_ROUNDS: u32 = 5;
/// The longest pause between two investigations, in seconds.
pub const MAX_INVESTIGATION_RATE: u32 = 60;
/// The pause between two investigations in seconds, unless the contract says otherwise.
pub const INVESTIGATION_RATE: u32 = 5;
/// The shortest and the longest time for an attempt, in seconds.
pub const TIMEOUT_RANGE: (u32, u32) = (10, 3_600);
/// The time for an attempt in seconds, unless the contract says otherwise.
pub const TIMEOUT: u32 = 300;
/// The shortest and the longest review window, in seconds.
pub const REVIEW_WINDOW_RANGE: (u32, u32) = (60, 86_400);
/// The review window in seconds, unless the contract says otherwise.
pub const REVIEW_WINDOW: u32 = 7_200;

// Entries.

/// The most entries of a chain.
pub const MAX_ENTRIES: u64 = 512;
/// From here on only entries that move the contract are taken, so that talk cannot fill a chain.
pub const MAX_TALK_ENTRIES: u64 = 384;
/// The most bytes of talk in a chain, as canonical entries.
pub const MAX_TALK_BYTES: u64 = 1 << 20;
/// Leading zero bits of the work behind a post above an address's daily number.
pub const POST_WORK_BITS: u32 = 20;
/// The longest message, argument, explanation or reason.
pub const MAX_TEXT: usize = 16 * 1024;
/// The longest output of an investigation or of a verification.
pub const MAX_OUTPUT: usize = 64 * 1024;
/// The longest fix.
pub const MAX_FIX: usize = 64 * 1024;
/// The longest 0x01 envelope in an entry, in hexadecimal digits (decision G1).
pub const MAX_ENVELOPE: usize = 16 * 1024;
/// The most flags of a ruling.
pub const MAX_FLAGS: usize = 16;

// The life of a contract.

/// A contract that was reopened this often is not reopened for longer than an instant, so that it ends.
pub const MAX_REOPENINGS: u32 = 16;
/// After this many unpaid reservations the open window runs on while the contract is reserved.
pub const MAX_LAPSED_RESERVATIONS: u32 = 8;

/// A halt can be taken back this often for one agent.
pub const MAX_RESUMES: u32 = 3;

// Lists and streams (wire.md, "Market HTTP").

/// The most contracts in one answer.
pub const MAX_LIST: usize = 200;
/// A comment keeps a stream alive after this.
pub const KEEPALIVE: Millis = Millis::secs(15);
