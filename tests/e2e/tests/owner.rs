//! An owner's life through the command line: register, keys, stake, lease, leave. Every payment is
//! asserted to the micro-USDC.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use serde_json::Value;
use solana_address::Address;
use solana_signer::Signer as _;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::str::FromStr as _;
use zx1_e2e::{Fault, FaultProxy, Localnet, Zx1};

const USDC: u64 = 1_000_000;

/// What a wallet and the treasury hold, to see what a step took.
struct Purse<'a> {
    net: &'a Localnet,
    wallet: Address,
    treasury: Address,
}

impl<'a> Purse<'a> {
    fn new(net: &'a Localnet, wallet: Address) -> Self {
        Self { net, wallet, treasury: Address::from_str(&net.env().treasury).unwrap() }
    }

    fn both(&self) -> (u64, u64) {
        (self.net.usdc(&self.wallet), self.net.usdc(&self.treasury))
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}

fn register(zx1: &Zx1, name: &str) -> String {
    let made = zx1.json(["register", "--name", name, "--yes"]);
    assert_eq!(made["status"], "confirmed", "{made}");
    text(&made["agent"]).to_owned()
}

#[test]
fn an_agents_life_costs_exactly_what_it_should() {
    let net = Localnet::builder().start();
    let zx1 = Zx1::new(&net);
    let owner = net.wallet(0).pubkey();
    let purse = Purse::new(&net, owner);
    assert_eq!(purse.both(), (1_000 * USDC, 0));

    // Nothing is there yet, and doctor says what comes first.
    let sick = zx1.run(["--output", "json", "doctor"]);
    assert_eq!(sick.code, 1, "{sick}");
    let checks = sick.json();
    let check = |checks: &Value, name: &str| {
        let found = checks["checks"].as_array().unwrap().iter().find(|check| check["name"] == name).cloned();
        found.unwrap_or_else(|| panic!("no check {name}: {checks}"))
    };
    assert_eq!(check(&checks, "programs")["mark"], "ok", "{checks}");
    assert_eq!(check(&checks, "agent")["next"], "zx1 register --name NAME");

    let uri = "https://example.org/alice.json";
    let endpoint = "/ip4/203.0.113.7/tcp/4001";
    let made = zx1.json([
        "register",
        "--name",
        "alice",
        "--uri",
        uri,
        "--endpoint",
        endpoint,
        "--description",
        "fixes things",
        "--metadata",
        "kind=fixer",
        "--yes",
    ]);
    let agent = text(&made["agent"]).to_owned();
    assert_eq!((&made["status"], &made["member_number"]), (&"confirmed".into(), &1.into()), "{made}");
    let file: Value =
        serde_json::from_slice(&std::fs::read(text(&made["registration_file"])).unwrap()).unwrap();
    // The peer key's id ends the address.
    let service = &file["services"][0];
    let (address, peer) = text(&service["endpoint"]).split_once("/p2p/").unwrap();
    assert_eq!((&file["name"], &service["name"]), (&"alice".into(), &"zerox1-mesh".into()));
    assert_eq!((address, &peer[..8], &service["version"]), (endpoint, "12D3KooW", &"1".into()), "{service}");
    assert_eq!(purse.both(), (1_000 * USDC, 0));
    // The same name again would be another agent: refused.
    zx1.run(["register", "--name", "alice", "--yes"]).fails_with(7437);

    // Nobody signs for it yet. The wallet may list itself.
    let checks = zx1.run(["--output", "json", "doctor"]).json();
    assert_eq!(check(&checks, "keys")["next"], "zx1 keys add FILE --scopes pay,batch,deal,peer");
    let file = net.wallet_file(0);
    let listed = zx1.json(["keys", "add", file.to_str().unwrap(), "--scopes", "batch,deal,peer", "--yes"]);
    assert_eq!((&listed["keys"][0]["standing"], &listed["tenure"]["number"]), (&"live".into(), &1.into()));

    // A stake below the least is refused by the program, and nothing moves.
    zx1.run(["stake", "lock", "29.999999", "--yes"]).fails_with(6040);
    assert_eq!(purse.both(), (1_000 * USDC, 0));
    let locked = zx1.json(["stake", "lock", "30", "--yes"]);
    assert_eq!(locked["eras"][0]["stake_micro_usdc"], 30 * USDC, "{locked}");
    assert_eq!(purse.both(), (970 * USDC, 0));
    zx1.run(["stake", "lock", "0.000001", "--yes"]).ok();
    assert_eq!(zx1.json(["stake", "show"])["eras"][0]["stake_micro_usdc"], 30 * USDC + 1);
    assert_eq!(purse.both(), (970 * USDC - 1, 0));

    let paid = zx1.json(["lease", "pay", "--yes"]);
    assert_eq!(
        (&paid["lease"]["state"], &paid["lease"]["days_left"]),
        (&"active".into(), &0.into()),
        "{paid}"
    );
    assert_eq!(purse.both(), (969 * USDC - 1, USDC));
    zx1.run(["lease", "pay", "--epochs", "3", "--yes"]).ok();
    assert_eq!(zx1.json(["lease", "status"])["days_left"], 3);
    assert_eq!(purse.both(), (966 * USDC - 1, 4 * USDC));

    let status = zx1.json(["status"]);
    assert_eq!(status["usdc_micro_usdc"], 966 * USDC - 1);
    assert_eq!(
        (&status["agent"]["mint"], &status["agent"]["local_name"]),
        (&agent.as_str().into(), &"alice".into())
    );
    assert_eq!(
        (&status["agent"]["member_number"], &status["unfinished"]),
        (&1.into(), &serde_json::json!([]))
    );
    let opened = zx1.json(["batch", "open", "--yes"]);
    assert_eq!((&opened["first_epoch"], &opened["batches"]), (&status["epoch"], &0.into()), "{opened}");
    assert_eq!(zx1.json(["batch", "open", "--yes"])["status"], "nothing_to_do");
    let well = zx1.run(["--output", "json", "doctor"]).ok().json();
    for name in ["keys", "stake", "lease", "batch", "challenges", "asks"] {
        assert_eq!(check(&well, name)["mark"], "ok", "{name}: {well}");
    }

    // A live agent cannot take its stake out.
    zx1.run(["stake", "unlock", "--yes"]).fails_with(6012);
    zx1.run(["stake", "cancel", "--yes"]).fails_with(6043);
    zx1.run(["stake", "claim", "--yes"]).fails_with(6043);

    // Four unpaid days: deactivated. The way out takes two days.
    net.travel_epochs(7);
    let lease = zx1.json(["lease", "show"]);
    assert_eq!(
        (&lease["state"], &lease["due_micro_usdc"]),
        (&"deactivated".into(), &(4 * USDC).into()),
        "{lease}"
    );
    zx1.run(["lease", "tick", "--yes"]).ok();
    zx1.run(["stake", "unlock", "--yes"]).ok();
    zx1.run(["stake", "claim", "--yes"]).fails_with(6044);
    // Coming back: four days' lease, and the unlock is taken back.
    zx1.run(["stake", "cancel", "--yes"]).fails_with(6016);
    zx1.run(["lease", "pay", "--yes"]).ok();
    assert_eq!(purse.both(), (962 * USDC - 1, 8 * USDC));
    let stayed = zx1.json(["stake", "cancel", "--yes"]);
    assert_eq!(stayed["eras"][0]["unlock_queued"], false);

    net.travel_epochs(4);
    let queued = zx1.json(["stake", "unlock", "--yes"]);
    assert_eq!(queued["eras"][0]["unlock_queued"], true);
    net.travel_epochs(2);
    assert_eq!(zx1.json(["stake", "show"])["eras"][0]["claimable"], true);
    let claimed = zx1.json(["stake", "claim", "--yes"]);
    assert_eq!(claimed["eras"], serde_json::json!([]), "{claimed}");
    assert_eq!(purse.both(), (992 * USDC, 8 * USDC));
    zx1.run(["stake", "show"]).fails_with(7500);
}

#[test]
fn a_key_pays_until_it_is_ended() {
    let net = Localnet::builder().start();
    let zx1 = Zx1::new(&net);
    let agent = register(&zx1, "alice");
    let key = net.wallet(1).pubkey();
    let hot = Zx1::new(&net).keypair(net.wallet_file(1));
    let purse = Purse::new(&net, key);
    let (name, file) = (key.to_string(), net.wallet_file(1));
    let file = file.to_str().unwrap();
    let own = net.wallet_file(0);

    hot.run(["lease", "pay", "--agent", &agent, "--yes"]).fails_with(7017);
    zx1.run(["keys", "add", file, "--scopes", "pay,fly", "--yes"]).fails_with(7515);
    zx1.run(["keys", "add", own.to_str().unwrap(), "--scopes", "pay", "--sati", "--yes"]).fails_with(7501);
    zx1.run(["keys", "end", &name, "--yes"]).fails_with(7511);
    // Somebody else cannot list a key of his own.
    hot.run(["keys", "add", file, "--scopes", "pay", "--agent", &agent, "--yes"]).fails_with(7017);
    let added = zx1.json(["keys", "add", file, "--scopes", "pay", "--sati", "--yes"]);
    assert_eq!(
        (&added["keys"][0]["key"], &added["keys"][0]["scopes"]),
        (&name.as_str().into(), &"pay".into())
    );
    assert_eq!(
        (&added["keys"][0]["standing"], &added["delegations"][0]["valid"]),
        (&"live".into(), &true.into())
    );
    zx1.run(["keys", "add", file, "--scopes", "pay,batch", "--yes"]).fails_with(7510);
    hot.run(["lease", "pay", "--agent", &agent, "--yes"]).ok();
    assert_eq!(purse.both(), (999 * USDC, USDC));
    // It cannot touch the stake, and signs no batch.
    hot.run(["stake", "lock", "30", "--agent", &agent, "--yes"]).fails_with(7017);
    hot.run(["batch", "open", "--agent", &agent, "--yes"]).ok();
    net.travel_epochs(1);
    hot.run(["batch", "submit", "--agent", &agent, "--no-upload", "--yes"]).fails_with(7528);

    assert_eq!(zx1.json(["keys", "list"])["keys"].as_array().unwrap().len(), 1);
    zx1.run(["keys", "close", &name, "--yes"]).fails_with(6206);
    let ended = zx1.json(["keys", "end", &name, "--sati", "--yes"]);
    assert_eq!(
        (&ended["keys"][0]["standing"], &ended["keys"][0]["closable"]),
        (&"ended".into(), &true.into())
    );
    assert_eq!(ended["delegations"], serde_json::json!([]));
    hot.run(["lease", "pay", "--agent", &agent, "--yes"]).fails_with(6026);
    assert_eq!(zx1.json(["keys", "end", &name, "--yes"])["status"], "nothing_to_do");
    zx1.run(["keys", "add", file, "--scopes", "pay", "--yes"]).fails_with(7510);
    let closed = hot.json(["keys", "close", &name, "--agent", &agent, "--yes"]);
    assert_eq!(closed["keys"], serde_json::json!([]));
    hot.run(["lease", "pay", "--agent", &agent, "--yes"]).fails_with(7017);
    assert_eq!(purse.both(), (999 * USDC, USDC));
}

#[test]
fn what_only_looks_sends_nothing() {
    let net = Localnet::builder().start();
    let zx1 = Zx1::new(&net);
    let owner = net.wallet(0).pubkey();
    register(&zx1, "alice");
    let before = (net.usdc(&owner), net.lamports(&owner));

    let dry = zx1.json(["stake", "lock", "30", "--dry-run"]);
    assert_eq!(dry["status"], "dry_run", "{dry}");
    let moves = dry["summary"]["moves"].as_array().unwrap().iter();
    let usdc: Vec<&Value> = moves.filter(|moved| moved["unit"] == "micro-usdc").collect();
    assert_eq!((usdc.len(), &usdc[0]["amount"]), (1, &"30000000".into()), "{dry}");
    zx1.run(["stake", "lock", "29", "--dry-run"]).fails_with(6040);
    let printed = zx1.run(["stake", "lock", "30", "--print-tx"]).ok();
    let shown = zx1.json(["inspect", "tx", printed.stdout.trim()]);
    assert_eq!(shown["complete"], true, "{shown}");
    // Without a terminal and without --yes nobody agreed.
    zx1.run(["stake", "lock", "30"]).fails_with(7401);
    zx1.run(["register", "--name", "bob", "--soulbound", "--yes"]).fails_with(7409);
    assert_eq!((net.usdc(&owner), net.lamports(&owner)), before);
    assert_eq!(zx1.json(["status"])["unfinished"], serde_json::json!([]));
}

#[test]
fn a_transaction_is_made_here_signed_there_and_sent_once() {
    let net = Localnet::builder().start();
    let owner = net.wallet(0).pubkey();
    let online = Zx1::new(&net);
    register(&online, "alice");
    let blockhash = latest_blockhash(&net);

    // The machine that is online has only the address.
    let address = owner.to_string();
    let made = online.run([
        "--output",
        "json",
        "-k",
        &address,
        "stake",
        "lock",
        "30",
        "--sign-only",
        "--blockhash",
        &blockhash,
    ]);
    let made = made.ok();
    assert_eq!(made.json()["complete"], false, "{made}");
    // For people as the Solana command line prints it: address=signature.
    let signed = ["stake", "lock", "30", "--sign-only", "--blockhash", &blockhash];
    let signed = online.run(signed).ok().stdout;
    let line = signed.lines().find_map(|line| line.strip_prefix(&format!("{owner}="))).unwrap_or_default();
    assert!((86..=88).contains(&line.len()) && signed.contains(&blockhash), "{signed}");
    let unsigned = online.home().join("lock.json");
    std::fs::write(&unsigned, &made.stdout).unwrap();

    // The machine with the key has no network.
    let offline = Zx1::new(&net).url("http://127.0.0.1:1");
    let signed = online.home().join("signed.json");
    let (unsigned, signed) = (unsigned.to_str().unwrap(), signed.to_str().unwrap());
    offline.run(["tx", "sign", unsigned]).fails_with(7401);
    let done = offline.run(["tx", "sign", unsigned, "--file", signed, "--yes"]).ok();
    assert!(done.stderr.contains("Lock 30.000000 USDC of stake"), "{done}");
    online.run(["tx", "send", unsigned, "--yes"]).fails_with(7064);
    let sent = online.json(["tx", "send", signed, "--yes"]);
    assert_eq!(sent["status"], "confirmed", "{sent}");
    assert_eq!(net.usdc(&owner), 970 * USDC);
    let shown = online.json(["inspect", "tx", text(&sent["signature"])]);
    let names = [0, 1].map(|n: usize| text(&shown["events"][n]["name"]));
    assert_eq!(names, ["TenureOpened", "StakeLocked"], "{shown}");
    assert_eq!(shown["events"][1]["fields"]["lamports"], 30 * USDC);
    // The same bytes can land once only.
    let again = online.run(["tx", "send", signed, "--yes"]);
    assert_eq!((again.code, net.usdc(&owner)), (0, 970 * USDC), "{again}");

    // A blockhash that has expired: nothing can land any more, and it says so.
    let blockhash = latest_blockhash(&net);
    let late = online.home().join("late.json");
    let made = ["--output", "json", "stake", "lock", "31", "--sign-only", "--blockhash", &blockhash];
    std::fs::write(&late, online.run(made).ok().stdout).unwrap();
    net.travel_slots(1_000);
    let expired = online.run(["tx", "send", late.to_str().unwrap(), "--yes"]).fails_with(7061);
    assert!(expired.stderr.contains("expired before it landed"), "{expired}");
    assert_eq!(net.usdc(&owner), 970 * USDC);
}

fn latest_blockhash(net: &Localnet) -> String {
    let answer = net.rpc("getLatestBlockhash", serde_json::json!([])).unwrap();
    text(&answer["value"]["blockhash"]).to_owned()
}

#[test]
fn an_empty_wallet_is_told_what_it_lacks() {
    let net = Localnet::builder().start();
    let (_, file) = net.new_wallet(0, 0);
    let poor = Zx1::new(&net).keypair(&file);
    let refused = poor.run(["register", "--name", "poor", "--yes"]);
    let refused = refused.fails_with(7020);
    assert!(refused.stderr.contains("next: "), "{refused}");
    assert!(!poor.home().join("registrations").exists() && !poor.home().join("config.toml").exists());

    let (key, file) = net.new_wallet(1, 0);
    let zx1 = Zx1::new(&net).keypair(&file);
    register(&zx1, "nearly");
    let before = net.lamports(&key.pubkey());
    let refused = zx1.run(["stake", "lock", "30", "--yes"]);
    assert_eq!(refused.code, 1, "{refused}");
    let number = refused.number().unwrap();
    assert!((6000..7200).contains(&number) && refused.stderr.contains("next: "), "{refused}");
    assert_eq!(net.lamports(&key.pubkey()), before);
}

#[test]
fn an_agent_of_another_cluster_is_not_spent_for() {
    let (one, other) = (Localnet::builder().start(), Localnet::builder().start());
    let zx1 = Zx1::new(&one);
    register(&zx1, "alice");
    let elsewhere = zx1.clone().url(other.rpc_url()).keypair(other.wallet_file(0));
    for arguments in [&["stake", "lock", "30", "--yes"][..], &["lease", "pay", "--yes"], &["stake", "show"]] {
        elsewhere.run(arguments).fails_with(7438);
    }
    assert_eq!(other.usdc(&other.wallet(0).pubkey()), 1_000 * USDC);
}

#[test]
fn a_killed_command_run_again_pays_once() {
    let net = Localnet::builder().start();
    let owner = net.wallet(0).pubkey();
    let zx1 = Zx1::new(&net);
    register(&zx1, "alice");
    let proxy = FaultProxy::start(net.rpc_url());
    let slow = zx1.clone().url(proxy.url());
    // It is sent and lands, but the command never hears of it, and is killed while it waits.
    proxy.fail("getSignatureStatuses", 100, Fault::DropBefore);
    let mut running = slow.spawn(["stake", "lock", "30", "--yes"]);
    proxy.wait_for_calls("getSignatureStatuses", 1);
    running.kill9();
    zx1_e2e::wait_until("the transaction lands", || (net.usdc(&owner) == 970 * USDC).then_some(()));
    assert_eq!(zx1.json(["status"])["unfinished"].as_array().unwrap().len(), 1);

    let again = zx1.json(["stake", "lock", "30", "--yes"]);
    assert_eq!(
        (&again["status"], &again["eras"][0]["stake_micro_usdc"]),
        (&"already_done".into(), &(30 * USDC).into()),
        "{again}"
    );
    assert_eq!(net.usdc(&owner), 970 * USDC);
    assert_eq!(zx1.json(["status"])["unfinished"], serde_json::json!([]));
    // Once its result was shown, the same command is another intent.
    assert_eq!(zx1.json(["stake", "lock", "30", "--yes"])["status"], "confirmed");
    assert_eq!(net.usdc(&owner), 940 * USDC);
}

#[test]
fn a_registration_that_was_killed_is_found_again_and_remembered() {
    let net = Localnet::builder().start();
    let zx1 = Zx1::new(&net);
    let proxy = FaultProxy::start(net.rpc_url());
    proxy.fail("getSignatureStatuses", 100, Fault::DropBefore);
    let mut running = zx1.clone().url(proxy.url()).spawn(["register", "--name", "alice", "--yes"]);
    proxy.wait_for_calls("getSignatureStatuses", 1);
    running.kill9();
    let again = zx1.json(["register", "--name", "alice", "--yes"]);
    assert!(matches!(text(&again["status"]), "already_done" | "confirmed"), "{again}");
    assert_eq!(again["member_number"], 1, "{again}");
    let status = zx1.json(["status"]);
    assert_eq!(status["agent"]["mint"], again["agent"]);
    let registry = zx1.json(["inspect", "account", &net.env().sati_registry]);
    assert_eq!(registry["total_agents"], 1, "{registry}");
}

/// Runs the command on a terminal, with these keys typed.
fn on_a_terminal(zx1: &Zx1, arguments: &[&str], keys: &str) -> (i32, String) {
    let inner = zx1.command(arguments);
    let quoted = |text: &std::ffi::OsStr| format!("'{}'", text.to_str().unwrap());
    let line: Vec<String> =
        std::iter::once(inner.get_program()).chain(inner.get_args()).map(quoted).collect();
    let mut script = Command::new("script");
    script.args(["-qec", &line.join(" "), "/dev/null"]).env_clear();
    script.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let piped = script.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(keys.as_bytes()).unwrap();
    // Kept open: its end would hang the terminal up.
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn a_person_sees_the_transaction_and_says_yes_or_no() {
    let net = Localnet::builder().start();
    let owner = net.wallet(0).pubkey();
    let zx1 = Zx1::new(&net);
    let mint = register(&zx1, "alice");
    let (code, seen) = on_a_terminal(&zx1, &["stake", "lock", "30"], "n\n");
    assert_eq!(code, 1, "{seen}");
    // First what it costs and what comes back, then what it does; nobody has to compare addresses.
    for words in [
        "You pay 30 USDC + 0.00",
        "30.000000 USDC    stake; comes back once the lease has run out",
        "rent of the stake account; comes back with the stake",
        "What it does, on ",
        "agent  alice",
        "Send it? [y/N]",
        "error 7402",
    ] {
        assert!(seen.contains(words), "{words}: {seen}");
    }
    for address in [mint.as_str(), &owner.to_string()] {
        assert!(!seen.contains(address), "{address}: {seen}");
    }
    let (code, seen) = on_a_terminal(&zx1, &["stake", "lock", "30", "--verbose"], "n\n");
    assert!(code == 1 && seen.contains(&mint) && seen.contains(&format!("paid by   {owner}")), "{seen}");
    assert_eq!(net.usdc(&owner), 1_000 * USDC);
    let (code, seen) = on_a_terminal(&zx1, &["stake", "lock", "30"], "y\n");
    assert_eq!(code, 0, "{seen}");
    assert_eq!(net.usdc(&owner), 970 * USDC);

    // --yes never answers for a soulbound agent; only its name does.
    let soulbound = ["register", "--name", "bound", "--soulbound", "--yes"];
    let (code, seen) = on_a_terminal(&zx1, &soulbound, "yes\n");
    assert!(code == 1 && seen.contains("error 7402"), "{seen}");
    let (code, seen) = on_a_terminal(&zx1, &soulbound, "bound\n");
    assert_eq!(code, 0, "{seen}");
    assert_eq!(zx1.json(["--agent", "bound", "status"])["agent"]["soulbound"], true);
}
