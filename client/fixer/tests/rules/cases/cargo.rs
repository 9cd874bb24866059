//! cargo and rustc.

use super::Case;

const PACKAGE: &str = "mkdir -p src\nprintf '[package]\\nname = \"p\"\\nversion = \"0.1.0\"\\nedition = \"2021\"\\n' > Cargo.toml\n\
    echo 'fn main() {}' > src/main.rs\n";

pub(crate) fn cases() -> Vec<Case> {
    let package = |more: &str| -> &'static str { Box::leak(format!("{PACKAGE}{more}").into_boxed_str()) };
    vec![
        Case::new("cargo-command-typo", package(""), "cargo chekc").corrected("cargo check"),
        Case::new(
            "cargo-target-typo",
            package(r#"printf '[[bin]]\nname = "tool"\npath = "src/main.rs"\n' >> Cargo.toml"#),
            "cargo check --bin tol",
        )
        .corrected("cargo check --bin tool"),
        Case::new("cargo-option-typo", package(""), "cargo check --relase").corrected("cargo check --release"),
        Case::new(
            "cargo-features",
            package(
                r#"printf '[features]\ncli = []\n[[bin]]\nname = "tool"\npath = "src/main.rs"\nrequired-features = ["cli"]\n' >> Cargo.toml"#,
            ),
            "cargo check --bin tool",
        )
        .corrected("cargo check --features cli --bin tool"),
        Case::new("cargo-manifest-path", package("mkdir app; mv Cargo.toml src app"), "cargo check")
            .corrected("cargo check --manifest-path app/Cargo.toml"),
        Case::new(
            "cargo-edition",
            package("sed -i /edition/d Cargo.toml\necho 'async fn f() {} fn main() { let _ = f(); }' > src/main.rs"),
            "cargo check",
        ),
        Case::new("cargo-unknown-edition", package("sed -i s/2021/2020/ Cargo.toml"), "cargo check")
            .check("grep -qx 'edition = \"2021\"' Cargo.toml"),
        Case::new("cargo-unquoted", package("sed -i 's/\"p\"/p/' Cargo.toml"), "cargo check")
            .check("grep -qx 'name = \"p\"' Cargo.toml"),
        Case::new(
            "cargo-path-dependency",
            package(
                r#"mkdir -p helper/src; printf '[package]\nname = "helper"\nversion = "0.1.0"\nedition = "2021"\n' > helper/Cargo.toml
echo 'pub fn x() {}' > helper/src/lib.rs; echo 'use helper::x; fn main() { x(); }' > src/main.rs"#,
            ),
            "cargo check",
        ),
        Case::new("cargo-locked", package(""), "cargo check --locked").check("test -f Cargo.lock"),
        Case::new(
            "cargo-locked",
            package("cargo generate-lockfile -q\nsed -i 's/version = \"0.1.0\"/version = \"0.2.0\"/' Cargo.toml"),
            "cargo check --locked",
        )
        .check("grep -q 0.2.0 Cargo.lock"),
        Case::new(
            "cargo-target-path",
            package(r#"printf '[[bin]]\nname = "tool"\npath = "src/mian.rs"\n' >> Cargo.toml"#),
            "cargo check",
        )
        .check("grep -q src/main.rs Cargo.toml"),
    ]
}

pub(crate) fn sources() -> Vec<Case> {
    vec![
        Case::new(
            "rust-similar-name",
            r#"printf 'fn main() {\n\tlet count = 3;\n\tpritnln!("{}", 1);\n\tprintln!("{}", cuont);\n}\n' > a.rs"#,
            "rustc --edition 2021 a.rs",
        )
        .check("./a"),
        Case::new(
            "rust-use",
            r#"printf '// counts\nfn main() {\n    let m: HashMap<u8, u8> = HashMap::new();\n    println!("{}", m.len());\n}\n' > a.rs"#,
            "rustc --edition 2021 a.rs",
        )
        .check("./a"),
        Case::new(
            "rust-mut",
            r#"printf 'fn main() {\n    let v = vec![1];\n    v.push(1);\n    let x = 1;\n    println!("{}", x);\n    x = 2;\n    println!("{}{:?}", x, v)\n}\n' > a.rs"#,
            "rustc --edition 2021 a.rs",
        )
        .check("./a"),
        Case::new(
            "rust-conversion",
            r#"printf 'fn f(s: String) -> usize { s.len() }\nfn g(s: &str) -> usize { s.len() }\nfn main() {\n    f("a");\n    let t = String::from("x");\n    g(t);\n}\n' > a.rs"#,
            "rustc --edition 2021 a.rs",
        )
        .check("./a"),
        Case::new(
            "rust-mod",
            "mkdir src; printf '[package]\\nname = \"p\"\\nversion = \"0.1.0\"\\nedition = \"2021\"\\n' > Cargo.toml\n\
             echo 'pub fn y() {}' > src/util.rs; echo 'fn main() { util::y(); }' > src/main.rs",
            "cargo check",
        )
        .check("head -n 1 src/main.rs | grep -qx 'mod util;'"),
        Case::new(
            "rust-semicolon",
            r#"printf 'fn main() {\n    let a = 1\n    println!("{}", a);\n}\n' > a.rs"#,
            "rustc a.rs",
        )
        .check("./a"),
        Case::new("rustc-edition", r#"printf 'async fn f() {}\nfn main() { let _ = f(); }\n' > a.rs"#, "rustc a.rs")
            .corrected("rustc --edition 2021 a.rs")
            .check("./a"),
        Case::new("rustc-source-typo", "echo 'fn main() {}' > main.rs", "rustc mian.rs").corrected("rustc main.rs"),
    ]
}
