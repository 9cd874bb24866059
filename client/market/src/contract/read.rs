//! The shape of a contract.

use super::{
    Capabilities, Contract, Corrected, Environment, Execution, InputFile, Judge, Mode, Scope, Task,
    Verification,
};
use crate::canonical::Json;
use crate::defaults as d;
use crate::fields::Fields;
use crate::{Raw, Reason, Refusal, Result};

/// Read a whole contract.
pub(super) fn contract(json: &Json) -> Result<Contract> {
    let mut f = Fields::of(json, "contract")?;
    let task = task(f.object("task")?)?;
    let environment = f.opt_object("environment")?.map(environment).transpose()?.unwrap_or_default();
    let capabilities = f.opt_object("capabilities")?.map(capabilities).transpose()?.unwrap_or_default();
    let execution = execution(f.opt_object("execution")?)?;
    let bounty = f.opt_object("escrow")?.map(escrow).transpose()?.unwrap_or_default();
    let terms = f.opt_object("terms")?.map(terms).transpose()?.unwrap_or_default();
    let judge = match f.opt_object("judge")? {
        Some(fields) => judge(fields, terms.judge_fee)?,
        None => None,
    };
    let verification = verification(&mut f)?;
    f.done()?;
    Ok(Contract {
        task,
        environment,
        capabilities,
        execution,
        bounty,
        judge,
        grace_period: terms.grace_period,
        private: terms.private,
        verification,
        json: json.clone(),
    })
}

fn task(mut f: Fields<'_>) -> Result<Task> {
    let inputs = match f.raw("inputs") {
        None => Vec::new(),
        Some(_) => {
            let items = f.list("inputs", d::MAX_INPUT_FILES)?;
            items.iter().map(InputFile::read).collect::<Result<_>>()?
        }
    };
    let task = Task {
        command: f.text("command", d::MAX_COMMAND)?.to_owned(),
        error: f.text_or_empty("error", d::MAX_ERROR)?,
        kind: f.text_or_empty("type", d::MAX_WORD)?,
        inputs,
    };
    f.done()?;
    Ok(task)
}

fn environment(mut f: Fields<'_>) -> Result<Environment> {
    let environment = Environment {
        os: f.text_or_empty("os", d::MAX_WORD)?,
        arch: f.text_or_empty("arch", d::MAX_WORD)?,
        distro: f.text_or_empty("distro", d::MAX_WORD)?,
        shell: f.text_or_empty("shell", d::MAX_WORD)?,
        package_managers: f.texts("package_managers", d::MAX_PACKAGE_MANAGERS, d::MAX_WORD)?,
    };
    f.done()?;
    Ok(environment)
}

fn available(fields: Option<Fields<'_>>) -> Result<bool> {
    let Some(mut f) = fields else { return Ok(false) };
    let available = f.flag("available")?;
    f.done()?;
    Ok(available)
}

fn capabilities(mut f: Fields<'_>) -> Result<Capabilities> {
    let sudo = available(f.opt_object("sudo")?)?;
    let docker = available(f.opt_object("docker")?)?;
    let network = match f.opt_object("network")? {
        None => None,
        Some(mut n) => {
            let available = n.flag("available")?;
            let words = n.texts("scope", d::MAX_SCOPES, d::MAX_WORD)?;
            n.done()?;
            let scope = |word: &String| match word.as_str() {
                "packages" => Ok(Scope::Packages),
                "all" => Ok(Scope::All),
                _ => Err(Refusal::with(Reason::ContractScope, word)),
            };
            let scopes = words.iter().map(scope).collect::<Result<Vec<_>>>()?;
            available.then_some(scopes)
        }
    };
    f.done()?;
    Ok(Capabilities { sudo, network, docker })
}

