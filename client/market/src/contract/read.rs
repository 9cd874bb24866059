//! The shape of a contract.

use super::windows::{self, ContractWindows};
use super::{
    Capabilities, Contract, Corrected, Environment, Execution, InputFile, Judge, Mode, Scope, Task,
    Verification,
};
use crate::canonical::Json;
use crate::defaults as d;
use crate::fields::Fields;
use crate::terms::CourtLimits;
use crate::{Raw, Reason, Refusal, Result};

/// Fields that are not known here and kept all the same (decision E13), within a bound.
struct Kept {
    left: usize,
}

impl Kept {
    fn rest(&mut self, fields: &Fields<'_>) -> Result<()> {
        for (name, value) in fields.unknown() {
            let size = name.len().saturating_add(value.canonical().len());
            self.left = self.left.checked_sub(size).ok_or_else(|| {
                let name: String = name.chars().take(64).collect();
                Refusal::with(Reason::FieldTooLong, fields.path(&name))
            })?;
        }
        Ok(())
    }
}

/// Read a whole contract.
pub(super) fn contract(json: &Json) -> Result<Contract> {
    let kept = &mut Kept { left: d::MAX_UNKNOWN };
    let mut f = Fields::of(json, "contract")?;
    if f.opt_number("version")?.is_some_and(|version| version != d::CONTRACT_VERSION) {
        return f.refuse("version", Reason::ContractVersion);
    }
    if f.opt_text("protocol", d::MAX_WORD)?.is_some_and(|protocol| protocol != "fix") {
        return f.refuse("protocol", Reason::ContractVersion);
    }
    let task = task(f.object("task")?, kept)?;
    let environment = match f.opt_object("environment")? {
        Some(fields) => environment(fields, kept)?,
        None => Environment::default(),
    };
    let capabilities = match f.opt_object("capabilities")? {
        Some(fields) => capabilities(fields, kept)?,
        None => Capabilities::default(),
    };
    let execution = execution(f.opt_object("execution")?, kept)?;
    let bounty = match f.opt_object("escrow")? {
        Some(fields) => escrow(fields, kept)?,
        None => Raw::ZERO,
    };
    let terms = match f.opt_object("terms")? {
        Some(fields) => terms(fields, kept)?,
        None => ContractTerms::default(),
    };
    let judge = match f.opt_object("judge")? {
        Some(fields) => judge(fields, terms.judge_fee, kept)?,
        None => None,
    };
    let verification = verification(&mut f, kept)?;
    let consents = super::trial::classes(&mut f, "consents")?;
    let court = f.opt_object("court")?.map(CourtLimits::read).transpose()?;
    kept.rest(&f)?;
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
        consents,
        court,
        json: json.clone(),
    })
}

fn task(mut f: Fields<'_>, kept: &mut Kept) -> Result<Task> {
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
    kept.rest(&f)?;
    Ok(task)
}

fn environment(mut f: Fields<'_>, kept: &mut Kept) -> Result<Environment> {
    let environment = Environment {
        os: f.text_or_empty("os", d::MAX_WORD)?,
        arch: f.text_or_empty("arch", d::MAX_WORD)?,
        distro: f.text_or_empty("distro", d::MAX_WORD)?,
        shell: f.text_or_empty("shell", d::MAX_WORD)?,
        package_managers: f.texts("package_managers", d::MAX_PACKAGE_MANAGERS, d::MAX_WORD)?,
    };
    kept.rest(&f)?;
    Ok(environment)
}

fn available(fields: Option<Fields<'_>>, kept: &mut Kept) -> Result<bool> {
    let Some(mut f) = fields else { return Ok(false) };
    let available = f.flag("available")?;
    kept.rest(&f)?;
    Ok(available)
}

/// What every fix may do anyway; older clients list it.
const ALWAYS: &[&str] = &["make"];

fn capabilities(mut f: Fields<'_>, kept: &mut Kept) -> Result<Capabilities> {
    let sudo = available(f.opt_object("sudo")?, kept)?;
    let docker = available(f.opt_object("docker")?, kept)?;
    let network = match f.opt_object("network")? {
        None => None,
        Some(mut n) => {
            let available = n.flag("available")?;
            let words = n.texts("scope", d::MAX_SCOPES, d::MAX_WORD)?;
            kept.rest(&n)?;
            let scope = |word: &String| match word.as_str() {
                "packages" => Ok(Scope::Packages),
                "all" => Ok(Scope::All),
                _ => Err(Refusal::with(Reason::ContractScope, word)),
            };
            let scopes = words.iter().map(scope).collect::<Result<Vec<_>>>()?;
            available.then_some(scopes)
        }
    };
    for (name, value) in f.unknown() {
        let asks = value.get("available").unwrap_or(value).as_bool() == Some(true);
        if asks && !ALWAYS.contains(&name) {
            return f.refuse(&name.chars().take(64).collect::<String>(), Reason::FieldUnknown);
        }
    }
    kept.rest(&f)?;
    Ok(Capabilities { sudo, network, docker })
}

fn execution(fields: Option<Fields<'_>>, kept: &mut Kept) -> Result<Execution> {
    let mut execution = Execution {
        mode: Mode::Supervised,
        max_attempts: d::ATTEMPTS,
        investigation_rounds: d::INVESTIGATION_ROUNDS,
        investigation_rate: d::INVESTIGATION_RATE,
        timeout: d::TIMEOUT,
        review_window: d::REVIEW_WINDOW,
        sandbox: true,
        corrected_command: None,
        windows: None,
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
    execution.windows = f.opt_object("windows")?.map(ContractWindows::read).transpose()?;
    let said = f.raw("review_window").is_some();
    windows::same_review(&mut execution, said)?;
    kept.rest(&f)?;
    Ok(execution)
}

fn escrow(mut f: Fields<'_>, kept: &mut Kept) -> Result<Raw> {
    let bounty = f.amount("bounty")?;
    for (name, word) in [("currency", "XNO"), ("chain", "nano")] {
        if f.opt_text(name, d::MAX_WORD)?.is_some_and(|text| text != word) {
            return f.refuse(name, Reason::ContractCurrency);
        }
    }
    kept.rest(&f)?;
    Ok(bounty)
}

#[derive(Default)]
struct ContractTerms {
    grace_period: Option<u64>,
    judge_fee: Option<Raw>,
    private: bool,
}

fn terms(mut f: Fields<'_>, kept: &mut Kept) -> Result<ContractTerms> {
    let mut terms = ContractTerms::default();
    if let Some(mut c) = f.opt_object("cancellation")? {
        terms.grace_period = c.opt_number("grace_period")?;
        kept.rest(&c)?;
    }
    terms.judge_fee = f.raw("judge_fee").is_some().then(|| f.amount("judge_fee")).transpose()?;
    terms.private = f.flag_or("private", false)?;
    kept.rest(&f)?;
    Ok(terms)
}

fn judge(mut f: Fields<'_>, other: Option<Raw>, kept: &mut Kept) -> Result<Option<Judge>> {
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
    kept.rest(&f)?;
    Ok(judge)
}

fn verification(f: &mut Fields<'_>, kept: &mut Kept) -> Result<Vec<Verification>> {
    let items = f.list("verification", d::MAX_VERIFICATIONS)?;
    if items.is_empty() {
        return f.refuse("verification", Reason::ContractNoVerification);
    }
    items.iter().map(|item| one_verification(item, kept)).collect()
}

fn one_verification(json: &Json, kept: &mut Kept) -> Result<Verification> {
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
    kept.rest(&f)?;
    Ok(verification)
}
