//! What people see, word for word: `tests/cmd/*.trycmd`. Write them anew with `TRYCMD=overwrite`, and read
//! what has changed.

use crate::support::Home;

#[test]
fn transcripts_of_a_newcomer() {
    let home = Home::new();
    let cases = trycmd::TestCases::new();
    cases
        .env("HOME", home.path().to_str().unwrap())
        .env("NO_COLOR", "1")
        .env("COLUMNS", "80")
        .insert_var("[HOME]", home.path().to_str().unwrap().to_owned())
        .unwrap();
    cases.case("tests/cmd/*.trycmd");
}
