//! What is shipped for operators agrees with the code: ports, flags, variables, paths, and every figure that the
//! dashboard draws.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use clap::{CommandFactory as _, Parser};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use zx1_indexer::Config;
use zx1_indexer::cli::ServeArgs;
use zx1_indexer::metrics::Metrics;
use zx1_indexer::status::Standing;

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    serve: ServeArgs,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn ops(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("ops").join(name)).unwrap()
}

/// The lines of a file that begin with this, without it.
fn after<'a>(text: &'a str, start: &str) -> Vec<&'a str> {
    text.lines().filter_map(|line| line.trim().strip_prefix(start)).collect()
}

/// All words of a text that begin so.
fn words(text: &str, start: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.split(|c| !is_part(c)).filter(|word| word.starts_with(start)).map(str::to_owned).collect()
}

fn figures() -> String {
    let metrics = Metrics::default();
    metrics.http.request(200);
    metrics.http.seconds.observe(0.001);
    metrics.text(&Standing::default())
}

#[test]
fn an_empty_variable_counts_as_none() {
    let variables =
        ["CONFIG", "RPC", "WS", "DATA", "DB", "PORT", "NANO"].map(|it| format!("ZX1_INDEXER_{it}"));
    let printed = |variables: &[String]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zx1-indexer"));
        command.arg("--print-config").env_clear().envs(variables.iter().map(|name| (name, "")));
        command.output().unwrap()
    };
    let usual = printed(&[]);
    assert!(usual.status.success(), "{usual:?}");
    assert_eq!(printed(&variables), usual);
}

#[test]
fn every_figure_of_the_dashboard_is_served_and_every_served_one_is_drawn() {
    let dashboard: Value = serde_json::from_str(&ops("grafana-dashboard.json")).unwrap();
    let mut drawn = BTreeSet::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        for target in panel["targets"].as_array().into_iter().flatten() {
            drawn.extend(words(target["expr"].as_str().unwrap(), "zx1_indexer_"));
        }
    }
    let text = figures();
    let served: BTreeSet<String> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split([' ', '{']).next().unwrap().to_owned())
        .collect();
    assert!(drawn.is_subset(&served), "{:?} are not served", drawn.difference(&served));
    let bare = |name: &str| {
        let cut = ["_total", "_bucket", "_count", "_sum"].iter().find_map(|end| name.strip_suffix(end));
        cut.unwrap_or(name).to_owned()
    };
    let (drawn, served): (BTreeSet<_>, BTreeSet<_>) =
        (drawn.iter().map(|it| bare(it)).collect(), served.iter().map(|it| bare(it)).collect());
    assert_eq!(drawn, served);
    // Every panel asks the data source that is provided.
    let source = ops("grafana-datasource.yaml");
    let uid = after(&source, "uid: ")[0];
    for panel in dashboard["panels"].as_array().unwrap() {
        if panel["datasource"].is_object() {
            assert_eq!(panel["datasource"]["uid"], uid, "{}", panel["title"]);
        }
    }
}

#[test]
fn the_figures_are_openmetrics() {
    let text = figures();
    assert!(text.ends_with("# EOF\n"), "{text}");
    let mut told = BTreeSet::new();
    for line in text.lines() {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["#", "EOF"] => {}
            ["#", word, name, ..] => {
                assert!(["HELP", "TYPE", "UNIT"].contains(&word), "{line}");
                told.insert(name.to_owned());
            }
            [name, value] => {
                assert!(told.iter().any(|it| name.starts_with(it.as_str())), "{line}");
                assert!(value.parse::<f64>().is_ok(), "{line}");
            }
            _ => panic!("{line}"),
        }
    }
}

#[test]
fn one_port_is_meant_everywhere() {
    let port = Config::default().bind.port();
    let dockerfile = ops("Dockerfile");
    assert_eq!(after(&dockerfile, "EXPOSE "), [port.to_string()]);
    assert!(dockerfile.contains(&format!("http://127.0.0.1:{port}/healthz")));
    let compose = ops("compose.yaml");
    assert!(compose.contains(&format!("[\"127.0.0.1:{port}:{port}\"]")));
    assert!(compose.contains(&format!("explorer at http://127.0.0.1:{port}.")));
    assert!(ops("prometheus.yml").contains(&format!("[\"indexer:{port}\"]")));
}

