//! A transaction as a person agrees to it: what it costs and what comes back, first; then what it does. All of it
//! is read from the transaction and its simulation. Addresses whose role is known are left out unless they are
//! asked for with --verbose; one without a role is always shown whole.

use crate::amount;
use crate::output::Page;
use crate::words::one_line;
use solana_address::Address;
use std::collections::BTreeMap;
use zx1_chain::rpc::{Line, Money, Move, Summary};
use zx1_protocol::units::MicroUsdc;

/// Who looks at a summary, and what is known here.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// The cluster's name.
    pub cluster: String,
    /// The wallet of this run.
    pub wallet: Option<Address>,
    /// Local names of agents, by mint.
    pub names: BTreeMap<String, String>,
    /// Whether all addresses are shown.
    pub addresses: bool,
}

/// What a wallet pays: USDC, SOL with the fee, and whether other tokens go as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// USDC, of the configured mint only.
    pub usdc: MicroUsdc,
    /// Lamports, the fee included.
    pub lamports: u64,
}

impl Cost {
    /// What the signers of a transaction pay.
    pub fn of(summary: &Summary) -> Self {
        let mut cost = Self { lamports: summary.fee, ..Self::default() };
        for moved in summary.paid() {
            match moved.money {
                Money::Usdc(amount) => cost.usdc = cost.usdc.saturating_add(amount),
                Money::Lamports(lamports) => cost.lamports = cost.lamports.saturating_add(lamports),
                Money::Token { .. } => {}
            }
        }
        cost
    }

    /// Both together with another cost.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let lamports = self.lamports.saturating_add(other.lamports);
        Self { usdc: self.usdc.saturating_add(other.usdc), lamports }
    }
}

impl std::fmt::Display for Cost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.usdc {
            MicroUsdc(0) => f.write_str(&amount::sol(self.lamports)),
            usdc => write!(f, "{} USDC + {}", amount::plain(usdc), amount::sol(self.lamports)),
        }
    }
}

/// Draws what a transaction that was simulated costs and does.
pub fn draw(page: &mut Page, summary: &Summary, view: &View) {
    let cost = Cost::of(summary);
    match view.wallet.is_none_or(|wallet| wallet == summary.payer) {
        true => page.heading(format!("You pay {cost}")),
        false => page.heading(format!("It costs {cost}, paid by")).line(format!("  {}", summary.payer)),
    };
    draw_costs(page, summary);
    draw_receipts(page, summary);
    page.heading(format!("What it does, on {}", view.cluster));
    for line in &summary.lines {
        draw_line(page, line, summary, view);
    }
    if view.addresses {
        draw_addresses(page, summary);
    }
    page.blank();
}

/// Draws what a transaction does that was not simulated: only its instructions say what it moves.
pub fn draw_unsimulated(page: &mut Page, summary: &Summary) {
    let view = View { addresses: true, ..View::default() };
    page.heading("What it does, on the cluster with its blockhash");
    for line in &summary.lines {
        draw_line(page, line, summary, &view);
    }
    let fee = amount::sol(summary.fee);
    page.line(format!("  Not simulated: the lines above show what it moves. The fee is {fee}."));
    draw_addresses(page, summary);
    page.blank();
}

/// Amounts below each other at their points, with what each is for.
fn draw_costs(page: &mut Page, summary: &Summary) {
    let mut rows: Vec<(Money, String, Option<Address>)> = Vec::new();
    for moved in summary.paid() {
        let role = summary.role(moved);
        let text = match role {
            Some(role) => match role.returns {
                Some(when) => format!("{}; comes back {when}", role.purpose),
                None => role.purpose.to_owned(),
            },
            None => "to".to_owned(),
        };
        let stranger = role.is_none().then_some(moved.to);
        match rows.iter_mut().find(|(money, known, to)| {
            *known == text
                && *to == stranger
                && std::mem::discriminant(money) == std::mem::discriminant(&moved.money)
        }) {
            Some((sum, ..)) => *sum = together(*sum, moved.money),
            None => rows.push((moved.money, text, stranger)),
        }
    }
    rows.sort_by_key(|(money, ..)| matches!(money, Money::Lamports(_)));
    rows.push((Money::Lamports(summary.fee), "fee of the network".to_owned(), None));
    let amounts: Vec<String> = rows.iter().map(|(money, ..)| written(*money)).collect();
    let before_point = |amount: &str| amount.find(['.', ' ']).unwrap_or(amount.len());
    let widest = amounts.iter().map(|amount| before_point(amount)).max().unwrap_or(0);
    for ((_, text, stranger), amount) in rows.iter().zip(&amounts) {
        let indent = widest.saturating_sub(before_point(amount)).saturating_add(2);
        let to = stranger.map(|address| format!(" {address}")).unwrap_or_default();
        page.field(format!("{:indent$}{amount}", ""), format!("{text}{to}"));
    }
}

