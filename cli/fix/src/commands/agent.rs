//! `fix agent`: an agent of the market.

use super::{logs, stop_signal, stopped};
use crate::context::{self, Context};
use crate::errors::{Error, Failure, Result};
use crate::fixing;
use crate::flags::Ledger;
use crate::mesh;
use crate::screen::{Screen, Tone};
use crate::terminal::outside;
use serde_json::json;
use std::sync::Arc;
use zx1_agent::worker::{Announced, Config, Folder, Hooks, SubmittedFix, WorkError, Worker};
use zx1_home::SystemClock;
use zx1_market::counts::FixCounts;
use zx1_market::{Case, ContractId, State};
use zx1_model::Price;
use zx1_model::budget::{Budget, FileStore, Limits};
use zx1_principal::Role;
use zx1_trial::SandboxBench;

/// Shown by `--help`, before the models.
pub const EXAMPLES: &str = "\
Examples:
  fix agent                                  the built-in rules, no model
  fix agent --model openrouter:VENDOR/MODEL --price 3/15
  fix agent --min-bounty 0.3 --max-bounty 2
  fix agent --node URL --network live        deposits come from its wallet
  fix agent --agent-id MINT --mesh           contracts come by its node (zx1 node run)

Deposits: an agent stakes as much as the principal. Without a node it takes free
contracts; on a market of this machine it also leaves deposits to a demo ledger
(fix serve --auto-fund). What models may cost is capped: --budget, --daily-budget.

Models: see --model; rules, openai:MODEL@URL, openrouter:MODEL, openrouter:free,
anthropic:MODEL, script:FILE. Keys: OPENAI_API_KEY, OPENROUTER_API_KEY, FIX_API_KEY.";

/// Arguments of `fix agent`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Model to ask when no rule applies
    #[arg(long, value_name = "MODEL", default_value = "rules")]
    model: String,
    /// Price in dollars per million tokens read and written, for the budget
    #[arg(long, value_name = "IN/OUT", default_value = "0/0")]
    price: String,
    /// Maximum cost of models per contract, in dollars
    #[arg(long, value_name = "USD", default_value = "0.50")]
    budget: String,
    /// Maximum cost of models per day, in dollars
    #[arg(long, value_name = "USD", default_value = "5")]
    daily_budget: String,
    /// Minimum bounty to take
    #[arg(long, value_name = "XNO", default_value = "0")]
    min_bounty: String,
    /// Maximum bounty to take; the agent stakes as much
    #[arg(long, value_name = "XNO", default_value = "2")]
    max_bounty: String,
    /// Do not take free contracts
    #[arg(long)]
    no_free: bool,
    /// Maximum number of concurrent contracts
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=64))]
    at_once: u16,
    /// Poll for open contracts instead of using the market's stream
    #[arg(long)]
    poll: bool,
    /// Take contracts that your agent's node hears announced on the mesh, of the market of --server only
    #[arg(long)]
    mesh: bool,
    /// Use the model only, without the built-in rules
    #[arg(long)]
    no_rules: bool,
    #[command(flatten)]
    ledger: Ledger,
}

/// How often the market's list is read beside the mesh, in milliseconds: a contract is open for 30 s at the least.
const LIST_BESIDE_MESH_MS: u64 = 10_000;

/// Reports what the agent does.
struct Reporter(Screen);

impl Hooks for Reporter {
    fn on_contract_found(&self, case: &Case, principal: Option<FixCounts>) -> bool {
        let contract = case.contract();
        let (id, bounty) = (case.id().to_string(), contract.bounty.xno());
        let command = zx1_scrub::neutral::one_line(&contract.task.command, 60);
        let price = if contract.is_free() { "free".to_owned() } else { format!("{bounty} XNO") };
        let known = principal.map(|fixes| format!("; principal: {}", outside(fixes)));
        self.0.step(
            "found",
            json!({ "contract": id, "bounty": bounty, "principal": principal }),
            &format!("{id} ({price}): {command}{}", known.unwrap_or_default()),
        );
        true
    }

    fn on_announced(&self, announced: &Announced) {
        let (contract, by) = (announced.offer.contract.contract.to_string(), &announced.by);
        let price = announced.offer.price.xno();
        self.0.step(
            "announced",
            json!({ "contract": contract, "by": by, "price": price }),
            &format!("{contract} ({price} XNO) is announced on the mesh by {by}"),
        );
    }

    fn on_strange_market(&self, announced: &Announced) {
        let market = zx1_scrub::neutral::one_line(&announced.offer.contract.market, 80);
        let data = json!({ "market": market, "by": announced.by });
        let text = format!(
            "{} announces contracts of {market}, which is not your market; they are left.",
            announced.by
        );
        self.0.step("strange_market", data, &text);
    }

