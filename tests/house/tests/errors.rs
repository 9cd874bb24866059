//! Every error of this repository has a number of its own, and `docs/errors.md` lists them all.
//!
//! `ERRORS=overwrite cargo nextest run -p zx1-house-tests --test errors` writes the document anew.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use zx1_coded::Row;
use zx1_house_tests::root;

/// The crates with their types of errors, in the order of their numbers.
fn lists() -> Vec<(&'static str, Vec<Row>)> {
    type Words = [(&'static str, &'static str)];
    let cli = |all: &[(u32, &'static str)], texts: &Words, words: &Words| -> Vec<Row> {
        let rows = all.iter().zip(texts).map(|(&(code, name), (message, _))| {
            let said = words.iter().fold((*message).to_owned(), |said, (word, own)| said.replace(word, own));
            Row { code, name, message: said.leak(), transient: Some(false) }
        });
        rows.collect()
    };
    let programs = zx1_interface::Error::ALL.iter().map(|error| Row {
        code: error.code(),
        name: error.name(),
        message: error.message(),
        transient: Some(false),
    });
    vec![
        ("programs", programs.collect()),
        ("zx1-chain", [zx1_chain::rpc::ChainError::ROWS, zx1_chain::rpc::Foreign::ROWS].concat()),
        ("zx1-log", zx1_log::LogError::ROWS.to_vec()),
        ("zx1-operator", [zx1_operator::Refusal::ROWS, zx1_operator::qa::QaError::ROWS].concat()),
        (
            "zx1-protocol",
            [
                zx1_protocol::validate::Reason::ROWS,
                zx1_protocol::draft::DraftError::ROWS,
                zx1_protocol::reputation::ReputationError::ROWS,
                zx1_protocol::behavior_batch::BatchFormatError::ROWS,
                zx1_protocol::bundle::BundleError::ROWS,
                zx1_protocol::behavior_batch::BuildError::ROWS,
                zx1_protocol::finder::FinderError::ROWS,
                zx1_protocol::nonce::NonceError::ROWS,
                zx1_protocol::beacon::BeaconError::ROWS,
                zx1_protocol::signature::KeyError::ROWS,
            ]
            .concat(),
        ),
        (
            "zx1-mesh",
            [
                zx1_mesh::Reason::ROWS,
                zx1_mesh::conversation::ConversationError::ROWS,
                zx1_mesh::notary::NotaryError::ROWS,
                zx1_mesh::outbox::OutboxError::ROWS,
                zx1_mesh::node::NodeError::ROWS,
            ]
            .concat(),
        ),
        ("zx1-relay-rules", zx1_relay_rules::RelayError::ROWS.to_vec()),
        ("zx1-relay-client", zx1_relay_client::ClientError::ROWS.to_vec()),
        (
            "zx1-qa",
            [
                zx1_qa::repro::ReproError::ROWS,
                zx1_qa::finding::FindingError::ROWS,
                zx1_qa::dial::DialError::ROWS,
                zx1_qa::budget::BudgetError::ROWS,
                zx1_qa::patch::PatchError::ROWS,
                zx1_qa::gate::GateError::ROWS,
                zx1_qa::journal::JournalError::ROWS,
            ]
            .concat(),
        ),
        ("zx1-capsule", zx1_capsule::CapsuleError::ROWS.to_vec()),
        (
            "zx1-cli",
            cli(zx1_cli::errors::Error::ALL, zx1_cli::errors::Error::TEXTS, zx1_cli::errors::Error::WORDS),
        ),
        (
            "nano-escrow",
            [
                nano_escrow::AmountError::ROWS,
                nano_escrow::AddressError::ROWS,
                nano_escrow::HexError::ROWS,
                nano_escrow::KeyError::ROWS,
                nano_escrow::Error::ROWS,
                nano_escrow::work::WorkError::ROWS,
                nano_escrow::node::NodeError::ROWS,
                nano_escrow::binding::BindingError::ROWS,
                nano_escrow::journal::JournalError::ROWS,
                nano_escrow::escrow::EscrowError::ROWS,
            ]
            .concat(),
        ),
        ("nano-cli", nano_cli::errors::Error::ROWS.to_vec()),
        ("nano-devnet", nano_devnet::DevnetError::ROWS.to_vec()),
        ("zx1-market", zx1_market::Reason::ROWS.to_vec()),
        ("zx1-whitelist", zx1_whitelist::Refusal::ROWS.to_vec()),
        ("zx1-sandbox", zx1_sandbox::SandboxError::ROWS.to_vec()),
        ("zx1-fixer", zx1_fixer::rules::Decline::ROWS.to_vec()),
        (
            "zx1-model",
            [
                zx1_model::ModelError::ROWS,
                zx1_model::ConfigError::ROWS,
                zx1_model::NameError::ROWS,
                zx1_model::budget::BudgetError::ROWS,
                zx1_model::prompt::PromptError::ROWS,
                zx1_model::answer::AnswerError::ROWS,
            ]
            .concat(),
        ),
        ("zx1-market-client", zx1_market_client::ClientError::ROWS.to_vec()),
        (
            "zx1-agent",
            [
                zx1_agent::judge::CourtError::ROWS,
                zx1_agent::judge::RuleError::ROWS,
                zx1_agent::worker::WorkError::ROWS,
                zx1_agent::bridge::BridgeError::ROWS,
            ]
            .concat(),
        ),
        ("zx1-principal", zx1_principal::Refusal::ROWS.to_vec()),
        (
            "zx1-market-server",
            [zx1_market_server::store::StoreError::ROWS, zx1_market_server::Error::ROWS].concat(),
        ),
        (
            "fix-cli",
            cli(fix_cli::errors::Error::ALL, fix_cli::errors::Error::TEXTS, fix_cli::errors::Error::WORDS),
        ),
        ("zx1-indexer", [zx1_indexer::store::StoreError::ROWS, zx1_indexer::Error::ROWS].concat()),
        ("zx1-server", zx1_server::bus::BusError::ROWS.to_vec()),
        ("zx1-sponsor", zx1_sponsor::Error::ROWS.to_vec()),
        ("zx1-relay", [zx1_relay::store::StoreError::ROWS, zx1_relay::Error::ROWS].concat()),
        ("zx1-node", zx1_node::Error::ROWS.to_vec()),
    ]
}

#[test]
fn no_number_means_two_things() {
    let mut seen = BTreeMap::new();
    let mut twice = Vec::new();
    for (crate_name, rows) in lists() {
        assert!(!rows.is_empty(), "{crate_name}");
        for row in rows {
            if let Some(other) = seen.insert(row.code, (crate_name, row.name)) {
                twice.push(format!("{}: {crate_name}'s {} and {other:?}", row.code, row.name));
            }
        }
    }
    assert_eq!(twice, Vec::<String>::new());
    assert!(seen.len() > 500, "{} errors", seen.len());
}

#[test]
fn a_name_is_one_word_in_camel_case_and_a_message_is_there() {
    for (crate_name, rows) in lists() {
        for row in rows {
            let camel =
                row.name.starts_with(char::is_uppercase) && row.name.chars().all(char::is_alphanumeric);
            assert!(camel && !row.message.is_empty(), "{crate_name}: {row:?}");
        }
    }
}

#[test]
fn no_message_of_a_library_names_a_command_line() {
    let words = ["`zx1 ", "`fix ", "sudo ", " --", "(--", "zx1-localnet "];
    let mut wrong = Vec::new();
    for (crate_name, rows) in lists() {
        // These are command lines.
        if ["zx1-cli", "fix-cli", "nano-cli"].contains(&crate_name) {
            continue;
        }
        for row in rows {
            for word in words.iter().filter(|word| row.message.contains(**word)) {
                wrong.push(format!("{} {crate_name}: '{word}' in {}", row.code, row.message));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn the_document_lists_every_error_as_it_is() {
    let mut text = "# Errors\n\n\
        Every error has a number that is used once and never again. `{…}` stands for a value. *Retry* says \
        whether the same call can succeed later although nobody changes anything: yes, no, or `depends` on the \
        values. Command lines add the next step (`cli/*/src/next.rs`).\n\n\
        This page is made from the code: `ERRORS=overwrite cargo nextest run -p zx1-house-tests --test errors`.\n"
        .to_owned();
    for (crate_name, mut rows) in lists() {
        rows.sort_by_key(|row| row.code);
        write!(text, "\n## {crate_name}\n\n| number | name | message | retry |\n|---|---|---|---|\n")
            .unwrap();
        for row in rows {
            let retry = match row.transient {
                Some(true) => "yes",
                Some(false) => "no",
                None => "depends",
            };
            let message = row.message.replace('|', "\\|").replace('\n', " ");
            writeln!(text, "| {} | {} | {message} | {retry} |", row.code, row.name).unwrap();
        }
    }
    let path = root().join("docs/errors.md");
    if std::env::var_os("ERRORS").is_some_and(|value| value == "overwrite") {
        std::fs::write(&path, &text).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == text, "docs/errors.md is out of date; see the head of this file");
}