fn together(one: Money, other: Money) -> Money {
    match one {
        Money::Usdc(MicroUsdc(amount)) => Money::Usdc(MicroUsdc(amount.saturating_add(other.amount()))),
        Money::Lamports(amount) => Money::Lamports(amount.saturating_add(other.amount())),
        Money::Token { amount, mint } => Money::Token { amount: amount.saturating_add(other.amount()), mint },
    }
}

fn written(money: Money) -> String {
    match money {
        Money::Token { amount, .. } => format!("{amount} token units"),
        money => money.to_string(),
    }
}

/// What comes to a signer, and what others pay each other.
fn draw_receipts(page: &mut Page, summary: &Summary) {
    let paid: Vec<&Move> = summary.paid().collect();
    let rest = summary.moves.iter().filter(|moved| !paid.contains(moved));
    let (mut begun, mut others) = (false, Vec::new());
    for moved in rest {
        let to_us = summary.is_signers(&moved.to, &moved.money);
        let is_new = matches!(moved.money, Money::Token { mint: Some(mint), .. } if mint == moved.from);
        if !to_us && !is_new {
            others.push(moved);
            continue;
        }
        if !std::mem::replace(&mut begun, true) {
            page.heading("You receive");
        }
        match is_new {
            true => page.field(format!("  {} NFT", moved.money.amount()), "new: it stands for the agent"),
            false => page.field(format!("  {}", written(moved.money)), from(summary, moved)),
        };
    }
    if !others.is_empty() {
        page.heading("Others receive");
    }
    for moved in others {
        let to = summary.role(moved).map_or_else(|| moved.to.to_string(), |role| role.purpose.to_owned());
        page.field(format!("  {}", written(moved.money)), format!("to {to}, {}", from(summary, moved)));
    }
}

fn from(summary: &Summary, moved: &Move) -> String {
    let role = summary.roles.of(&moved.from, &moved.money);
    let from = role.map_or_else(|| moved.from.to_string(), |role| role.purpose.to_owned());
    format!("from {from}")
}

/// An instruction, with those of its details that tell something.
fn draw_line(page: &mut Page, line: &Line, summary: &Summary, view: &View) {
    let unknown = if line.understood { "" } else { " (unknown instruction)" };
    page.line(format!("  {}{unknown}", line.title));
    for (label, value) in line.details.iter().filter(|(_, value)| !value.is_empty()) {
        let value = one_line(value, usize::MAX);
        match view.addresses || !line.understood {
            true => page.field(format!("    {label}"), value),
            false => page.maybe(format!("    {label}"), told(label, &value, summary, view)),
        };
    }
}

/// A detail as it is shown where addresses are not asked for; `None` where it adds nothing.
fn told(label: &str, value: &str, summary: &Summary, view: &View) -> Option<String> {
    // A genesis hash: the heading names the cluster. Hashes tell a person nothing.
    let is_hash =
        value.split([' ', ',']).any(|word| word.len() == 64 && word.bytes().all(|it| it.is_ascii_hexdigit()));
    if label == "network" || is_hash {
        return None;
    }
    let Ok(address) = value.parse::<Address>() else { return Some(value.to_owned()) };
    if let Some(name) = view.names.get(value) {
        return Some(name.clone());
    }
    if summary.signers.contains(&address) {
        return (label == "key").then(|| match view.wallet == Some(address) {
            true => "your wallet".to_owned(),
            false => value.to_owned(),
        });
    }
    (!summary.roles.knows(&address)).then(|| value.to_owned())
}

/// Who pays, who signs, and every account that money moves between.
fn draw_addresses(page: &mut Page, summary: &Summary) {
    page.heading("Addresses");
    for moved in &summary.moves {
        page.line(format!("  {}", written(moved.money)))
            .line(format!("    from {}", moved.from))
            .line(format!("    to   {}", moved.to));
    }
    page.line(format!("  paid by   {}", summary.payer));
    for signer in summary.signers.iter().filter(|signer| **signer != summary.payer) {
        page.line(format!("  signed by {signer}"));
    }
}
