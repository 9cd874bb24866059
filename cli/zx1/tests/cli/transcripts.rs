//! What people see, word for word: `tests/cmd/*.trycmd`. Write them anew with `TRYCMD=overwrite`.

#[test]
fn transcripts() {
    let home = tempfile::tempdir().unwrap();
    let cases = trycmd::TestCases::new();
    cases
        .env("HOME", home.path().to_str().unwrap())
        .env("ZX1_HOME", home.path().join("zx1").to_str().unwrap())
        .env("NO_COLOR", "1")
        .env("COLUMNS", "100")
        .insert_var("[HOME]", home.path().to_str().unwrap().to_owned())
        .unwrap();
    cases.case("tests/cmd/*.trycmd");
}
