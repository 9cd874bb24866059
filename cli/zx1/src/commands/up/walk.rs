//! The steps of `zx1 up`, one after the other.

use super::plan::{self, Line, ON_CHAIN, Plan, State};
use super::{Service, Wanted, agrees, faucet, tell};
use crate::commands::{config, init, register};
use crate::context::{Context, find_agent};
use crate::errors::{Error, Failure, Result};
use crate::files;
use crate::keys::Key;
use crate::service;
use crate::settings;
use crate::steps;
use crate::summary::Cost;
use crate::tx;
use solana_address::Address;
use std::collections::BTreeMap;
use zx1_chain::rpc::ChainError;
use zx1_operator::keys::Standing;
use zx1_operator::register::{Request, usual_file};
use zx1_operator::setup::{Setup, check_place};
use zx1_operator::stake::Change;
use zx1_operator::steps::Step;
use zx1_operator::{Agent, Operator, Sent};
use zx1_protocol::keys::Scopes;
use zx1_protocol::units::MicroUsdc;

/// The folder for batch data where nobody names a place.
const SERVED: &str = "served";

/// Runs all steps, or shows them.
pub(super) fn up(context: &Context, wanted: &Wanted) -> Result<()> {
    let place = context.wait(Place::find(context, wanted))?;
    let mut plan = context.wait(look(context, wanted, &place))?;
    if context.flags().dry_run {
        return context.print(&plan);
    }
    let mut page = crate::output::Page::new(crate::output::width());
    plan.draw_left(&mut page);
    super::show(context, page);
    let cost = Cost { usdc: plan.cost_micro_usdc, lamports: 0 };
    context.budget().check(cost)?;
    make_key(context, &mut plan)?;
    // What the steps write into the configuration counts for those that follow.
    let context = context.fresh();
    let agent = context.wait(on_chain(&context, wanted, &mut plan))?;
    place.write(&context, &mut plan)?;
    let context = context.fresh();
    keeper(&context, wanted, &agent, &mut plan)?;
    let spent = context.budget().spent();
    (plan.spent_micro_usdc, plan.spent_lamports) = (spent.usdc, spent.lamports);
    (plan.cost_micro_usdc, plan.cost_lamports) = (MicroUsdc(0), 0);
    plan.status = if plan.is_complete() { "ready" } else { "incomplete" };
    context.print(&plan)
}

/// Where the batches' data goes.
struct Place {
    /// As it is written into the configuration.
    text: String,
    /// Whether the configuration has it.
    is_set: bool,
}

impl Place {
    /// The place that is asked for, that is set, or the folder in zx1's own; one that cannot serve is refused
    /// before anything is paid.
    async fn find(context: &Context, wanted: &Wanted) -> Result<Self> {
        let set = context.settings()?.upload.value.clone();
        let usual = || files::shown(&context.home().map(|home| home.join(SERVED)).unwrap_or_default());
        let text = wanted.data.clone().or_else(|| set.clone()).unwrap_or_else(usual);
        let text = config::settle(context, settings::key("upload")?, text)?;
        let store = zx1_operator::place(&text)?;
        let named =
            |failure: Failure| failure.next("give another place with --data, a folder or an http(s) URL");
        check_place(&store).await.map_err(|error| named(error.into()))?;
        Ok(Self { is_set: set.as_ref() == Some(&text), text })
    }

    fn line(&self) -> Line {
        let what = match self.text.contains("://") {
            true => format!("{}, which serves the batches' data", self.text),
            false => format!(
                "{}: publish it with a web server, so that others can fetch the batches' data",
                self.text
            ),
        };
        Line { step: "data", state: if self.is_set { State::Done } else { State::Due }, what }
    }

    fn write(&self, context: &Context, plan: &mut Plan) -> Result<()> {
        if self.is_set {
            return Ok(());
        }
        tell(context, &format!("\ndata: {}", self.line().what));
        if !agrees(context, "Serve the batches' data there?")? {
            plan.set("data", State::Skipped, steps::PLACE.to_owned());
            return Ok(());
        }
        context.update_config(|config| {
            config.upload = Some(self.text.clone());
            Ok(())
        })?;
        plan.set("data", State::Made, self.text.clone());
        Ok(())
    }
}

