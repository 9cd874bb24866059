//! The contract's shape and bounds: each violation has its number.

use zx1_market::contract::{
    Capabilities, Corrected, Environment, InputFile, Limit, Run, Scope, Step, Unmet, Verification,
    spam_reason, unmet,
};
use zx1_market::*;

use crate::support::*;

/// The paid contract's text with one piece replaced, read and checked.
fn changed(from: &str, to: &str) -> Result<Contract> {
    let text = paid().json().canonical();
    assert!(text.contains(from), "{from} is not in {text}");
    let contract = Contract::read(&text.replacen(from, to, 1).parse().unwrap())?;
    contract.check(&terms())?;
    Ok(contract)
}

#[test]
fn the_specs_example_is_read() {
    let text = r#"{"task":{"command":"gcc foo.c","error":"foo.c:12: undefined","type":"compile_error"},
        "environment":{"os":"Linux","arch":"aarch64","package_managers":["apt","pip3"]},
        "capabilities":{"sudo":{"available":false},"network":{"available":true,"scope":["packages"]},
        "docker":{"available":false}},
        "execution":{"mode":"supervised","max_attempts":5,"investigation_rounds":5,"investigation_rate":5,
        "timeout":300,"review_window":7200,"sandbox":true},
        "escrow":{"bounty":"0.50","currency":"XNO","chain":"nano"},
        "terms":{"cancellation":{"grace_period":30}},
        "judge":{"pubkey":"SERVER","fee":"0.17"},
        "verification":[{"method":"exit_code","expected":0}]}"#;
    let json: Json = text.replace("SERVER", &server().id().to_string()).parse().unwrap();
    let contract = Contract::read(&json).unwrap();
    contract.check(&terms()).unwrap();
    assert_eq!(contract.bounty, xno("0.5"));
    assert_eq!(contract.capabilities.network, Some(vec![Scope::Packages]));
    assert_eq!(contract.json(), &json);
    assert!(contract.is_machine_verifiable() && !contract.is_free() && !contract.is_autonomous());
    let free = text.replace("SERVER", "").replace("0.50", "0");
    let free = Contract::read(&free.parse().unwrap()).unwrap();
    free.check(&terms()).unwrap();
    assert!(free.is_free());
}

#[test]
fn what_the_builder_builds_is_read_back() {
    let contract = builder()
        .kind("compile_error")
        .bounty(xno("1"))
        .autonomous()
        .private()
        .environment(Environment { os: "Linux".into(), shell: "bash".into(), ..Default::default() })
        .capabilities(Capabilities { sudo: true, network: Some(vec![Scope::All]), docker: false })
        .input(InputFile { path: "src/a.c".into(), content: b"int main;".to_vec(), executable: false })
        .input(InputFile { path: "bin".into(), content: vec![0xff, 0], executable: true })
        .verification(Verification::ExitCode { expected: 3 })
        .verification(Verification::OutputMatch { pattern: "^ok$".into() })
        .verification(Verification::Principal)
        .build(&terms())
        .unwrap();
    assert_eq!(Contract::read(contract.json()).unwrap(), contract);
    assert_eq!(contract.task.inputs[1].content, [0xff, 0]);
    assert!(contract.private && contract.is_autonomous() && !contract.is_machine_verifiable());
    let regex = contract.verification[1].regex().unwrap().unwrap();
    assert!(regex.is_match("ok") && !regex.is_match("nok"));
    let text = serde_json::to_string(&contract).unwrap();
    assert_eq!(serde_json::from_str::<Contract>(&text).unwrap(), contract);
    assert_eq!(code(Contract::builder(" ", "").build(&terms())), 9084);
}