fn execution(fields: Option<Fields<'_>>) -> Result<Execution> {
    let mut execution = Execution {
        mode: Mode::Supervised,
        max_attempts: d::ATTEMPTS,
        investigation_rounds: d::INVESTIGATION_ROUNDS,
        investigation_rate: d::INVESTIGATION_RATE,
        timeout: d::TIMEOUT,
        review_window: d::REVIEW_WINDOW,
        sandbox: true,
        corrected_command: None,
    };
    let Some(mut f) = fields else { return Ok(execution) };
    match f.opt_text("mode", d::MAX_WORD)? {
        None | Some("supervised") => {}
        Some("autonomous") => execution.mode = Mode::Autonomous,
        Some(word) => return Err(Refusal::with(Reason::ContractMode, word)),
    }
    for (name, to) in [
        ("max_attempts", &mut execution.max_attempts),
        ("investigation_rounds", &mut execution.investigation_rounds),
        ("investigation_rate", &mut execution.investigation_rate),
        ("timeout", &mut execution.timeout),
        ("review_window", &mut execution.review_window),
    ] {
        if f.raw(name).is_some() {
            *to = f.small(name)?;
        }
    }
    execution.sandbox = f.flag_or("sandbox", true)?;
    if let Some(word) = f.opt_text("corrected_command", d::MAX_WORD)? {
        let Some(corrected) = Corrected::from_word(word) else {
            return f.refuse("corrected_command", Reason::FieldWord);
        };
        execution.corrected_command = Some(corrected);
    }
    f.done()?;
    Ok(execution)
}

fn escrow(mut f: Fields<'_>) -> Result<Raw> {
    let bounty = f.amount("bounty")?;
    for (name, word) in [("currency", "XNO"), ("chain", "nano")] {
        if f.opt_text(name, d::MAX_WORD)?.is_some_and(|text| text != word) {
            return f.refuse(name, Reason::ContractCurrency);
        }
    }
    f.done()?;
    Ok(bounty)
}

#[derive(Default)]
struct ContractTerms {
    grace_period: Option<u64>,
    judge_fee: Option<Raw>,
    private: bool,
}

fn terms(mut f: Fields<'_>) -> Result<ContractTerms> {
    let mut terms = ContractTerms::default();
    if let Some(mut c) = f.opt_object("cancellation")? {
        terms.grace_period = c.opt_number("grace_period")?;
        c.done()?;
    }
    terms.judge_fee = f.raw("judge_fee").is_some().then(|| f.amount("judge_fee")).transpose()?;
    terms.private = f.flag_or("private", false)?;
    f.done()?;
    Ok(terms)
}

fn judge(mut f: Fields<'_>, other: Option<Raw>) -> Result<Option<Judge>> {
    let key = f.opt_text("pubkey", d::MAX_WORD)?.filter(|key| !key.is_empty());
    let fee = f.raw("fee").is_some().then(|| f.amount("fee")).transpose()?;
    let judge = match key {
        None => None,
        Some(key) => {
            let Some(fee) = fee.or(other) else { return f.refuse("fee", Reason::FieldMissing) };
            if other.is_some_and(|other| other != fee) {
                return Err(Refusal::with(Reason::ContractJudgeFee, fee.xno()));
            }
            Some(Judge { pubkey: key.parse()?, fee })
        }
    };
    f.done()?;
    Ok(judge)
}

fn verification(f: &mut Fields<'_>) -> Result<Vec<Verification>> {
    let items = f.list("verification", d::MAX_VERIFICATIONS)?;
    if items.is_empty() {
        return f.refuse("verification", Reason::ContractNoVerification);
    }
    items.iter().map(one_verification).collect()
}

fn one_verification(json: &Json) -> Result<Verification> {
    let mut f = Fields::of(json, "contract.verification")?;
    let verification = match f.text("method", d::MAX_WORD)? {
        "exit_code" => {
            let expected = f.opt_number("expected")?.unwrap_or(0);
            let Ok(expected) = expected.try_into() else {
                return f.refuse("expected", Reason::ContractExitCode);
            };
            Verification::ExitCode { expected }
        }
        "output_match" => Verification::OutputMatch { pattern: f.filled("pattern", d::MAX_PATTERN)? },
        "principal_verification" => Verification::Principal,
        other => return Err(Refusal::with(Reason::ContractVerification, other)),
    };
    f.done()?;
    Ok(verification)
}