/// What is done and what is not, before anything is changed.
async fn look(context: &Context, wanted: &Wanted, place: &Place) -> Result<Plan> {
    let key = context.key_if_any()?;
    let operator = context.spender().await?;
    let wallet = key.as_ref().map(|key| key.address());
    let agent = agent_here(context, &operator, wallet, wanted).await?;
    let setup = operator.setup(wallet, agent.as_ref(), place.is_set).await?;
    refuse_hopeless(&setup, agent.as_ref())?;
    let name = match (&agent, &wanted.name, wallet) {
        (Some(Agent { name: Some(name), .. }), ..) | (None, Some(name), _) => name.clone(),
        (Some(agent), ..) => agent.mint.to_string(),
        (None, None, Some(wallet)) => default_name(&wallet),
        (None, None, None) => "a new agent".to_owned(),
    };
    let key_line = match &key {
        Some(key) => {
            let what = format!("{} in {}", key.address(), files::shown(key.path()));
            Line { step: "key", state: State::Done, what }
        }
        None => {
            let what = format!("make one in {}", files::shown(&init::target(context)?));
            Line { step: "key", state: State::Due, what }
        }
    };
    let affordable = setup.is_affordable();
    let money = match (affordable, faucet::is_here(&operator.chain)) {
        (true, _) => plan::money(&setup),
        (false, true) => format!("{} of play money from zx1-localnet", faucet::offer(&setup)),
        (false, false) => format!("{}: too little", plan::money(&setup)),
    };
    let money = Line { step: "money", state: if affordable { State::Done } else { State::Due }, what: money };
    let mut steps = vec![key_line, money];
    steps.extend(ON_CHAIN.map(|step| {
        match setup.missing.iter().find(|missing| plan::line_of(missing) == Some(step)) {
            Some(missing) => Line { step, state: State::Due, what: plan::price(missing, &name) },
            None => Line { step, state: State::Done, what: plan::done(step, &setup) },
        }
    }));
    steps.push(place.line());
    steps.push(keeper_line(context, wanted, agent.as_ref())?);
    Ok(Plan {
        status: "planned",
        cluster: context.cluster_line(),
        wallet: setup.wallet,
        agent: agent.map(|agent| agent.mint.to_string()),
        name,
        steps,
        cost_micro_usdc: setup.cost.micro_usdc,
        cost_lamports: setup.cost.lamports,
        spent_micro_usdc: MicroUsdc(0),
        spent_lamports: 0,
        unit: None,
        next: "zx1 up".to_owned(),
    })
}

fn default_name(wallet: &Address) -> String {
    format!("agent-{}", wallet.to_string().chars().take(6).collect::<String>())
}

/// The agent that is set up: the one that is named, the only one known here, or the wallet's only one.
async fn agent_here(
    context: &Context,
    operator: &Operator,
    wallet: Option<Address>,
    wanted: &Wanted,
) -> Result<Option<Agent>> {
    let known = context.known_here(&operator.chain)?;
    if let Some(named) = &context.settings()?.agent.value {
        let agent = find_agent(&context.config()?, named)?;
        match context.check_agent(&operator.chain, &agent) {
            Ok(()) => return Ok(Some((*agent).clone())),
            Err(failure) if context.flags().agent.is_some() => return Err(failure),
            // The default is from another cluster: a local one that is gone, perhaps.
            Err(_) => {}
        }
    }
    let fits = |name: &str| wanted.name.as_deref().is_none_or(|wanted| wanted == name);
    let several = |names: Vec<&str>| Error::SeveralAgents { names: names.join(", ") };
    let here: Vec<&Agent> = known.iter().filter(|it| it.name.as_deref().is_some_and(fits)).collect();
    match here.as_slice() {
        [one] => return Ok(Some((*one).clone())),
        [] => {}
        more => return Err(several(more.iter().filter_map(|it| it.name.as_deref()).collect()).into()),
    }
    let Some(wallet) = wallet else { return Ok(None) };
    let owned = operator.owned(wallet).await?;
    let fitting: Vec<_> = owned.iter().filter(|(_, name)| fits(name)).collect();
    match fitting.as_slice() {
        [] => Ok(None),
        [(mint, name)] => Ok(Some(Agent { name: Some(name.clone()), mint: *mint })),
        more => Err(several(more.iter().map(|(_, name)| name.as_str()).collect()).into()),
    }
}

