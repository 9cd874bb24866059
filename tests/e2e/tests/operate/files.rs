//! Units, images and the compose file agree with the programs: command lines, ports, folders, variables.

use crate::{ops, read, root};
use std::collections::BTreeSet;
use std::process::Command;
use zx1_e2e::binary;

const UNITS: [&str; 4] = ["zx1-indexer", "fix-server", "zx1-sponsor", "zx1-relay"];
/// One unit for each agent: the instance is the mint.
const NODE: &str = "systemd/zx1-node@.service";
const MINT: &str = "6tBou5MHL5aWpDy6cgf3wiwGGK2mR8qs68ujtpaoWrf2";
/// Target of the Dockerfile, program, port, and the pages that say that it is well.
const IMAGES: [(&str, &str, u16, &str); 4] = [
    ("indexer", "zx1-indexer", 8910, "/healthz"),
    ("sponsor", "zx1-sponsor", 8895, "/healthz"),
    ("relay", "zx1-relay", 6667, "/healthz"),
    ("market", "fix-server", 8000, "/readyz"),
];

/// The lines of a file that begin with this, without it.
fn after<'a>(text: &'a str, start: &str) -> Vec<&'a str> {
    text.lines().filter_map(|line| line.trim().strip_prefix(start)).collect()
}

/// All words of a text that begin so.
fn words(text: &str, start: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.split(|c| !is_part(c)).filter(|word| word.starts_with(start)).map(str::to_owned).collect()
}

/// What a program would be started with, as it prints it.
#[track_caller]
fn printed(program: &str, arguments: &[String]) -> String {
    let mut command = Command::new(binary(program));
    let output = command.args(arguments).arg("--print-config").env_clear().output().unwrap();
    assert!(output.status.success(), "{program} {arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_units_command_line_is_understood_and_writes_where_systemd_lets_it() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.toml");
    for unit in UNITS {
        let text = read(&format!("systemd/{unit}.service"));
        let line: Vec<&str> = after(&text, "ExecStart=")[0].split_whitespace().collect();
        assert_eq!(line[0], unit, "found where a package or an archive has put it");
        // Its file is one that the program prints itself.
        std::fs::write(&config, printed(unit, &[])).unwrap();
        let at = line.iter().position(|word| *word == "--config").unwrap();
        let named = line[at + 1].to_owned();
        assert!(
            named.starts_with("/etc/zx1/") && text.contains(&format!("configuration is {named} ")),
            "{unit}"
        );
        let arguments: Vec<String> = line[1..]
            .iter()
            .map(|word| if *word == named { config.to_str().unwrap().to_owned() } else { (*word).to_owned() })
            .collect();
        let state = format!("data = \"/var/lib/{}\"", after(&text, "StateDirectory=")[0]);
        assert!(printed(unit, &arguments).lines().any(|line| line == state), "{unit}: {state}");
    }
}

/// Whether the node takes these options: they are read before anything is printed.
#[track_caller]
fn node_takes<'a>(arguments: impl IntoIterator<Item = &'a str>) {
    let mut command = Command::new(binary("zx1-node"));
    let output = command.args(arguments).arg("--print-openapi").env_clear().output().unwrap();
    assert!(output.status.success() && !output.stdout.is_empty(), "{output:?}");
}

