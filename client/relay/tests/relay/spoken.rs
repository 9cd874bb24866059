//! What clients write is what the relay reads.

use proptest::option::of;
use proptest::prelude::*;
use zx1_relay_rules::AgentId;
use zx1_relay_rules::client::{Admin, Frame, Presence, Query, Skill, Target};
use zx1_relay_rules::json::Value;
use zx1_relay_rules::signing::Terms;

pub(crate) fn agent() -> impl Strategy<Value = AgentId> {
    "@[A-Za-z0-9]{1,64}".prop_map(|text| AgentId::parse(&text, "to").unwrap())
}

fn channel() -> impl Strategy<Value = String> {
    "#[A-Za-z0-9_-]{1,31}"
}

fn text() -> impl Strategy<Value = String> {
    "(?s).{0,40}"
}

fn some_text() -> impl Strategy<Value = String> {
    "(?s).{1,40}"
}

fn stake() -> impl Strategy<Value = Option<f64>> {
    of((0u32..=1_000_000).prop_map(f64::from))
}

fn finite() -> impl Strategy<Value = f64> {
    any::<f64>().prop_filter("finite", |number| number.is_finite())
}

fn envelope() -> impl Strategy<Value = Option<String>> {
    of(Just("AAECAwQ=".to_owned()))
}

fn terms() -> impl Strategy<Value = (AgentId, Box<Terms>)> {
    let money = (of(finite()), of("[A-Z]{0,8}"), of(text()));
    let rest = (of(text()), of(0.0..=31_536_000.0f64), stake());
    let bound = (of(Just("https://h.example#0123456789abcdef".to_owned())), of("[0-9a-f]{32}"));
    (agent(), some_text(), money, rest, bound).prop_map(|(to, task, money, rest, bound)| {
        let terms = Terms {
            to: to.to_string(),
            task,
            amount: money.0,
            currency: money.1,
            payment_code: money.2,
            terms: rest.0,
            expires: rest.1,
            elo_stake: rest.2,
            contract: bound.0,
            conversation: bound.1,
        };
        (to, Box::new(terms))
    })
}

fn plain() -> impl Strategy<Value = Frame> {
    let target = prop_oneof![channel().prop_map(Target::Channel), agent().prop_map(Target::Agent)];
    prop_oneof![
        ("[A-Za-z0-9_-]{1,32}", of(text())).prop_map(|(name, pubkey)| Frame::Identify { name, pubkey }),
        (some_text(), some_text(), finite().prop_filter("not zero", |at| *at != 0.0)).prop_map(
            |(challenge_id, signature, timestamp)| Frame::VerifyIdentity {
                challenge_id,
                signature,
                timestamp
            }
        ),
        channel().prop_map(|channel| Frame::Join { channel }),
        channel().prop_map(|channel| Frame::Leave { channel }),
        (channel(), of("@[a-z0-9]{8}")).prop_map(|(channel, after)| Frame::ListAgents { channel, after }),
        Just(Frame::ListChannels),
        Just(Frame::Ping),
        (channel(), any::<bool>())
            .prop_map(|(channel, invite_only)| Frame::CreateChannel { channel, invite_only }),
        (channel(), agent()).prop_map(|(channel, agent)| Frame::Invite { channel, agent }),
        channel().prop_map(|channel| Frame::Typing { channel }),
        (target, some_text(), of(text())).prop_map(|(to, content, sig)| Frame::Msg { to, content, sig }),
        (agent(), text()).prop_map(|(to, content)| Frame::FileChunk { to, content }),
        (prop::sample::select(Presence::ALL.to_vec()), of(text()))
            .prop_map(|(status, status_text)| Frame::SetPresence { status, status_text }),
        "x[A-Za-z0-9_-]{0,23}".prop_map(|nick| Frame::SetNick { nick }),
        (agent(), "[0-9a-f]{16,128}").prop_map(|(target, nonce)| Frame::VerifyRequest { target, nonce }),
        (some_text(), some_text(), some_text()).prop_map(|(request_id, nonce, sig)| Frame::VerifyResponse {
            request_id,
            nonce,
            sig
        }),
    ]
}