/// Refuses an agent that this wallet cannot set up.
fn refuse_hopeless(setup: &Setup, agent: Option<&Agent>) -> Result<()> {
    let (Some(status), Some(agent)) = (&setup.agent, agent) else { return Ok(()) };
    if !status.registered {
        // Never registered a second time because a node lags.
        return Err(Failure::from(ChainError::NotAnAgent { mint: agent.mint, registry: "SATI" }));
    }
    if status.stake.as_ref().is_some_and(|stake| stake.unlock_queued) {
        return Err(Error::Leaving { agent: agent.shown() }.into());
    }
    match setup.missing.first() {
        Some(Step::TakeOver) => Err(Error::HeldByAnother { agent: agent.shown() }.into()),
        _ => Ok(()),
    }
}

/// Makes the key, or takes that of fix, where there is none.
fn make_key(context: &Context, plan: &mut Plan) -> Result<()> {
    if context.key_if_any()?.is_some() {
        return Ok(());
    }
    let mut import = None;
    if let Some(path) = init::key_of_fix(context)? {
        let path = files::shown(&path);
        tell(context, &format!("\nkey: fix has one in {path}; with the same both act as one party"));
        if agrees(context, "Use it?")? {
            import = Some(path);
        }
    }
    if import.is_none() {
        let target = files::shown(&init::target(context)?);
        let why = "whoever has the file controls your money, so back it up (zx1 key backup)";
        tell(context, &format!("\nkey: a new one in {target}; {why}"));
        if !agrees(context, "Make it?")? {
            return Err(Error::Declined.into());
        }
    }
    let made = init::make(import.clone(), import.is_none(), context)?;
    let how = if import.is_some() { "the key of fix" } else { "a new key" };
    tell(context, &format!("Done: {how} in {}, address {}.", made.keypair, made.address));
    plan.set("key", State::Made, format!("{} in {}", made.address, made.keypair));
    plan.wallet = Some(made.address);
    Ok(())
}

/// Shows what an interrupted run had sent, then lets the outbox forget it.
async fn show_settled(context: &Context, settled: Vec<Sent>) -> Result<()> {
    for sent in settled {
        show(context, &sent).await?;
    }
    Ok(())
}

async fn show(context: &Context, sent: &Sent) -> Result<()> {
    match sent.status {
        zx1_operator::Status::Confirmed => tell(context, "Done."),
        _ => tell(context, &format!("Done by an earlier run, and not paid again: {}.", sent.title)),
    }
    if let (true, Some(signature)) = (context.flags().verbose > 0, &sent.signature) {
        tell(context, &format!("  {signature}"));
    }
    Ok(sent.acknowledge().await?)
}

/// Everything that the chain has to show.
async fn on_chain(context: &Context, wanted: &Wanted, plan: &mut Plan) -> Result<Agent> {
    let key = context.key()?;
    let wallet = key.address();
    let operator = context.spender().await?;
    remember_cluster(context)?;
    let registered = operator.settle_registrations(wallet).await?;
    let interrupted = !registered.is_empty();
    show_settled(context, registered).await?;
    let mut agent = agent_here(context, &operator, Some(wallet), wanted).await?;
    if let Some(agent) = &agent {
        show_settled(context, operator.settle_setup(agent.mint).await?).await?;
    }
    let setup = operator.setup(Some(wallet), agent.as_ref(), true).await?;
    refuse_hopeless(&setup, agent.as_ref())?;
    money(context, &operator, &key, setup, agent.as_ref(), plan).await?;
    let agent = match agent.take() {
        Some(agent) => {
            if let (true, Some(name)) = (interrupted, &agent.name) {
                request(wanted, name).write_file(&usual_file(context.home()?, name))?;
            }
            remember_agent(context, &operator, &agent)?;
            agent
        }
        None => enroll(context, &operator, &key, wanted, plan).await?,
    };
    // Confirmations name the agent from here on.
    let operator = context.operator_on(operator.chain)?;
    (plan.agent, plan.name) =
        (Some(agent.mint.to_string()), agent.name.clone().unwrap_or_else(|| agent.mint.to_string()));
    let setup = operator.setup(Some(wallet), Some(&agent), true).await?;
    for step in &setup.missing {
        let Some(name) = plan::line_of(step) else { continue };
        tell(context, &format!("\n{name}: {}", plan::price(step, &plan.name)));
        take(context, (&operator, &agent, &key), step).await?;
        plan.set(name, State::Made, plan::price(step, &plan.name));
    }
    let setup = operator.setup(Some(wallet), Some(&agent), true).await?;
    for step in ON_CHAIN {
        // What an interrupted run had sent is done, too.
        let made = plan.state(step) == State::Made;
        let left = setup.missing.iter().any(|missing| plan::line_of(missing) == Some(step));
        let state = if left {
            State::Due
        } else if made {
            State::Made
        } else {
            State::Done
        };
        plan.set(step, state, plan::done(step, &setup));
    }
    let state = if plan.state("money") == State::Made { State::Made } else { State::Done };
    plan.set("money", state, plan::money(&setup));
    Ok(agent)
}

