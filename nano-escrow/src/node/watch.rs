//! What was confirmed? The websocket says so at once; polling is the net underneath.
//!
//! A websocket may repeat, may miss, and may be gone for an hour. So it only gives hints: whatever it says,
//! and whatever polling finds, the node is asked about the block itself, and each event is reported once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use super::rpc::{AccountsReceivable, BlockState, BlocksInfo, ReceivableBlock};
use super::websocket::{self, News, SocketOptions};
use super::{Fault, NodeApi, NodeCalls, NodeError};
use crate::{Address, BlockHash, Raw};

/// Maximum number of hashes or accounts in one request.
const PAGE: usize = 200;
/// Maximum number of waiting sends that are asked for, for each account.
const PER_ACCOUNT: u64 = 64;

/// How a [`Watcher`] connects and polls.
#[derive(Debug, Clone)]
pub struct WatchOptions {
    /// The node's websocket, such as `ws://127.0.0.1:7078`; `None` polls only. `wss` is not spoken: put a
    /// local proxy before a distant node.
    pub websocket: Option<String>,
    /// Interval at which everything is polled, with or without a websocket.
    pub poll_every: Duration,
    /// Smallest send to a watched account, in raw, that is reported.
    pub threshold: Raw,
    /// The wait before a lost websocket is connected again; doubles up to `longest_wait`.
    pub first_wait: Duration,
    /// The longest wait between two attempts to connect.
    pub longest_wait: Duration,
    /// A silent websocket is pinged after this, and given up after twice as long.
    pub ping: Duration,
}

impl Default for WatchOptions {
    fn default() -> Self {
        WatchOptions {
            websocket: None,
            poll_every: Duration::from_secs(5),
            threshold: Raw(1),
            first_wait: Duration::from_millis(250),
            longest_wait: Duration::from_secs(30),
            ping: Duration::from_secs(20),
        }
    }
}

/// What a watcher reports. Each event is reported once for as long as its account or block is watched; after
/// a restart of the process it is reported again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A send to a watched account is in the ledger, not yet confirmed: time to make work, not to believe it.
    Seen {
        /// The watched account that is paid.
        account: Address,
        /// The send's hash, amount and source.
        send: ReceivableBlock,
    },
    /// A send to a watched account is confirmed and can be received.
    Receivable {
        /// The watched account that is paid.
        account: Address,
        /// The send's hash, amount and source.
        send: ReceivableBlock,
    },
    /// More sends wait for a watched account than are shown here: ask for them by their size.
    Crowded {
        /// The watched account that is paid.
        account: Address,
    },
    /// A watched block is confirmed.
    Confirmed(Box<BlockState>),
}

enum Command {
    Account(Address),
    NoAccount(Address),
    Block(BlockHash),
    NoBlock(BlockHash),
    PollNow,
}

/// Watches accounts and blocks in the background until it is dropped.
#[derive(Debug)]
pub struct Watcher {
    commands: mpsc::UnboundedSender<Command>,
    live: watch::Receiver<bool>,
    task: JoinHandle<()>,
}

impl Watcher {
    /// Begin. Events come out of the receiver; when it is full, watching waits. Must be called inside a tokio
    /// runtime. Fails with 8206 when the websocket's URL cannot be used.
    pub fn start(
        node: Arc<dyn NodeApi>,
        options: WatchOptions,
    ) -> Result<(Watcher, mpsc::Receiver<Event>), NodeError> {
        if let Some(url) = &options.websocket {
            check_url(url)?;
        }
        let (commands, command_receiver) = mpsc::unbounded_channel();
        let (events, event_receiver) = mpsc::channel(256);
        let (live_sender, live) = watch::channel(false);
        let task = tokio::spawn(run(node, options, command_receiver, events, live_sender));
        Ok((Watcher { commands, live, task }, event_receiver))
    }

    fn tell(&self, command: Command) {
        // The task ends only when nobody receives the events any more; then nobody waits for anything.
        let _ = self.commands.send(command);
    }

    /// Report sends to this account.
    pub fn watch_account(&self, account: Address) {
        self.tell(Command::Account(account));
    }

    /// Stop reporting sends to this account.
    pub fn forget_account(&self, account: Address) {
        self.tell(Command::NoAccount(account));
    }

    /// Report when this block is confirmed. It need not be in the ledger yet.
    pub fn watch_block(&self, hash: BlockHash) {
        self.tell(Command::Block(hash));
    }

    /// Stop waiting for this block.
    pub fn forget_block(&self, hash: BlockHash) {
        self.tell(Command::NoBlock(hash));
    }

    /// Poll now instead of at the next interval.
    pub fn poll_now(&self) {
        self.tell(Command::PollNow);
    }