fn about_proposals() -> impl Strategy<Value = Frame> {
    prop_oneof![
        (terms(), of(text()), of(text()), envelope()).prop_map(|((to, terms), sig, zx1_sig, envelope)| {
            Frame::Proposal { to, terms, sig, zx1_sig, envelope }
        }),
        (some_text(), of(text()), stake(), of(text()), envelope()).prop_map(
            |(proposal_id, payment_code, elo_stake, sig, envelope)| Frame::Accept {
                proposal_id,
                payment_code,
                elo_stake,
                sig,
                envelope
            }
        ),
        (some_text(), of(text()), of(text()), envelope()).prop_map(|(proposal_id, reason, sig, envelope)| {
            Frame::Reject { proposal_id, reason, sig, envelope }
        }),
        (some_text(), of(text()), of(text()), envelope()).prop_map(|(proposal_id, proof, sig, envelope)| {
            Frame::Complete { proposal_id, proof, sig, envelope }
        }),
        (some_text(), some_text(), of(text()), envelope()).prop_map(
            |(proposal_id, reason, sig, envelope)| { Frame::Dispute { proposal_id, reason, sig, envelope } }
        ),
    ]
}

fn about_skills() -> impl Strategy<Value = Frame> {
    let skill = (some_text(), of(finite())).prop_map(|(capability, rate)| {
        let value = Value::object([("capability", capability.as_str().into()), ("rate", rate.into())]);
        Skill { capability, value }
    });
    let query = (of(text()), of(finite()), of("[A-Z]{0,8}"), 1usize..=100)
        .prop_map(|(capability, max_rate, currency, limit)| Query { capability, max_rate, currency, limit });
    prop_oneof![
        (prop::collection::vec(skill, 1..5), of(text())).prop_map(|(skills, sig)| {
            let sent = Value::List(skills.iter().map(|skill| skill.value.clone()).collect());
            Frame::RegisterSkills { skills, sent, sig }
        }),
        (query, of(text())).prop_map(|(query, query_id)| {
            let sent = query.to_value();
            Frame::SearchSkills { query, sent, query_id }
        }),
    ]
}

fn of_admins() -> impl Strategy<Value = Frame> {
    let action = prop_oneof![
        (some_text(), of(text())).prop_map(|(pubkey, note)| Admin::Approve { pubkey, note }),
        some_text().prop_map(|pubkey| Admin::Revoke { pubkey: Some(pubkey), agent: None }),
        agent().prop_map(|agent| Admin::Revoke { pubkey: None, agent: Some(agent) }),
        Just(Admin::List),
        (agent(), of(text())).prop_map(|(agent, reason)| Admin::Kick { agent, reason }),
        (agent(), of(text())).prop_map(|(agent, reason)| Admin::Ban { agent, reason }),
        agent().prop_map(|agent| Admin::Unban { agent }),
        (some_text(), of(agent())).prop_map(|(proposal_id, winner)| Admin::Rule { proposal_id, winner }),
    ];
    (action, some_text()).prop_map(|(action, admin_key)| Frame::Admin { action, admin_key })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_frame_is_read_as_it_was_written(
        frame in prop_oneof![4 => plain(), 2 => about_proposals(), 1 => about_skills(), 2 => of_admins()]
    ) {
        prop_assert_eq!(Frame::parse(&frame.encode()).unwrap(), frame);
    }
}

#[test]
fn what_is_absent_is_left_out() {
    let frame = Frame::Identify { name: "a".into(), pubkey: None };
    assert_eq!(frame.encode(), r#"{"type":"IDENTIFY","name":"a"}"#);
    let frame = Frame::CreateChannel { channel: "#a".into(), invite_only: false };
    assert_eq!(frame.encode(), r##"{"type":"CREATE_CHANNEL","channel":"#a"}"##);
}