/// What --url names becomes the setting, so that the commands that follow go on there.
fn remember_cluster(context: &Context) -> Result<()> {
    let Some(url) = context.flags().url.clone() else { return Ok(()) };
    context.update_config(|config| {
        config.url = Some(url);
        Ok(())
    })
}

/// An agent that the chain knows and the configuration does not, and the default where there are several.
fn remember_agent(context: &Context, operator: &Operator, agent: &Agent) -> Result<()> {
    let known = context.known_here(&operator.chain)?;
    let name = agent.name.clone().unwrap_or_else(|| agent.mint.to_string());
    if !known.iter().any(|known| known.mint == agent.mint) {
        register::remember(context, &operator.chain, &name, agent.mint, "")?;
    }
    context.update_config(|config| {
        let mint = agent.mint.to_string();
        let is_default =
            |named: &str| named == mint || config.agents.get(named).is_some_and(|entry| entry.mint == mint);
        if config.agents.len() > 1 && !config.agent.as_deref().is_some_and(is_default) {
            config.agent = Some(name);
        }
        Ok(())
    })
}

/// Money for what is missing: play money where there is some, else a refusal that says how much.
async fn money(
    context: &Context,
    operator: &Operator,
    key: &Key,
    setup: Setup,
    agent: Option<&Agent>,
    plan: &mut Plan,
) -> Result<()> {
    if setup.is_affordable() {
        return Ok(());
    }
    let wallet = key.address();
    let local = faucet::is_here(&operator.chain);
    let mut found = setup;
    let mut why = None;
    if local && agrees(context, &format!("\nTake {} of play money?", faucet::offer(&found)))? {
        why = faucet::fund(&wallet, &found).err();
        found = operator.setup(Some(wallet), agent, true).await?;
        if found.is_affordable() {
            tell(context, &format!("Done: the wallet has {}.", plan::money(&found)));
            plan.set("money", State::Made, plan::money(&found));
            return Ok(());
        }
    }
    let needs = Cost { usdc: found.cost.micro_usdc, lamports: found.cost.lamports };
    let refused = Error::Underfunded {
        wallet: wallet.to_string(),
        has: plan::money(&found),
        needs: format!("about {needs}"),
    };
    let refused = Failure::from(refused);
    Err(match (local, why) {
        (true, Some(why)) => refused.next(format!(
            "zx1-localnet {}, which failed here: {}",
            faucet::command(&wallet, &found).join(" "),
            why.message
        )),
        (true, None) => refused.next(format!("zx1-localnet {}", faucet::command(&wallet, &found).join(" "))),
        (false, _) => refused,
    })
}

async fn enroll(
    context: &Context,
    operator: &Operator,
    key: &Key,
    wanted: &Wanted,
    plan: &mut Plan,
) -> Result<Agent> {
    let name = wanted.name.clone().unwrap_or_else(|| default_name(&key.address()));
    tell(context, &format!("\nagent: {}", plan::price(&Step::Register, &name)));
    let request = request(wanted, &name);
    let file = usual_file(context.home()?, &name);
    let enrolled = register::enroll(context, (operator, key), &request, &name, &file).await?;
    let enrolled = enrolled.ok_or(Error::Declined)?;
    show(context, &enrolled.sent).await?;
    plan.set("agent", State::Made, enrolled.agent.to_string());
    let agent = Agent { name: Some(name), mint: enrolled.agent };
    remember_agent(context, operator, &agent)?;
    Ok(agent)
}

/// What is registered, the same in each run.
fn request(wanted: &Wanted, name: &str) -> Request {
    let (name, symbol, uri) = (name.to_owned(), "ZX1".to_owned(), wanted.uri.clone());
    Request { name, symbol, uri, ..Request::default() }
}