#[test]
fn the_units_of_nodes_start_them_as_a_user_of_their_own_with_what_their_files_name() {
    let text = read(NODE);
    let line: Vec<&str> = after(&text, "ExecStart=")[0].split_whitespace().collect();
    assert_eq!((line[0], line[line.len() - 1]), ("zx1-node", "$ZX1_NODE_OPTIONS"));
    // The example of the options in the unit's own comment, in their place.
    let options = after(&text, "#   ZX1_NODE_OPTIONS=")[0].split_whitespace();
    let arguments = line[1..line.len() - 1].iter().map(|word| if *word == "%i" { MINT } else { *word });
    node_takes(arguments.chain(options));
    let value_of = |option: &str| line[line.iter().position(|word| *word == option).unwrap() + 1];
    assert_eq!(value_of("--home"), format!("/var/lib/{}", after(&text, "StateDirectory=")[0]));
    assert_eq!(value_of("--keypair"), "${CREDENTIALS_DIRECTORY}/keypair");
    assert_eq!(after(&text, "LoadCredential="), ["keypair:/etc/zx1/node-%i.json"]);
    assert_eq!(after(&text, "EnvironmentFile="), ["/etc/zx1/node-%i.env"]);
    let user = after(&text, "User=")[0];
    assert!(after(&read("systemd/sysusers.conf"), "u ").iter().any(|line| line.starts_with(user)), "{user}");
    // Its variables are the program's own.
    let output = Command::new(binary("zx1-node")).arg("--help").output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    for name in words(&text, "ZX1_").iter().filter(|name| *name != "ZX1_NODE_OPTIONS") {
        assert!(help.contains(&format!("[env: {name}=")), "{name}");
    }
}

#[test]
fn the_image_of_a_node_starts_it_and_asks_its_own_ports() {
    let dockerfile = read("Dockerfile");
    let stage = dockerfile.split("\nFROM ").find(|stage| stage.starts_with("base AS node\n")).unwrap();
    let entry: Vec<String> = serde_json::from_str(after(stage, "ENTRYPOINT ")[0]).unwrap();
    assert_eq!(entry[0], "zx1-node");
    let volume = after(&dockerfile, "VOLUME ")[0];
    assert!(entry.windows(2).any(|pair| pair == ["--home", volume]), "{entry:?}");
    assert_eq!(after(stage, "ENV "), [format!("ZX1_HOME={volume}")]);
    let compose = read("compose.yaml");
    let service = compose.split("\n  node:\n").nth(1).unwrap();
    let command: Vec<String> = serde_json::from_str(after(service, "command: ")[0]).unwrap();
    node_takes(entry[1..].iter().chain(&command).map(String::as_str));
    assert_eq!(after(stage, "EXPOSE "), ["4001/tcp 4001/udp"]);
    assert!(service.contains("ports: [\"4001:4001/tcp\", \"4001:4001/udp\"]"));
    assert!(stage.contains("http://127.0.0.1:4010/healthz"), "{stage}");
    let output = Command::new(binary("zx1-node")).arg("--help").output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    assert!(help.contains("port 4001") && help.contains("127.0.0.1:4010"), "{help}");
    for program in ["zx1-node", "zx1"] {
        let copied = format!("/src/target/release/{program} /usr/local/bin/{program}");
        assert!(after(stage, "COPY --from=build ").contains(&copied.as_str()), "{program}");
    }
}

#[test]
fn units_are_valid_and_hardened() {
    for unit in UNITS.into_iter().chain(["zx1-node@"]) {
        let file = ops(&format!("systemd/{unit}.service"));
        let text = read(&format!("systemd/{unit}.service"));
        for line in [
            "NoNewPrivileges=yes",
            "ProtectSystem=strict",
            "CapabilityBoundingSet=",
            "StateDirectoryMode=0700",
        ] {
            assert!(text.lines().any(|it| it == line), "{unit}: {line}");
        }
        // Where systemd is, it has the last word: of at most 10, 2 is what it calls OK.
        let security = ["security", "--offline=true", "--threshold=20"];
        if let Ok(output) = Command::new("systemd-analyze").args(security).arg(&file).output() {
            assert!(output.status.success(), "{unit}: {output:?}");
        }
    }
}