#[test]
fn the_command_lines_that_are_shipped_are_understood() {
    let unit = ops("zx1-indexer.service");
    let start: Vec<&str> = after(&unit, "ExecStart=")[0].split_whitespace().collect();
    let cli = Cli::try_parse_from(&start).unwrap();
    let state = format!("/var/lib/{}", after(&unit, "StateDirectory=")[0]);
    assert_eq!(cli.serve.data, Some(state.into()), "the folder that systemd makes for it");
    let dockerfile = ops("Dockerfile");
    let entry: Vec<String> = serde_json::from_str(after(&dockerfile, "ENTRYPOINT ")[0]).unwrap();
    let cli = Cli::try_parse_from(&entry).unwrap();
    let volume = after(&dockerfile, "VOLUME ")[0];
    assert_eq!(cli.serve.data, Some(volume.into()));
    assert!(dockerfile.contains(&format!("--home-dir {volume} ")), "the user can write there");
    // What compose sets, the binary reads.
    let command = Cli::command();
    let read: BTreeSet<String> =
        command.get_arguments().filter_map(|it| Some(it.get_env()?.to_str()?.to_owned())).collect();
    let set = words(&ops("compose.yaml"), "ZX1_");
    assert!(!set.is_empty() && set.is_subset(&read), "{set:?} {read:?}");
}

#[test]
fn the_image_is_built_from_files_that_are_here() {
    let (root, dockerfile) = (root(), ops("Dockerfile"));
    let build = after(&dockerfile, "RUN cargo build ")[0];
    assert!(build.contains("--release --locked -p zx1-indexer"));
    assert!(root.join("Cargo.lock").is_file(), "--locked needs it");
    let binary = after(&dockerfile, "COPY --from=build ")[0];
    let binary: Vec<&str> = binary.split_whitespace().collect();
    assert_eq!(binary, ["/src/target/release/zx1-indexer", "/usr/local/bin/zx1-indexer"]);
    // The compiler of the image is not older than what the workspace asks for.
    let manifest: toml::Value =
        toml::from_str(&std::fs::read_to_string(root.join("Cargo.toml")).unwrap()).unwrap();
    let wanted = manifest["workspace"]["package"]["rust-version"].as_str().unwrap();
    let image = after(&dockerfile, "FROM rust:")[0];
    assert!(image.starts_with(&format!("{wanted}-")), "{image} is not of {wanted}");
    // From the folder of the compose file, as it says.
    let compose = ops("compose.yaml");
    let context = Path::new(env!("CARGO_MANIFEST_DIR")).join("ops").join(after(&compose, "context: ")[0]);
    assert_eq!(context.canonicalize().unwrap(), root);
    assert!(root.join(after(&compose, "dockerfile: ")[0]).is_file());
    for line in after(&compose, "- ./").into_iter().chain(after(&compose, "volumes: [\"./")) {
        let file = line.split(':').next().unwrap();
        assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join("ops").join(file).is_file(), "{file}");
    }
    // What need not be sent to the builder, and what must.
    let left_out = ops("Dockerfile.dockerignore");
    let left_out: Vec<&str> = left_out.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(left_out.contains(&"target") && left_out.contains(&".git"), "{left_out:?}");
    for needed in ["migrations", "indexer", "client", "programs", "nano-escrow", "Cargo.lock", ".cargo"] {
        assert!(root.join(needed).exists() && !left_out.contains(&needed), "{needed}");
    }
}

#[test]
fn the_printed_configuration_has_every_default_and_is_read_back() {
    let run = |arguments: &[&str]| {
        let out = Command::new(env!("CARGO_BIN_EXE_zx1-indexer")).args(arguments).output().unwrap();
        assert!(out.status.success(), "{out:?}");
        String::from_utf8(out.stdout).unwrap()
    };
    let printed = run(&["--print-config"]);
    assert_eq!(toml::from_str::<Config>(&printed).unwrap(), Config::default());
    // Nothing is left to a default: each value that is taken away, one at a time, is one that was printed.
    let whole: toml::Table = toml::from_str(&printed).unwrap();
    let again: toml::Table = toml::from_str(&toml::to_string(&Config::default()).unwrap()).unwrap();
    assert_eq!(whole, again);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("indexer.toml");
    std::fs::write(&file, &printed).unwrap();
    assert_eq!(run(&["--config", file.to_str().unwrap(), "--print-config"]), printed);
}