#[test]
fn every_bound_holds_on_both_sides() {
    let bounty = |amount: &str| code(changed("\"bounty\":\"0.5\"", &format!("\"bounty\":\"{amount}\"")));
    assert_eq!(bounty("0.189999"), 9062);
    assert_eq!(bounty("100.000001"), 9063);
    for good in ["0.19", "100"] {
        changed("\"bounty\":\"0.5\"", &format!("\"bounty\":\"{good}\"")).unwrap();
    }
    for bad in ["0,5", "-1", "1e1", "", "0x1", "1 "] {
        assert_eq!(bounty(bad), 9028, "{bad}");
    }
    assert_eq!(code(changed("\"bounty\":\"0.5\"", "\"bounty\":0.5")), 9023);
    let number = |name: &str, default: u32, value: &str| {
        changed(&format!("\"{name}\":{default}"), &format!("\"{name}\":{value}")).map(|_| ())
    };
    for (name, default, good, bad, expected) in [
        ("max_attempts", 5, ["1", "20"], ["0", "21"], 9069),
        ("investigation_rounds", 5, ["0", "50"], ["51", "4294967295"], 9070),
        ("investigation_rate", 5, ["0", "60"], ["61", "4294967295"], 9071),
        ("timeout", 300, ["10", "3600"], ["9", "3601"], 9072),
        ("review_window", 7200, ["60", "86400"], ["59", "86401"], 9073),
    ] {
        for value in good {
            number(name, default, value).unwrap();
        }
        for value in bad {
            assert_eq!(code(number(name, default, value)), expected, "{name} {value}");
        }
        assert_eq!(code(number(name, default, "1.0")), 9026);
        assert_eq!(code(number(name, default, "4294967296")), 9026);
    }
}

#[test]
fn a_contract_may_say_whether_it_takes_a_corrected_command() {
    // The builder always says the word, and silence means no.
    let plain = paid();
    assert_eq!(
        (plain.execution.corrected_command, plain.takes_corrected_commands()),
        (Some(Corrected::No), false)
    );
    for (word, corrected, takes) in
        [("no", Corrected::No, false), ("asks", Corrected::Asks, true), ("yes", Corrected::Yes, true)]
    {
        let built = builder().bounty(xno("0.5")).corrected_commands(corrected).build(&terms()).unwrap();
        assert!(built.json().canonical().contains(&format!("\"corrected_command\":\"{word}\"")));
        assert_eq!(Contract::read(built.json()).unwrap(), built);
        assert_eq!(
            (built.execution.corrected_command, built.takes_corrected_commands()),
            (Some(corrected), takes)
        );
        assert_eq!(serde_json::to_string(&corrected).unwrap(), format!("\"{word}\""));
    }
    let said =
        |value: &str| changed("\"corrected_command\":\"no\"", &format!("\"corrected_command\":{value}"));
    assert_eq!(said("null").unwrap().execution.corrected_command, None);
    for (bad, expected) in
        [("\"maybe\"", 9033), ("\"\"", 9033), ("\"No\"", 9033), ("true", 9023), ("{}", 9023)]
    {
        assert_eq!(code(said(bad)), expected, "{bad}");
    }
}

