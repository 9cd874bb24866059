//! Every limit, and the settings that open the older server's figures.

/// UTF-16 units of a message's content.
pub const MAX_CONTENT: usize = 4_096;
/// Bytes of a frame, both ways.
pub const MAX_FRAME: usize = 262_144;
/// Lists and objects within each other.
pub const MAX_DEPTH: usize = 32;
/// UTF-16 units of the other free texts: task, terms, reason, proof, payment code.
pub const MAX_TEXT: usize = 4_096;
/// Bytes of a PEM text.
pub const MAX_PEM: usize = 1_024;
/// Bytes of an envelope that is carried along, before base64.
pub const MAX_ENVELOPE: usize = 65_536;
/// UTF-16 units of a status text.
pub const MAX_STATUS: usize = 100;
/// Skills of one agent.
pub const MAX_SKILLS: usize = 64;
/// Results of a search.
pub const MAX_RESULTS: usize = 100;
/// Milliseconds between two changes of a nick.
pub const NICK_MS: u64 = 30_000;
/// Milliseconds between two chunks.
pub const CHUNK_SPACING_MS: u64 = 100;
/// Milliseconds of the windows of messages.
pub const WINDOW_MS: u64 = 10_000;
/// Milliseconds in which the other party may confirm or dispute a completion.
pub const CONFIRM_MS: u64 = 7 * 24 * 3_600_000;
/// Milliseconds after which the stakes of a dispute that nobody rules on go back.
pub const RULING_MS: u64 = 30 * 24 * 3_600_000;
/// The rating that everybody starts with.
pub const FIRST_RATING: u32 = 1_200;
/// No rating is lower.
pub const RATING_FLOOR: u32 = 100;

/// Characters of archive text in a chunk.
pub const CHUNK_CHARS: usize = 131_072;
/// Milliseconds between two chunks that a sender sends.
pub const CHUNK_SEND_MS: u64 = 200;
/// What a sender's chunks may take, which leaves ten seconds of [`RECEIVE_MS`].
pub const SEND_MS: u64 = 110_000;
/// Milliseconds from accept to complete.
pub const RECEIVE_MS: u64 = 120_000;
/// Milliseconds in which an offer is answered.
pub const OFFER_MS: u64 = 30 * 60_000;
/// Bytes of an archive that is received.
pub const MAX_RECEIVE: u64 = 50 * 1024 * 1024;

/// What an operator can set. [`Settings::default`] is the document's, [`Settings::older`] opens the older figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Hex digits of an agent's id: 8, or 16 as agentchat 0.24.3 itself uses.
    pub id_hex: usize,
    /// Channels that exist from the start.
    pub channels: Vec<String>,
    /// Messages kept for who joins.
    pub buffer: usize,
    /// Milliseconds between two MSG of an agent.
    pub msg_ms: u64,
    /// Messages in a window before identification.
    pub before_auth: usize,
    /// Messages in a window after it.
    pub after_auth: usize,
    /// FILE_CHUNKs a second.
    pub chunks: usize,
    /// Milliseconds that a challenge is open.
    pub challenge_ms: u64,
    /// Milliseconds that a VERIFY_REQUEST is open.
    pub verify_ms: u64,
    /// Channels that one agent can be in.
    pub joined: usize,
    /// Channels in all.
    pub rooms: usize,
    /// Members that JOINED and AGENTS list; the rest is counted.
    pub listed: usize,
    /// Members above which joins, leaves and presence are coalesced.
    pub coalesce_above: usize,
    /// Milliseconds that a proposal must have before it is completed.
    pub min_proposal_ms: u64,
    /// Milliseconds between two completions of one pair that move ratings; 0 is off.
    pub pair_ms: u64,
    /// The n-th completion of a pair gains 1/n.
    pub diminishing: bool,
    /// Keys whose ids are remembered; those of later ones end with their connections.
    pub identities: usize,
    /// Proposals of one agent that have not ended.
    pub open_proposals: usize,
    /// Whether a dispute alone moves ratings, for who filed it. Off: only a ruling does (decision J).
    pub dispute_moves: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            id_hex: 8,
            channels: ["#general", "#agents", "#discovery"].map(str::to_owned).into(),
            buffer: 20,
            msg_ms: 1_000,
            before_auth: 10,
            after_auth: 60,
            chunks: 10,
            challenge_ms: 30_000,
            verify_ms: 30_000,
            joined: 32,
            rooms: 10_000,
            listed: 1_000,
            coalesce_above: 256,
            min_proposal_ms: 60_000,
            pair_ms: 3_600_000,
            diminishing: true,
            identities: 1_000_000,
            open_proposals: 256,
            dispute_moves: false,
        }
    }
}

impl Settings {
    /// The older server's figures: eight channels and a challenge of 60 seconds.
    pub fn older() -> Settings {
        let older =
            ["#general", "#agents", "#discovery", "#skills", "#proposals", "#bounties", "#help", "#random"];
        Settings { channels: older.map(str::to_owned).into(), challenge_ms: 60_000, ..Settings::default() }
    }
}
