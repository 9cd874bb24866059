//! The cases, by tool. Every rule has at least one.

use super::harness::{Case, try_all};

mod c;
mod cargo;
mod git;
mod java;
mod make;
mod node;
mod perl;
mod python;
mod shell;
mod tools;

macro_rules! groups {
    ($($test:ident: $group:path;)*) => {
        /// Every case.
        pub(crate) fn all() -> Vec<Case> {
            let mut all = Vec::new();
            $(all.extend($group());)*
            all
        }

        $(#[test]
        fn $test() {
            try_all(&$group());
        })*
    };
}

groups! {
    c_compilers_are_repaired: c::cases;
    linkers_are_repaired: c::linking;
    makefiles_are_repaired: make::cases;
    scripts_are_repaired: shell::cases;
    small_tools_are_repaired: tools::cases;
    json_and_ports_are_repaired: tools::data;
    git_is_repaired: git::cases;
    python_sources_are_repaired: python::sources;
    python_and_pip_are_repaired: python::cases;
    node_and_npm_are_repaired: node::cases;
    cargo_is_repaired: cargo::cases;
    rust_sources_are_repaired: cargo::sources;
    java_is_repaired: java::cases;
    perl_is_repaired: perl::cases;
}
