//! What a contract looks like to whom (decision E14).

use zx1_market::chain::EntryType;
use zx1_market::wire::ContractView;
use zx1_market::{Case, Json, State};

/// A JSON object of texts.
pub(crate) fn object(fields: &[(&str, String)]) -> Json {
    Json::object(fields.iter().map(|(name, value)| (*name, value.as_str())))
}

/// A contract without its input files, which are large and for the parties and the judge.
fn without_inputs(contract: &Json) -> Json {
    let mut contract = contract.clone();
    if let Json::Object(fields) = &mut contract
        && let Some(Json::Object(task)) = fields.get_mut("task")
    {
        task.remove("inputs");
    }
    contract
}

/// What a list shows of a contract: to everybody, so no transcript and no input files, and once somebody
/// works on it not what it is about.
pub fn summary(case: &Case) -> ContractView {
    let mut view = ContractView::new(case, Vec::new(), Vec::new());
    if case.state() == State::Open || case.is_public() {
        view.contract = without_inputs(&view.contract);
    } else {
        view.contract = Json::object::<&str, Json>([]);
        view.briefing = String::new();
    }
    view
}

/// Whether a stranger may read this entry of a contract that waits for an agent: what was posted and under
/// which terms. What earlier agents read on the principal's machine is not for strangers.
pub fn is_offer(kind: EntryType) -> bool {
    matches!(kind, EntryType::Post | EntryType::Opened | EntryType::Resumed)
}