    fn on_fix_submitted(&self, contract: ContractId, fix: &SubmittedFix) {
        let id = contract.to_string();
        let shown = fix.corrected_command.as_deref().unwrap_or(&fix.fix);
        let data = json!({ "contract": id, "fix": fix.fix, "corrected_command": fix.corrected_command });
        self.0.step("fix", data, &format!("{id}: proposes {}", zx1_scrub::neutral::one_line(shown, 60)));
    }

    fn on_ended(&self, contract: ContractId, state: State) {
        let id = contract.to_string();
        let tone = if state == State::Fulfilled { Tone::Good } else { Tone::Step };
        self.0.tell(
            tone,
            "ended",
            json!({ "contract": id, "state": state.as_str() }),
            &format!("{id}: {state}"),
        );
    }

    fn on_error(&self, contract: Option<ContractId>, error: &WorkError) {
        let id = contract.map(|id| id.to_string());
        let data = json!({ "contract": id, "code": error.code(), "error": error.to_string() });
        let about = id.map(|id| format!("{id}: ")).unwrap_or_default();
        self.0.tell(Tone::Warn, "error", data, &format!("{about}error {}: {error}", error.code()));
    }
}

/// Works until SIGINT or SIGTERM.
pub fn run(args: Args, context: &Context) -> Result<()> {
    let screen = context.screen(false);
    let model = zx1_model::named(&args.model, price(&args.price)?)?;
    let limits = limits(&args)?;
    let mut config = Config {
        min_bounty: context::amount(&args.min_bounty)?,
        max_bounty: context::amount(&args.max_bounty)?,
        free: !args.no_free,
        at_once: usize::from(args.at_once),
        sse: !args.poll && !args.mesh,
        rules: !args.no_rules,
        ..Config::default()
    };
    if args.mesh {
        // Announcements come at once; the list is for those that were lost.
        config.discover_ms = LIST_BESIDE_MESH_MS;
    }
    logs("warn");
    let runtime = fixing::threads()?;
    let server = context.server()?.value;
    let party = context.party(Role::Agent, &args.ledger)?;
    runtime.block_on(async {
        let market = party.connect(&server).await?;
        let purse = party.deposits(market.url()).await?;
        config.paid = purse.is_some();
        let paid = if config.paid { "paid and free contracts" } else { "free contracts (no wallet: --node)" };
        let bridge = party.bridge()?;
        let agent = bridge.as_ref().map(|bridge| bridge.agent());
        let node = match (args.mesh, agent) {
            (false, _) => None,
            (true, Some(agent)) => Some((zx1_log::agent_dir(&context::zx1_home()?, &agent), agent)),
            (true, None) => return Err(Error::NoAgentId.into()),
        };
        let data = json!({
            "agent": market.id().to_string(), "market": market.url(), "paid": config.paid, "mesh": args.mesh,
        });
        let by = if args.mesh { ", by the mesh and by its list" } else { "" };
        let text =
            format!("Agent {} waits for {paid} at {}{by}. Ctrl+C stops it.", market.id(), market.url());
        screen.step("ready", data, &text);
        let store = Folder::open(context.place("agent")?)?;
        let bench = SandboxBench { masks: context.secret_places(Role::Agent)?, helper: None };
        let mut worker = Worker::new(market, config, Box::new(store))
            .with_hooks(Arc::new(Reporter(screen)))
            .with_bench(Arc::new(bench));
        if let Some(purse) = purse {
            worker = worker.with_purse(purse);
        }
        if let Some((folder, agent)) = node {
            worker = worker.with_announcements(mesh::listen(context.screen(false), folder, agent));
        }
        if let Some(bridge) = bridge {
            worker = worker.with_bridge(bridge);
        }
        if let Some(model) = model {
            let file = FileStore::new(context.place("agent-budget.json")?);
            let budget = Budget::open(limits, Box::new(file), Arc::new(SystemClock))?;
            worker = worker.with_model(model, budget);
        }
        worker.run(stop_signal()).await?;
        Ok::<(), Failure>(())
    })?;
    stopped(context, "The agent has stopped; what it works on is taken up at the next start.");
    Ok(())
}

/// Parses the value of `--price`.
pub(super) fn price(text: &str) -> Result<Price> {
    Price::parse(text).ok_or_else(|| {
        let message = format!(
            "invalid --price '{text}': expected dollars per million tokens read and written, such as 3/15."
        );
        crate::errors::Error::Usage { message }.into()
    })
}

fn limits(args: &Args) -> Result<Limits> {
    let micro = |text: &str| {
        zx1_model::micro_usd_of_decimal(text).ok_or_else(|| {
            let message = format!("invalid budget '{text}': expected an amount of dollars, such as 0.50.");
            Failure::from(crate::errors::Error::Usage { message })
        })
    };
    let mut limits = Limits::default();
    limits.per_contract.micro_usd = micro(&args.budget)?;
    limits.per_day.micro_usd = micro(&args.daily_budget)?;
    Ok(limits)
}