    /// Whether the websocket is connected. Nothing is missed while it is not.
    pub fn is_live(&self) -> bool {
        *self.live.borrow()
    }

    /// Changes of [`is_live`](Self::is_live).
    pub fn live(&self) -> watch::Receiver<bool> {
        self.live.clone()
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn check_url(url: &str) -> Result<(), NodeError> {
    let reason = match zx1_net::Url::parse(url) {
        Ok(parsed) if parsed.scheme() == "ws" => return Ok(()),
        Ok(parsed) if parsed.scheme() == "wss" => "wss is not spoken; use a local proxy, or polling".into(),
        Ok(_) => "it does not begin with ws://".into(),
        Err(error) => error.to_string(),
    };
    Err(NodeError::Url { url: url.to_owned(), reason })
}

async fn run(
    node: Arc<dyn NodeApi>,
    options: WatchOptions,
    mut commands: mpsc::UnboundedReceiver<Command>,
    events: mpsc::Sender<Event>,
    live: watch::Sender<bool>,
) {
    let (accounts, accounts_receiver) = watch::channel(BTreeSet::new());
    let (news_sender, mut news) = mpsc::channel(1024);
    let socket = options.websocket.clone().map(|url| SocketOptions {
        url,
        first_wait: options.first_wait,
        longest_wait: options.longest_wait,
        ping: options.ping,
    });
    // Inside this task, so that dropping the watcher ends both.
    let mut socket = std::pin::pin!(async {
        match socket {
            Some(socket) => websocket::run(socket, accounts_receiver, news_sender).await,
            None => {
                // Keep the sender, or the channel would look closed.
                let _keep = (news_sender, accounts_receiver);
                std::future::pending::<()>().await
            }
        }
    });
    let mut state = State {
        node,
        events,
        threshold: options.threshold,
        accounts: BTreeMap::new(),
        blocks: BTreeSet::new(),
    };
    let mut interval = tokio::time::interval(options.poll_every);
    interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        let step = async {
            tokio::select! {
                command = commands.recv() => match command {
                    None => false,
                    Some(first) => {
                        // All that wait are taken together: a restart watches thousands at once.
                        let mut fresh = Fresh::default();
                        state.obey(first, &mut fresh);
                        while let Ok(next) = commands.try_recv() {
                            state.obey(next, &mut fresh);
                        }
                        accounts.send_if_modified(|set| fresh.apply(set));
                        state.look(fresh).await
                    }
                },
                item = news.recv() => match item {
                    None => false,
                    Some(News::Connected) => {
                        live.send_replace(true);
                        // What happened while nobody listened.
                        state.poll().await
                    }
                    Some(News::Lost) => {
                        live.send_replace(false);
                        true
                    }
                    Some(News::Hint(hint)) => state.hint(hint).await,
                },
                _ = interval.tick() => state.poll().await,
            }
        };
        tokio::select! {
            go_on = step => if !go_on { return },
            // It ends only together with us.
            () = &mut socket => return,
        }
    }
}

/// What commands have added and taken away.
#[derive(Default)]
struct Fresh {
    accounts: Vec<Address>,
    gone: Vec<Address>,
    blocks: Vec<BlockHash>,
    all: bool,
}

impl Fresh {
    /// Brings the set of watched accounts up to date. Returns whether it has changed.
    fn apply(&self, set: &mut BTreeSet<Address>) -> bool {
        let mut changed = false;
        for account in &self.gone {
            changed |= set.remove(account);
        }
        for account in &self.accounts {
            changed |= set.insert(*account);
        }
        changed
    }
}

struct State {
    node: Arc<dyn NodeApi>,
    events: mpsc::Sender<Event>,
    threshold: Raw,
    /// Watched accounts. For each, the sends that were reported, and whether as confirmed.
    accounts: BTreeMap<Address, BTreeMap<BlockHash, bool>>,
    blocks: BTreeSet<BlockHash>,
}

impl State {
    fn obey(&mut self, command: Command, fresh: &mut Fresh) {
        match command {
            Command::Account(account) => {
                fresh.gone.retain(|a| *a != account);
                if let std::collections::btree_map::Entry::Vacant(place) = self.accounts.entry(account) {
                    place.insert(BTreeMap::new());
                    fresh.accounts.push(account);
                }
            }
            Command::NoAccount(account) => {
                self.accounts.remove(&account);
                fresh.accounts.retain(|a| *a != account);
                fresh.gone.push(account);
            }
            Command::Block(hash) => {
                if self.blocks.insert(hash) {
                    fresh.blocks.push(hash);
                }
            }
            Command::NoBlock(hash) => {
                self.blocks.remove(&hash);
            }
            Command::PollNow => fresh.all = true,
        }
    }