/// Carries a step out.
async fn take(
    context: &Context,
    (operator, agent, key): (&Operator, &Agent, &Key),
    step: &Step,
) -> Result<()> {
    let sent = match step {
        Step::ListKeys => return list_keys(context, (operator, agent, key)).await,
        Step::LockStake { micro_usdc } => {
            let attempt = operator.change_stake(agent, key, Change::Lock(*micro_usdc)).await?;
            tx::done(context, attempt)?.map(|changed| changed.sent)
        }
        Step::PayLease { epochs, .. } => {
            let epochs = u32::try_from(*epochs).unwrap_or(u32::MAX);
            let attempt = operator.change_lease(agent, key, Some(epochs)).await?;
            tx::done(context, attempt)?.map(|changed| changed.sent)
        }
        Step::OpenBatches => {
            tx::done(context, operator.open_head(agent, key).await?)?.map(|opened| opened.sent)
        }
        _ => None,
    };
    match sent {
        Some(sent) => show(context, &sent).await,
        None => Ok(()),
    }
}

/// Lists the keys of the settings with the scopes that they are for; usually all are the wallet.
async fn list_keys(context: &Context, (operator, agent, owner): (&Operator, &Agent, &Key)) -> Result<()> {
    let settings = context.settings()?;
    let uses = [
        (&settings.batch_key.value, Scopes::PAY),
        (&settings.batch_key.value, Scopes::BATCH),
        (&settings.deal_key.value, Scopes::DEAL),
        (&settings.peer_key.value, Scopes::PEER),
    ];
    let mut wanted: BTreeMap<Address, (Key, u8)> = BTreeMap::new();
    for (path, scope) in uses {
        let key = Key::read(path)?;
        let (_, scopes) = wanted.entry(key.address()).or_insert((key, 0));
        *scopes |= scope.0;
    }
    let listed = operator.keys(agent).await?.keys;
    for (address, (key, scopes)) in wanted {
        let stands = |standing| matches!(standing, Standing::Live | Standing::Notice);
        if listed.iter().any(|it| it.key == address.to_string() && stands(it.standing)) {
            continue;
        }
        let attempt = operator.add_key(agent, owner, &key, Scopes(scopes), false).await?;
        if let Some(changed) = tx::done(context, attempt)? {
            show(context, &changed.sent).await?;
        }
    }
    Ok(())
}

fn keeper_line(context: &Context, wanted: &Wanted, agent: Option<&Agent>) -> Result<Line> {
    let step = "keeper";
    if wanted.keeper == Service::Leave {
        return Ok(Line { step, state: State::Skipped, what: steps::KEEP.to_owned() });
    }
    let what = format!("as a service, {}: {}", wanted.caps.in_words(), files::shown(&service::path()?));
    let written = match agent {
        Some(agent) => service::is_written(&service::unit(context, agent, wanted.caps)?)?,
        None => false,
    };
    Ok(Line { step, state: if written { State::Done } else { State::Due }, what })
}

/// Writes the keeper's unit and starts it, or says how to.
fn keeper(context: &Context, wanted: &Wanted, agent: &Agent, plan: &mut Plan) -> Result<()> {
    plan.next = steps::KEEP.to_owned();
    if wanted.keeper == Service::Leave {
        return Ok(());
    }
    let text = service::unit(context, agent, wanted.caps)?;
    let path = service::path()?;
    if wanted.keeper == Service::Print {
        plan.unit = Some(text);
        plan.set("keeper", State::Made, "its unit is printed".to_owned());
        plan.next =
            format!("systemctl --user enable --now {}, once its unit is {}", service::UNIT, path.display());
        return Ok(());
    }
    let by_hand = format!(
        "zx1 keeper run --cap {}, in a terminal that stays open: systemd does not run here",
        crate::amount::plain(wanted.caps.usdc)
    );
    let here = service::is_systemd_here();
    let followed = if here { "systemctl --user status zx1-keeper".to_owned() } else { by_hand };
    if service::is_written(&text)? {
        plan.next = followed;
        return Ok(());
    }
    let words = wanted.caps.in_words();
    tell(context, &format!("\nkeeper: it acts for you and does not ask again; it pays {words}"));
    tell(context, &format!("Its unit: {}", files::shown(&path)));
    if !agrees(context, if here { "Write it and start it?" } else { "Write it?" })? {
        plan.set("keeper", State::Skipped, steps::KEEP.to_owned());
        return Ok(());
    }
    service::write(&text, agent)?;
    plan.set("keeper", State::Made, files::shown(&path));
    if here {
        service::start()?;
    }
    plan.next = followed;
    Ok(())
}
