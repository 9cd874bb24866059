//! Bodies, answers, events, and the bridge.

use zx1_market::chain::{Data, EntryType, Side};
use zx1_market::terms::CourtLimits;
use zx1_market::wire::*;
use zx1_market::*;

use crate::support::*;

fn text<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap()
}

#[test]
fn bodies_ignore_what_they_do_not_know_and_keep_entries_exact() {
    let entry = Entry::sign_json(
        EntryType::Fix,
        Data::Fix { fix: "true".into(), explanation: "x".into(), corrected_command: None }
            .to_json(&Default::default()),
        chain::Head::GENESIS,
        START,
        &agent(),
    );
    let body =
        format!(r#"{{"fix":"true","explanation":"x","_nonce":"7","chain_entry":{}}}"#, entry.canonical());
    let request: FixRequest = serde_json::from_str(&body).unwrap();
    let read = request.chain_entry.as_ref().unwrap();
    read.verify(chain::SignatureForm::Full).unwrap();
    assert_eq!(*read, entry);
    assert_eq!(
        request.data().unwrap(),
        Data::Fix { fix: "true".into(), explanation: "x".into(), corrected_command: None }
    );
    let json: Json = body.parse().unwrap();
    let check =
        |json: &Json, kinds: &[EntryType], who: &PartyKey| check_entry(json, &entry, kinds, &who.id());
    check(&json, &[EntryType::Fix], &agent()).unwrap();
    assert_eq!(code(check(&json, &[EntryType::Verify], &agent())), 9047);
    assert_eq!(code(check(&json, &[EntryType::Fix], &principal())), 9046);
    let other: Json = body.replacen("\"true\"", "\"false\"", 1).parse().unwrap();
    let refusal = check(&other, &[EntryType::Fix], &agent()).unwrap_err();
    assert_eq!((refusal.code(), refusal.detail()), (9045, "fix"));
    let foreign: Json = body.replacen("\"fix\"", "\"agent_pubkey\":\"fix_00\",\"fix\"", 1).parse().unwrap();
    assert_eq!(code(check(&foreign, &[EntryType::Fix], &agent())), 9045);
}

#[test]
fn requests_become_the_entries_of_their_calls() {
    let chat: ChatRequest =
        serde_json::from_str(r#"{"message":"hi","from_side":"agent","msg_type":"ask","pubkey":"x"}"#)
            .unwrap();
    assert_eq!(chat.data().unwrap(), Data::Ask { message: "hi".into() });
    let review = |action: &str| {
        let body: ReviewRequest = serde_json::from_str(&format!(r#"{{"action":"{action}"}}"#)).unwrap();
        body.data().unwrap().kind()
    };
    assert_eq!(review("accept"), EntryType::ReviewAccept);
    assert_eq!(review("reject"), EntryType::ReviewReject);
    assert_eq!(review("dispute"), EntryType::DisputeFiled);
    let judge_request = JudgeRequest { reexecution: None, ruling: None };
    assert_eq!(code(judge_request.data()), 9053);
    let post: PostRequest =
        serde_json::from_str(&format!(r#"{{"principal_pubkey":"{}"}}"#, principal().id())).unwrap();
    assert!(post.contract.is_none() && post.chain_entry.is_none());
}

#[test]
fn errors_have_the_shape_that_clients_know() {
    let head = chain::Head { seq: 7, hash: [0xab; 32] };
    let conflict = text(&ErrorBody::of(&Refusal::conflict(head)));
    let hash = "ab".repeat(32);
    let expected =
        format!(r#"{{"detail":{{"error":"chain_conflict","chain_head":"{hash}","seq":7}},"code":9050}}"#);
    assert_eq!(conflict, expected);
    let plain = ErrorBody::of(&Reason::NotParty.into());
    assert!(text(&plain).starts_with(r#"{"detail":"Only the contract's parties"#));
    let read: ErrorBody = serde_json::from_str(&conflict).unwrap();
    assert_eq!(text(&read), conflict);
}

#[test]
fn platform_info_carries_the_terms() {
    let info = PlatformInfo::new(&terms(), Stats::default());
    let json: Json = text(&info).parse().unwrap();
    for (name, value) in [
        ("min_bounty", "0.19"),
        ("judge_fee", "0.17"),
        ("min_inclusive_bond", "0.36"),
        ("platform_fee_rate", "0.1"),
        ("platform_fee_min", "0.002"),
        ("cancel_fee_rate", "0.2"),
        ("currency", "XNO"),
    ] {
        assert_eq!(json.get(name).and_then(Json::as_str), Some(value), "{name}");
    }
    let read: PlatformInfo = serde_json::from_str(&text(&info)).unwrap();
    assert_eq!(read.terms().unwrap(), terms());
    assert_eq!(Terms::from_json(&terms().to_json()).unwrap(), terms());
    let broken = PlatformInfo { platform_fee_rate: "0.00001".into(), ..info.clone() };
    assert_eq!(code(broken.terms()), 9028);
    assert_eq!(code(PlatformInfo { server_pubkey: None, ..info }.terms()), 9020);
}

/// What a fix can use before a court is known before anybody bonds, and no server can ask for a whole machine.
#[test]
fn the_terms_carry_what_a_court_gives_a_re_execution() {
    let mut own = terms();
    own.court =
        CourtLimits { reexecution: 600, memory_mib: 4_096, processes: 512, output_bytes: 65_536, runs: 2 };
    assert_eq!(PlatformInfo::new(&own, Stats::default()).terms().unwrap(), own);
    let chained = own.to_json();
    assert_eq!(
        chained.get("court").unwrap().canonical(),
        r#"{"memory_mib":4096,"output_bytes":65536,"processes":512,"reexecution":600,"runs":2}"#
    );
    assert_eq!(Terms::from_json(&chained).unwrap(), own);
    for court in [
        CourtLimits { reexecution: 0, ..own.court },
        CourtLimits { reexecution: 3_601, ..own.court },
        CourtLimits { memory_mib: 1 << 20, ..own.court },
        CourtLimits { processes: 1, ..own.court },
        CourtLimits { output_bytes: 0, ..own.court },
        CourtLimits { runs: 0, ..own.court },
    ] {
        assert_eq!(code(Terms { court, ..own.clone() }.check()), 9099, "{court:?}");
    }
}

#[test]
fn events_are_bare_objects_and_are_filtered() {
    let world = working();
    let events: Vec<SseEvent> = world
        .effects
        .iter()
        .filter_map(|e| if let case::Effect::Notify(notice) = e { Some(notice.clone().into()) } else { None })
        .collect();
    let id = world.case.id();
    let texts: Vec<String> = events.iter().map(text).collect();
    assert_eq!(
        texts,
        [
            format!(
                r#"{{"event":"contract_posted","contract_id":"{id}","status":"open","bounty":"0.5","command":"gcc foo.c"}}"#
            ),
            format!(
                r#"{{"event":"contract_accepted","contract_id":"{id}","status":"in_progress","agent":"{}"}}"#,
                agent().id()
            ),
        ]
    );
    assert!(events[0].passes(xno("0.5"), None) && !events[0].passes(xno("0.51"), None));
    assert!(events[1].passes(Raw::ZERO, None) && !events[1].passes(Raw(1), None));
    assert!(events[0].passes(Raw::ZERO, Some("open")) && !events[0].passes(Raw::ZERO, Some("canceled")));
    let mut world = verifying();
    world.verify(false).unwrap();
    assert!(
        world
            .effects
            .iter()
            .any(|e| matches!(e, case::Effect::Notify(e) if matches!(e.news, case::News::Retried { .. })))
    );
}

#[test]
fn answers_follow_the_case() {
    let mut world = working();
    world.fix().unwrap();
    assert_eq!(text(&StatusAnswer::fix(&world.case)), r#"{"status":"pending_verification"}"#);
    world.verify(false).unwrap();
    assert_eq!(StatusAnswer::verify(&world.case).status, "retry");
    for _ in 0..4 {
        world.fix().unwrap();
        world.verify(false).unwrap();
    }
    assert_eq!(StatusAnswer::verify(&world.case).status, "pending");
    world.dispute(Side::Agent).unwrap();
    let answer = DisputeAnswer::of(&world.case, world.now).unwrap();
    assert_eq!((answer.status.as_str(), answer.response_window, answer.level), ("awaiting_response", 30, 0));
    let status = DisputeStatus::of(&world.case, world.now);
    assert_eq!((status.status.as_str(), status.responded), ("awaiting_response", Some(false)));
    world.respond(Side::Principal).unwrap();
    world.rule(money::Outcome::Canceled).unwrap();
    let (Data::Ruling(ruling), _) = world.chained.last().unwrap().entry.read().unwrap() else { panic!() };
    let answer = RulingAnswer::of(&world.case, &ruling);
    assert!(answer.can_appeal && !answer.is_final);
    assert_eq!((answer.next_court, answer.next_fee), (Some(money::Court::Appeals), Some(Xno(xno("0.05")))));
    let view = ContractView::new(&world.case, world.transcript().entries, world.transcript().received_at);
    let saved = case::Transcript::parse(text(&view).as_bytes()).unwrap();
    assert!(case::replay(&saved).valid, "the answer of GET /contracts/{{id}} is a transcript");
    let read: ContractView = serde_json::from_str(&text(&view)).unwrap();
    assert_eq!(read, view);
    world.secs(120);
    assert_eq!(DisputeStatus::of(&world.case, world.now).status, "no_pending_dispute");
    assert!(RulingAnswer::of(&world.case, &ruling).is_final);
}

#[test]
fn a_deposit_is_asked_for_with_address_amount_and_link() {
    let world = World::new(&paid(), &terms());
    let wanted = world.case.deposit_wanted().unwrap();
    let answer = DepositAnswer::new(&wanted, address(7), NetworkId::NONE);
    assert_eq!(answer.uri, format!("nano:{}?amount=670000000000000000000000000000", address(7)));
    let read: DepositAnswer = serde_json::from_str(&text(&answer)).unwrap();
    assert_eq!(read, answer);
}

#[test]
fn who_may_read_a_transcript() {
    let world = working();
    assert!([principal(), agent(), judge(), server()].iter().all(|k| world.case.may_read(&k.id())));
    assert!(!world.case.may_read(&stranger().id()));
    let mut world = verifying();
    world.verify(true).unwrap();
    assert!(world.case.may_read(&stranger().id()));
    let private = builder().bounty(xno("0.5")).private().build(&terms()).unwrap();
    let mut world = open_with(&private);
    world.secs(30);
    assert!(world.case.state().is_terminal() && !world.case.may_read(&stranger().id()));
}

#[test]
fn the_bridge_hashes_domain_server_and_contract() {
    use sha3::Digest;
    let id: ContractId = "0123456789abcdef".parse().unwrap();
    let mut bytes = b"zx1/fix/v1".to_vec();
    bytes.extend(server().id().as_bytes());
    bytes.extend([0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef]);
    let hash = sha3::Keccak256::digest(&bytes);
    assert_eq!(bridge::conversation_id(&server().id(), &id)[..], hash[..16]);
    let numbers: Vec<u16> = EntryType::ALL.iter().filter_map(|k| bridge::message_type(*k)).collect();
    assert_eq!(numbers, [3, 5, 7, 11, 10]);
}
