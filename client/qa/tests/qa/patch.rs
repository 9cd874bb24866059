use proptest::prelude::*;
use zx1_qa::patch::{Class, Patch, PatchError, class};

pub(crate) const GOOD: &str = "diff --git a/src/lib.rs b/src/lib.rs
index 1111111..2222222 100644
--- a/src/lib.rs
+++ b/src/lib.rs
@@ -1,2 +1,2 @@
 first
-second
+zweite
@@ -9 +9,2 @@ fn context()
 ninth
+tenth
diff --git a/tests/new.rs b/tests/new.rs
new file mode 100644
index 0000000..3333333
--- /dev/null
+++ b/tests/new.rs
@@ -0,0 +1 @@
+#[test] fn new() {}
";

fn of(text: &str) -> Result<Patch, PatchError> {
    Patch::parse(text.as_bytes(), None)
}

fn source(path: &str) -> Result<Patch, PatchError> {
    of(&GOOD.replace("src/lib.rs", path))
}

#[test]
fn a_patch_is_cut_into_tests_and_hunks_that_together_are_the_patch() {
    let patch = of(GOOD).unwrap();
    assert_eq!(patch.only(Class::Source) + &patch.only(Class::Test), GOOD);
    let hunks = patch.source_hunks();
    assert_eq!(
        hunks.iter().map(|(path, n, _)| (path.as_str(), *n)).collect::<Vec<_>>(),
        [("src/lib.rs", 0), ("src/lib.rs", 1)]
    );
    assert!(hunks[0].2.contains("zweite") && !hunks[0].2.contains("tenth"));
}

#[test]
fn paths_that_lead_outside_are_refused() {
    for path in ["../a.rs", "/etc/a.rs", "a/../b.rs", "./a.rs", "a//b.rs", "a/", "c:\\a.rs", "a\tb", "a/ b"] {
        assert!(matches!(source(path), Err(PatchError::Path(_))), "{path}");
    }
    assert!(source("a folder/a.rs").is_ok());
}

#[test]
fn files_that_a_proposal_may_not_touch_are_refused_wherever_they_stand() {
    for path in [
        ".git/hooks/pre-commit",
        ".github/workflows/ci.yml",
        "sub/.GitHub/a.yml",
        ".claude/settings.json",
        "CLAUDE.md",
        "sub/agents.md",
        "rust-toolchain.toml",
        "Cargo.lock",
        ".cargo/config.toml",
        "build.rs",
        "sub/Makefile",
        "hooks/post-merge",
        ".gitmodules",
        ".gitattributes",
        "tests/conftest.py",
        ".env",
        "clippy.toml",
    ] {
        assert!(matches!(source(path), Err(PatchError::Protected(_))), "{path}");
    }
}

#[test]
fn classes_of_paths() {
    for path in
        ["tests/a.rs", "a/tests/b/c.txt", "src/lib_test.go", "test_a.py", "a/x.test.js", "src/tests.rs"]
    {
        assert_eq!(class(path), Class::Test, "{path}");
    }
    for path in ["src/lib.rs", "src/contest.rs", "latest/a.rs", "src/testing.rs", "README.md"] {
        assert_eq!(class(path), Class::Source, "{path}");
    }
}

#[test]
fn each_cheat_is_refused_with_its_own_reason() {
    let (source, test) = GOOD.split_at(GOOD.find("diff --git a/tests").unwrap());
    assert_eq!(of(""), Err(PatchError::Empty));
    assert_eq!(of(test), Err(PatchError::NoSource));
    assert_eq!(of(source), Err(PatchError::NoTest));
    assert_eq!(of(&format!("{GOOD}{test}")), Err(PatchError::Twice("tests/new.rs".to_owned())));
    let weaker = "diff --git a/tests/old.rs b/tests/old.rs\n--- a/tests/old.rs\n+++ b/tests/old.rs\n@@ -1 +1 @@\n-assert!(a);\n+assert!(true);\n";
    assert_eq!(of(&format!("{GOOD}{weaker}")), Err(PatchError::TestWeakened("tests/old.rs".to_owned())));
    let gone = "diff --git a/tests/old.rs b/tests/old.rs\ndeleted file mode 100644\n--- a/tests/old.rs\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n";
    assert_eq!(of(&format!("{GOOD}{gone}")), Err(PatchError::TestDeleted("tests/old.rs".to_owned())));
    for line in
        ["old mode 100644\nnew mode 100755\n", "rename from a\n", "copy from a\n", "similarity index 90%\n"]
    {
        let text = GOOD.replacen("index 1", &format!("{line}index 1"), 1);
        assert!(matches!(of(&text), Err(PatchError::Kind(_))), "{line}");
    }
    for mode in ["120000", "160000", "100755"] {
        let text = GOOD.replace("new file mode 100644", &format!("new file mode {mode}"));
        assert!(matches!(of(&text), Err(PatchError::Kind(_))), "{mode}");
    }
    let link = GOOD.replace("2222222 100644", "2222222 120000");
    assert!(matches!(of(&link), Err(PatchError::Kind(_))));
    let binary = GOOD.replacen("--- a/src", "GIT binary patch\n--- a/src", 1);
    assert_eq!(of(&binary), Err(PatchError::Binary));
    assert_eq!(Patch::parse(b"\xff", None), Err(PatchError::Binary));
    let renamed = GOOD.replacen("a/src/lib.rs b/src/lib.rs", "a/src/lib.rs b/src/lob.rs", 1);
    assert!(matches!(of(&renamed), Err(PatchError::Kind(_))));
    let elsewhere = GOOD.replacen("+++ b/src/lib.rs", "+++ b/.git/config", 1);
    assert!(matches!(of(&elsewhere), Err(PatchError::Form(4))));
    let longer = GOOD.replacen("@@ -1,2 +1,2 @@", "@@ -1,3 +1,3 @@", 1);
    assert!(matches!(of(&longer), Err(PatchError::Form(_))));
}

#[test]
fn a_patch_of_65536_bytes_is_taken_and_one_of_65537_is_not() {
    let filled = |len: usize| GOOD.replace("zweite", &"z".repeat(len - GOOD.len() + 6));
    assert_eq!(filled(65_536).len(), 65_536);
    assert!(of(&filled(65_536)).is_ok());
    assert_eq!(of(&filled(65_537)), Err(PatchError::Large { found: 65_537, limit: 65_536 }));
}

proptest! {
    #[test]
    fn any_text_is_read(text in "(diff --git a/x b/x\n)?(--- a/x\n\\+\\+\\+ b/x\n)?(@@ -[0-9]{1,20},[0-9]{1,20} \\+1 @@\n)?\\PC*") {
        crate::bodies::qa_patch(text.as_bytes());
    }
}