#[test]
fn an_images_command_line_port_and_folder_are_those_of_its_program() {
    let dockerfile = read("Dockerfile");
    let volume = after(&dockerfile, "VOLUME ")[0];
    assert!(dockerfile.contains(&format!("--home-dir {volume} ")), "the user can write there");
    for (target, program, port, page) in IMAGES {
        let stage =
            dockerfile.split("\nFROM ").find(|stage| stage.starts_with(&format!("base AS {target}\n")));
        let stage = stage.unwrap_or_else(|| panic!("no stage {target}"));
        let entry: Vec<String> = serde_json::from_str(after(stage, "ENTRYPOINT ")[0]).unwrap();
        assert_eq!(entry[0], program);
        let config = printed(program, &entry[1..]);
        assert!(config.contains(&format!("data = \"{volume}\"")), "{config}");
        assert!(config.contains(&format!("bind = \"0.0.0.0:{port}\"")), "{config}");
        assert_eq!(after(stage, "EXPOSE "), [port.to_string()]);
        assert!(stage.contains(&format!("http://127.0.0.1:{port}{page}")), "{stage}");
        let copied = format!("/src/target/release/{program} /usr/local/bin/{program}");
        assert_eq!(after(stage, "COPY --from=build "), [copied]);
        assert!(read("compose.yaml").contains(&format!("[\"127.0.0.1:{port}:{port}\"]")), "{program}");
    }
}

#[test]
fn prometheus_asks_each_server_where_it_serves_metrics() {
    let prometheus = read("prometheus.yml");
    assert_eq!(
        after(&prometheus, "- targets: "),
        ["[\"indexer:8910\"]", "[\"market:9100\"]", "[]", "[]", "[]"]
    );
    assert!(read("Dockerfile").contains("\"--metrics\", \"0.0.0.0:9100\""));
    // The rules know the servers by the same jobs.
    let jobs: Vec<&str> = after(&prometheus, "- job_name: ");
    assert_eq!(jobs, ["zx1-indexer", "fix-market", "zx1-sponsor", "zx1-relay", "zx1-node"]);
    assert!(read("alerts.yml").contains(&format!("job=~\"{}\"", jobs.join("|"))));
}

#[test]
fn every_variable_of_the_compose_file_is_read_by_its_program() {
    let compose = read("compose.yaml");
    let help = |program: &str| {
        let output = Command::new(binary(program)).arg("--help").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let helps: String = UNITS.iter().chain(&["zx1-node"]).map(|program| help(program)).collect();
    // Those that are set for a container: a name, a colon.
    let set: Vec<&str> = compose
        .lines()
        .filter_map(|line| line.trim().split_once(": ").map(|(name, _)| name))
        .filter(|name| name.starts_with("ZX1_") || name.starts_with("FIX_"))
        .collect();
    assert!(set.len() > 8, "{set:?}");
    for name in set {
        assert!(helps.contains(&format!("[env: {name}=")), "{name}");
    }
    assert!(!words(&compose, "ZX1_").is_empty());
}

#[test]
fn images_are_built_from_files_that_are_here() {
    let (root, dockerfile) = (root(), read("Dockerfile"));
    for line in after(&dockerfile, "RUN cargo build ") {
        assert!(line.starts_with("--release --locked -p zx1-"), "{line}");
    }
    assert!(root.join("Cargo.lock").is_file(), "--locked needs it");
    // The compiler of the image is not older than what the workspace asks for.
    let manifest = std::fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let wanted = after(&manifest, "rust-version = ")[0].trim_matches('"');
    let image = after(&dockerfile, "FROM rust:")[0];
    assert!(image.starts_with(&format!("{wanted}-")), "{image} is not of {wanted}");
    // From the folder of the compose file, as it says.
    let compose = read("compose.yaml");
    for context in after(&compose, "context: ") {
        assert_eq!(ops(context).canonicalize().unwrap(), root);
    }
    for file in after(&compose, "dockerfile: ") {
        assert!(root.join(file).is_file(), "{file}");
    }
    for line in after(&compose, "- ./") {
        let file = line.split(':').next().unwrap();
        assert!(ops(file).is_file(), "{file}");
    }
    // What need not be sent to the builder, and what must.
    let left_out = read("Dockerfile.dockerignore");
    let left_out: Vec<&str> = left_out.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(left_out.contains(&"target") && left_out.contains(&".git"), "{left_out:?}");
    for needed in ["migrations", "indexer", "client", "programs", "nano-escrow", "Cargo.lock", ".cargo"] {
        assert!(root.join(needed).exists() && !left_out.contains(&needed), "{needed}");
    }
}