#[test]
fn every_violation_has_its_number() {
    let c = |from: &str, to: &str| code(changed(from, to));
    assert_eq!(c("gcc foo.c", "  "), 9060);
    assert_eq!(c("gcc foo.c", "https://example.org/buy"), 9061);
    assert_eq!(c("\"XNO\"", "\"EUR\""), 9064);
    assert_eq!(c("\"nano\"", "\"bitcoin\""), 9064);
    assert_eq!(c(&server().id().to_string(), &agent().id().to_string()), 9065);
    assert_eq!(c("\"0.17\"", "\"0.16\""), 9066);
    assert_eq!(c("\"grace_period\":30}", "\"grace_period\":30},\"judge_fee\":\"0.16\""), 9066);
    assert_eq!(c("\"grace_period\":30", "\"grace_period\":3600"), 9067);
    // The court's limits are the server's, and kinds of changes are known words, sorted.
    assert_eq!(c("\"runs\":2", "\"runs\":1"), 9088);
    for wrong in ["\"all\"", "\"tests\",\"ci\"", "\"ci\",\"ci\""] {
        assert_eq!(c("\"consents\":[]", &format!("\"consents\":[{wrong}]")), 9033, "{wrong}");
    }
    assert_eq!(c("\"supervised\"", "\"wild\""), 9068);
    assert_eq!(c("\"exit_code\"", "\"vibes\""), 9074);
    let exit = r#"{"expected":0,"method":"exit_code"}"#;
    assert_eq!(c(exit, r#"{"method":"output_match","pattern":"("}"#), 9075);
    assert_eq!(c(exit, r#"{"method":"output_match","pattern":"(a)\\1"}"#), 9075);
    assert_eq!(c(exit, r#"{"method":"output_match","pattern":"((a{99}){99}){99}"}"#), 9075);
    assert_eq!(c(exit, ""), 9076);
    assert_eq!(c("\"expected\":0", "\"expected\":256"), 9082);
    assert_eq!(
        c("\"network\":{\"available\":false}", "\"network\":{\"available\":true,\"scope\":[\"moon\"]}"),
        9083
    );
    assert_eq!(c("\"sudo\":{\"available\":false}", "\"sudo\":{}"), 9020);
    assert_eq!(c("gcc foo.c", &"x ".repeat(2_100)), 9030);
    let many = vec!["\"apt\""; 40].join(",");
    assert_eq!(c("\"package_managers\":[]", &format!("\"package_managers\":[{many}]")), 9031);
    let free = free().json().canonical().replace("\"bounty\":\"0\"", "\"bounty\":\"1\"");
    let free = Contract::read(&free.parse().unwrap()).unwrap();
    assert_eq!(code(free.check(&terms())), 9081);
    let mut compat = terms();
    compat.compat = true;
    free.check(&compat).unwrap();
}

#[test]
fn input_files_stay_inside_and_are_bounded() {
    let file = |path: &str, size: usize| InputFile {
        path: path.into(),
        content: vec![b'a'; size],
        executable: false,
    };
    let with = |files: &[InputFile]| {
        files.iter().cloned().fold(builder().bounty(xno("1")), |b, f| b.input(f)).build(&terms()).map(|_| ())
    };
    with(&[file("a", 200 * 1024), file("b", 56 * 1024)]).unwrap();
    assert_eq!(code(with(&[file("a", 200 * 1024), file("b", 56 * 1024 + 1)])), 9079);
    assert_eq!(code(with(&[file("a", 1), file("a", 2)])), 9078);
    for path in ["/etc/passwd", "../a", "a/../b", "a//b", "./a", "a/", "a\\b", "a\nb", "a\0b", "..", "."] {
        assert_eq!(code(with(&[file(path, 1)])), 9077, "{path:?}");
    }
    let inputs = |text: &str| code(changed("\"task\":{", &format!("\"task\":{{\"inputs\":[{text}],")));
    assert_eq!(inputs(r#"{"path":"a","content":"0g","encoding":"hex"}"#), 9080);
    assert_eq!(inputs(r#"{"path":"a","content":"","encoding":"rot13"}"#), 9080);
    assert_eq!(inputs(r#"{"path":"a"}"#), 9020);
}

#[test]
fn spam_is_told_from_failures() {
    for (command, error) in [
        ("make -j8", "make: *** [all] Error 2"),
        ("curl https://example.org/install.sh -o x", "curl: (6) Could not resolve host"),
        ("psql", ""),
        ("./configure", "checking for casino... no"),
        ("echo \"=====================\"", ""),
        ("für x", "kein Befehl"),
    ] {
        assert_eq!(spam_reason(command, error), None, "{command}");
    }
    for (command, error) in [
        ("https://example.org", ""),
        ("!!!???", ""),
        ("ls \u{1b}[2J", ""),
        ("Buy now", "click here for your airdrop claim"),
        (&"a".repeat(300), ""),
    ] {
        assert!(spam_reason(command, error).is_some(), "{command}");
    }
}

#[derive(serde::Deserialize)]
struct Sample {
    name: String,
    conditions: Vec<Json>,
    fix: Run,
    check: Run,
    unmet: Option<Unmet>,
}

/// Every row says what a machine must find (decision E15); the second implementation made them.
#[test]
fn conditions_are_judged_as_the_second_implementation_judges_them_ok() {
    #[derive(serde::Deserialize)]
    struct File {
        runs: Vec<Sample>,
    }
    let file: File = serde_json::from_str(&vectors("verification")).unwrap();
    assert!(file.runs.len() > 30);
    for Sample { name, conditions, fix, check, unmet: expected } in file.runs {
        let mut json = paid().json().clone();
        let Json::Object(fields) = &mut json else { unreachable!() };
        fields.insert("verification".to_owned(), conditions.into());
        let contract = Contract::read(&json).unwrap();
        contract.check(&terms()).unwrap();
        assert_eq!(unmet(&contract.verification, &fix, &check), expected, "{name}");
    }
}

#[test]
fn what_is_unmet_is_said_in_a_sentence() {
    for (unmet, said) in [
        (Unmet::WrongExit { found: Some(1), expected: 0 }, "The command still fails: exit code 1."),
        (
            Unmet::WrongExit { found: Some(0), expected: 3 },
            "The command ended with exit code 0 instead of 3.",
        ),
        (Unmet::WrongExit { found: None, expected: 0 }, "The command has no exit code."),
        (Unmet::OutputMismatch { pattern: "^3$".into() }, "The output does not match ^3$."),
        (
            Unmet::Limit { step: Step::Apply, limit: Limit::Time },
            "The fix did not end by itself: it took too long.",
        ),
        (
            Unmet::Limit { step: Step::Check, limit: Limit::Memory },
            "The command did not end by itself: it used too much memory.",
        ),
    ] {
        assert_eq!(unmet.to_string(), said);
    }
    let signal = Run { signal: Some(9), ..Run::default() };
    assert_eq!((signal.status(), signal.to_string().as_str()), (Some(137), "signal 9 ended it"));
}

#[test]
fn what_older_clients_say_is_kept_and_what_nobody_can_give_is_refused() {
    // As the older client writes it, with everything that it may add.
    let text = r#"{"version":2,"protocol":"fix","redaction":{"enabled":true},
        "task":{"type":"fix_command","command":"gcc foo.c","error":"undefined reference"},
        "capabilities":{"sudo":{"available":false,"scope":[]},"make":{"available":true}},
        "verification":[{"method":"exit_code","expected":0}],
        "execution":{"sandbox":true,"max_attempts":2,"root":"/tmp","timeout":300},
        "escrow":{"bounty":"0.50","currency":"XNO","chain":"nano","settle":"nano"},
        "terms":{"cancellation":{"grace_period":30},"abandonment":{"x":1},"platform":{"fee":"0.1"}},
        "judge":{"pubkey":"SERVER","fee":"0.17","ruling_timeout":60}}"#;
    let text = text.replace("SERVER", &server().id().to_string());
    let read = |text: &str| Contract::read(&Json::parse(text.as_bytes()).unwrap());
    let contract = read(&text).unwrap();
    contract.check(&terms()).unwrap();
    assert_eq!(
        contract.json().canonical(),
        Json::parse(text.as_bytes()).unwrap().canonical(),
        "all of it is kept"
    );
    assert!(!contract.takes_corrected_commands());
    let changed = |from: &str, to: &str| {
        assert!(text.contains(from));
        code(read(&text.replace(from, to)))
    };
    assert_eq!(changed("\"version\":2", "\"version\":3"), 9059);
    assert_eq!(changed("\"protocol\":\"fix\"", "\"protocol\":\"mend\""), 9059);
    assert_eq!(changed("\"make\":{", "\"gpu\":{"), 9021);
    let long = format!("\"redaction\":{{\"note\":\"{}\"", "x".repeat(defaults::MAX_UNKNOWN));
    assert_eq!(changed("\"redaction\":{\"enabled\":true", &long), 9030);
    // Ours says what it is.
    let ours = paid().json().canonical();
    assert!(ours.contains("\"version\":2") && ours.contains("\"protocol\":\"fix\""), "{ours}");
    assert!(ours.contains("\"corrected_command\":\"no\""), "{ours}");
}

#[test]
fn a_contract_has_windows_of_its_own_within_the_servers_terms() {
    let own = contract::ContractWindows::of(&terms());
    let build = |windows: contract::ContractWindows, autonomous: bool| {
        let mut execution = paid().execution;
        execution.windows = Some(windows);
        let builder = builder().execution(execution).bounty(xno("0.5"));
        let builder = if autonomous { builder.autonomous() } else { builder };
        builder.build(&terms())
    };
    build(own, false).unwrap();
    let longer = contract::ContractWindows { open: 86_400, reservation: 86_400, verify: 3_000, ..own };
    let contract = build(longer, false).unwrap();
    let windows = contract.windows(&terms());
    assert_eq!((windows.open, windows.verify), (Millis::secs(86_400), Millis::secs(3_000)));
    assert_eq!(windows.response, Millis::secs(30));
    let shorter = contract::ContractWindows { response: 29, ..own };
    assert_eq!(code(build(shorter, false)), 9058);
    let much = contract::ContractWindows { verify: 3_001, ..own };
    assert_eq!(code(build(much, false)), 9058);
    assert_eq!(code(build(contract::ContractWindows { open: 86_401, ..own }, false)), 9058);
    assert_eq!(code(build(contract::ContractWindows { review: 59, ..own }, false)), 9058);
    // Autonomous: the review window, or longer.
    let patient = contract::ContractWindows { review: 600, appeal: 1_200, ..own };
    let windows = build(patient, true).unwrap().windows(&terms());
    assert_eq!((windows.response, windows.appeal), (Millis::secs(600), Millis::secs(1_200)));
    // And they hold: a contract that is open for a day.
    let mut world = open_with(&build(longer, false).unwrap());
    world.secs(86_399);
    assert_eq!(world.case.state(), State::Open);
    world.secs(1);
    assert_eq!(world.case.state(), State::Canceled);
    world.check();
}