    /// Asks for what is new, or for everything. Returns false when the receiver of events is dropped.
    async fn look(&mut self, fresh: Fresh) -> bool {
        if fresh.all {
            return self.poll().await;
        }
        self.ask_accounts(&fresh.accounts).await && self.ask_blocks(&fresh.blocks).await
    }

    /// Polls all accounts and blocks. Returns false when the receiver of events is dropped.
    async fn poll(&mut self) -> bool {
        let accounts: Vec<_> = self.accounts.keys().copied().collect();
        let blocks: Vec<_> = self.blocks.iter().copied().collect();
        self.ask_accounts(&accounts).await && self.ask_blocks(&blocks).await
    }

    async fn hint(&mut self, hint: websocket::Hint) -> bool {
        if self.blocks.contains(&hint.hash) && !self.ask_blocks(&[hint.hash]).await {
            return false;
        }
        match hint.to {
            Some(to) if self.accounts.contains_key(&to) => self.ask_accounts(&[to]).await,
            _ => true,
        }
    }

    /// Sends that wait for these accounts: tell the new ones, then those that have become confirmed.
    async fn ask_accounts(&mut self, accounts: &[Address]) -> bool {
        for page in accounts.chunks(PAGE) {
            let request = AccountsReceivable {
                accounts: page.to_vec(),
                count: PER_ACCOUNT,
                threshold: Some(self.threshold),
                confirmed_only: false,
            };
            let waiting = match self.node.ask(request).await {
                Ok(waiting) => waiting,
                Err(error) => {
                    tracing::debug!(%error, "polling accounts failed");
                    continue;
                }
            };
            for account in page {
                let sends = waiting.get(account).map(Vec::as_slice).unwrap_or_default();
                if !self.tell_sends(*account, sends).await {
                    return false;
                }
            }
        }
        true
    }

    async fn tell_sends(&mut self, account: Address, sends: &[ReceivableBlock]) -> bool {
        let Some(told) = self.accounts.get_mut(&account) else { return true };
        if (sends.len() as u64) < PER_ACCOUNT {
            // What was received or has vanished is forgotten; a full page may only have left it out.
            told.retain(|hash, _| sends.iter().any(|s| s.hash == *hash));
        } else if self.events.send(Event::Crowded { account }).await.is_err() {
            return false;
        }
        let mut open = Vec::new();
        for send in sends.iter().filter(|s| s.amount.is_none_or(|a| a >= self.threshold)) {
            if let std::collections::btree_map::Entry::Vacant(place) = told.entry(send.hash) {
                if self.events.send(Event::Seen { account, send: *send }).await.is_err() {
                    return false;
                }
                place.insert(false);
            }
            if told.get(&send.hash) == Some(&false) {
                open.push(*send);
            }
        }
        let hashes: Vec<_> = open.iter().map(|s| s.hash).collect();
        let confirmed = self.confirmed(&hashes).await;
        for send in open {
            if confirmed.contains_key(&send.hash) {
                if self.events.send(Event::Receivable { account, send }).await.is_err() {
                    return false;
                }
                if let Some(told) = self.accounts.get_mut(&account) {
                    told.insert(send.hash, true);
                }
            }
        }
        true
    }

    async fn ask_blocks(&mut self, hashes: &[BlockHash]) -> bool {
        for (hash, state) in self.confirmed(hashes).await {
            if self.blocks.remove(&hash) && self.events.send(Event::Confirmed(Box::new(state))).await.is_err()
            {
                return false;
            }
        }
        true
    }

    /// Which of these blocks are confirmed. What cannot be asked now is asked at the next poll.
    async fn confirmed(&self, hashes: &[BlockHash]) -> BTreeMap<BlockHash, BlockState> {
        let mut confirmed = BTreeMap::new();
        for page in hashes.chunks(PAGE) {
            match self.node.ask(BlocksInfo { hashes: page.to_vec() }).await {
                Ok(found) => confirmed.extend(found.blocks.into_iter().filter(|(_, b)| b.confirmed)),
                // A dialect that fails the whole page for one unknown block: one by one.
                Err(error) if error.fault() == Some(&Fault::BlockNotFound) => {
                    for hash in page {
                        match self.node.block_info(*hash).await {
                            Ok(Some(block)) if block.confirmed => {
                                confirmed.insert(*hash, block);
                            }
                            Ok(_) => {}
                            Err(error) => tracing::debug!(%error, "polling a block failed"),
                        }
                    }
                }
                Err(error) => tracing::debug!(%error, "polling blocks failed"),
            }
        }
        confirmed
    }
}
