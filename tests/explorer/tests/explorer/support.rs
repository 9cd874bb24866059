//! What the tests ask a page, and how they write down what a ledger says.

use serde_json::Value;
use std::collections::BTreeMap;
use zx1_explorer_tests::{Browser, Page, World};

/// The whole world and a browser.
pub(crate) struct Stage {
    pub(crate) browser: Browser,
    pub(crate) world: World,
}

impl Stage {
    pub(crate) fn start() -> Self {
        // The browser first: a missing one is reported at once.
        Self { browser: Browser::start(), world: World::start() }
    }

    /// A new page at this place, with everything loaded.
    #[track_caller]
    pub(crate) fn page(&self, place: &str) -> Page {
        let page = Page::new(&self.browser);
        page.open(&self.at(place));
        page.settled();
        page
    }

    /// Goes to another place of the explorer.
    #[track_caller]
    pub(crate) fn go(&self, page: &Page, place: &str) {
        page.eval(&format!("void (location.hash = {})", Value::from(place)));
        page.until(&format!("the page is at {place}"), &format!("location.hash === {}", Value::from(place)));
        // The hash has changed, and the page with it: the router listens before this promise does.
        page.eval("new Promise((done) => setTimeout(done))");
        page.settled();
    }

    pub(crate) fn at(&self, place: &str) -> String {
        format!("{}/{place}", self.world.url)
    }
}

/// The figures of a page: name, value, remark.
#[track_caller]
pub(crate) fn figures(page: &Page) -> BTreeMap<String, (String, String)> {
    let found = page.eval(
        "[...document.querySelectorAll('#main .figure')].map((f) => [f.querySelector('dt'), \
         f.querySelector('.figure-value'), f.querySelector('.figure-remark')]\
         .map((e) => e.innerText.trim()))",
    );
    found.as_array().unwrap().iter().map(|one| (line(&one[0]), (line(&one[1]), line(&one[2])))).collect()
}

/// The rows of the tables below this part of the page: text by the name of the column.
#[track_caller]
pub(crate) fn rows(page: &Page, part: &str) -> Vec<BTreeMap<String, String>> {
    let found = page.eval(&format!(
        "[...document.querySelectorAll({})].map((row) => \
         [...row.children].map((cell) => [cell.dataset.label, cell.innerText.trim()]))",
        Value::from(format!("{part} tbody tr"))
    ));
    let row =
        |row: &Value| row.as_array().unwrap().iter().map(|cell| (line(&cell[0]), line(&cell[1]))).collect();
    found.as_array().unwrap().iter().map(row).collect()
}

/// The texts of the cells of a table that has no names of columns, row by row.
#[track_caller]
pub(crate) fn cells(page: &Page, part: &str) -> Vec<Vec<String>> {
    let found = page.eval(&format!(
        "[...document.querySelectorAll({})].map((row) => [...row.children].map((cell) => cell.innerText))",
        Value::from(format!("{part} tbody tr"))
    ));
    let row = |row: &Value| row.as_array().unwrap().iter().map(line).collect();
    found.as_array().unwrap().iter().map(row).collect()
}

/// A text in one line.
pub(crate) fn line(value: &Value) -> String {
    value.as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Micro-USDC as people write them: two digits after the point at least.
pub(crate) fn usdc(micro: u64) -> String {
    let fraction = format!("{:06}", micro % 1_000_000);
    format!("{}.{:0<2} USDC", micro / 1_000_000, fraction.trim_end_matches('0'))
}

/// Raw as people write them.
pub(crate) fn xno(raw: u128) -> String {
    let one = 10_u128.pow(30);
    let fraction = format!("{:030}", raw % one);
    let number = format!("{}.{}", raw / one, fraction.trim_end_matches('0'));
    format!("{} XNO", number.trim_end_matches('.'))
}

/// A score in thousandths as people write it: with its sign, and one digit after the point.
pub(crate) fn score(milli: i64) -> String {
    let sign = match milli.signum() {
        1 => "+",
        -1 => "−",
        _ => "",
    };
    let tenths = (milli.unsigned_abs() + 50) / 100;
    format!("{sign}{}.{}", tenths / 10, tenths % 10)
}

/// A number with commas between thousands.
pub(crate) fn grouped(number: u64) -> String {
    let (head, tail) = (number / 1_000, number % 1_000);
    if head == 0 { tail.to_string() } else { format!("{},{tail:03}", grouped(head)) }
}

/// A key with its middle left out.
pub(crate) fn short(key: &str) -> String {
    format!("{}…{}", &key[..5], &key[key.len() - 5..])
}
