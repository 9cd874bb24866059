//! Which paths hold secrets (decision E11): no agent reads them, every sandbox masks them.
//!
//! Three kinds of pattern, because a secret is known by where it lies or by what it is called:
//!
//! - [`HOME`]: below a home folder. Whose home is not known here, so the components count wherever they
//!   occur.
//! - [`SYSTEM`]: absolute paths.
//! - [`NAMES`]: a file or folder of that name anywhere; `*` stands for any text within one component.
//!
//! A pattern covers everything below it. Letter case is ignored, because some filesystems ignore it.

/// One pattern and what is kept there, for the refusal's sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecretPath {
    /// Components separated by `/`; only [`SYSTEM`] begins with one.
    pub pattern: &'static str,
    /// "the secrets of …"
    pub what: &'static str,
}

macro_rules! patterns {
    ($($what:literal: $($pattern:literal)+;)+) => {
        &[$($(SecretPath { pattern: $pattern, what: $what },)+)+]
    };
}

/// Relative to a home folder. The sandbox masks each of them in every home that it shows.
pub const HOME: &[SecretPath] = patterns! {
    "keys of fix and zx1": ".fix" ".zx1" ".config/fix" ".config/zx1" ".local/share/zx1" ".local/share/fix";
    "Solana keys": ".config/solana" ".config/anchor";
    "keys of other chains": ".bitcoin" ".ethereum" ".electrum" ".nano" "RaiBlocks" ".near-credentials"
        ".sui" ".aptos" ".foundry/keystores" ".brownie/accounts";
    "ssh keys": ".ssh";
    "gpg keys": ".gnupg";
    "cloud credentials": ".aws" ".azure" ".config/gcloud" ".config/doctl" ".config/hcloud"
        ".config/linode-cli"
        ".config/scw" ".config/oci" ".oci" ".bluemix" ".aliyun" ".boto" ".s3cfg" ".config/rclone"
        ".rclone.conf"
        ".config/heroku" ".heroku" ".fly" ".config/netlify" ".netlify" ".vercel" ".config/vercel"
        ".local/share/com.vercel.cli" ".wrangler" ".config/.wrangler" ".databrickscfg" ".snowflake" ".snowsql"
        ".config/gspread" ".kaggle" ".modal.toml" ".config/huggingface" ".huggingface"
        ".cache/huggingface/token";
    "cluster credentials": ".kube" ".helm/repository" ".config/helm" ".config/k9s" ".minikube/profiles"
        ".config/argocd" ".docker/config.json" ".docker/contexts" ".docker/desktop"
        ".config/containers/auth.json" ".terraform.d" ".terraformrc" ".pulumi"
        ".vault-token" ".config/op" ".config/sops" ".ansible/vault" ".consul-token" ".nomad-token";
    "git credentials": ".git-credentials" ".config/git/credentials" ".config/gh" ".config/hub"
        ".config/glab-cli"
        ".config/tea" ".git-credential-cache" ".cache/git/credential";
    "registry credentials": ".npmrc" ".yarnrc" ".yarnrc.yml" ".config/configstore" ".pypirc" ".pip/pip.conf"
        ".config/pip" ".config/pypoetry" ".cargo/credentials" ".cargo/credentials.toml" ".gem/credentials"
        ".bundle/config" ".m2/settings.xml" ".m2/settings-security.xml" ".gradle/gradle.properties"
        ".sbt/.credentials" ".ivy2/.credentials" ".composer/auth.json" ".config/composer/auth.json"
        ".nuget/NuGet"
        ".config/NuGet" ".condarc" ".hex/hex.config" ".config/hub" ".pub-cache/credentials.json";
    "browser data": ".mozilla" ".config/google-chrome" ".config/chromium" ".config/BraveSoftware"
        ".config/microsoft-edge" ".config/vivaldi" ".config/opera" ".librewolf" ".zen" ".thunderbird"
        "snap/firefox" "snap/chromium" ".var/app" "Library/Application Support" "Library/Keychains"
        "Library/Cookies" "Library/Safari";
    "passwords": ".password-store" ".local/share/keyrings" ".local/share/kwalletd" ".config/1Password"
        ".config/Bitwarden" ".config/Bitwarden CLI" ".config/keepassxc" ".config/Signal" ".config/Slack"
        ".config/discord" ".local/share/TelegramDesktop" ".config/evolution" ".gconf" ".config/rbw"
        ".authinfo"
        ".authinfo.gpg" ".config/sshuttle" ".config/filezilla" ".remmina" ".local/share/remmina" ".vnc" ".rdp"
        ".config/Code/User/globalStorage" ".claude.json" ".claude/.credentials.json" ".codex/auth.json"
        ".config/openai" ".config/anthropic" ".config/github-copilot" ".aider.conf.yml"
        ".config/io.datasette.llm";
    "database passwords": ".pgpass" ".my.cnf" ".mylogin.cnf" ".mongorc.js" ".mongodb" ".dbshell" ".cqlshrc"
        ".cassandra/credentials" ".config/pgcli" ".config/mycli" ".odbc.ini" ".dbvis"
        ".local/share/DBeaverData";
    "shell history": ".local/share/fish" ".config/fish/fish_history" ".local/share/mc/history" ".zsh_sessions"
        ".bash_sessions" ".local/share/powershell/PSReadLine" ".local/share/atuin" ".local/state/bash";
};

/// Absolute paths.
pub const SYSTEM: &[SecretPath] = patterns! {
    "password hashes": "/etc/shadow" "/etc/shadow-" "/etc/gshadow" "/etc/gshadow-" "/etc/master.passwd"
        "/etc/security/opasswd" "/etc/sudoers" "/etc/sudoers.d" "/var/backups" "/var/db/shadow" "/etc/tcb";
    "host keys": "/etc/ssl/private" "/etc/pki/tls/private" "/etc/krb5.keytab" "/etc/letsencrypt"
        "/etc/wireguard"
        "/etc/openvpn" "/etc/ipsec.secrets" "/etc/ppp" "/etc/NetworkManager/system-connections"
        "/etc/wpa_supplicant" "/var/lib/iwd" "/var/lib/bluetooth" "/etc/credstore" "/etc/credstore.encrypted"
        "/var/lib/systemd/credential.secret" "/var/lib/sss" "/var/lib/private" "/var/lib/tpm";
    "service credentials": "/run/secrets" "/var/run/secrets" "/run/credentials" "/etc/docker/key.json"
        "/etc/kubernetes" "/var/lib/kubelet" "/var/lib/docker" "/var/lib/containerd" "/var/lib/rancher"
        "/etc/rancher" "/etc/mysql/debian.cnf" "/etc/postfix/sasl_passwd" "/etc/exim4/passwd.client"
        "/etc/cifs-credentials" "/etc/apt/auth.conf" "/etc/apt/auth.conf.d" "/etc/pip.conf" "/etc/grafana"
        "/etc/vault.d" "/var/spool/cron" "/var/mail" "/var/spool/mail" "/etc/fix" "/etc/zx1"
        "/etc/environment.d";
    "sockets of the host": "/run/docker.sock" "/var/run/docker.sock" "/run/containerd" "/run/podman"
        "/run/user"
        "/run/dbus/system_bus_socket" "/run/systemd/private" "/run/systemd/journal" "/tmp/.X11-unix"
        "/tmp/.ICE-unix";
    "memory of the machine": "/proc/kcore" "/proc/kmem" "/proc/kallsyms" "/proc/sysrq-trigger" "/proc/keys"
        "/proc/key-users" "/proc/kpagecount" "/dev/mem" "/dev/kmem" "/dev/port" "/sys/kernel/debug"
        "/sys/kernel/security" "/sys/firmware/efi/efivars" "/boot/efi";
};

/// A component of that name, anywhere.
pub const NAMES: &[SecretPath] = patterns! {
    "environment secrets": ".env" ".env.*" "*.env" ".envrc" ".env-*" ".secrets" ".secret" ".dev.vars";
    "ssh keys": "id_rsa" "id_dsa" "id_ecdsa" "id_ecdsa_sk" "id_ed25519" "id_ed25519_sk" "identity.pem"
        "ssh_host_*_key" "authorized_keys" "*.ppk";
    "private keys": "*.key" "*.p12" "*.pfx" "*.jks" "*.keystore" "*.kdbx" "*.kdb" "*.agekey" "*.p8" "*.pkcs12"
        "*private*.pem" "*privkey*" "*-key.pem" "*_key.pem" "key.pem" "key.ed25519" "*.asc.key" "secring.gpg"
        "*.ovpn" "wallet.dat" "*keypair*.json" "id.json" "wallets.ldb";
    "shell history": ".bash_history" ".zsh_history" ".sh_history" ".ash_history" ".ksh_history" ".history"
        ".histfile" ".python_history" ".node_repl_history" ".irb_history" ".pry_history" ".psql_history"
        ".mysql_history" ".mariadb_history" ".sqlite_history" ".rediscli_history" ".mongo_history" ".dbshell"
        ".php_history" ".R_history" ".Rhistory" ".lesshst" ".viminfo" ".wget-hsts" "fish_history"
        ".julia_history" ".scala_history" ".gdb_history" ".octave_hist" "main.shada";
    "credentials": ".netrc" "_netrc" ".npmrc" ".pypirc" ".pgpass" ".my.cnf" ".git-credentials" ".dockercfg"
        ".htpasswd" ".vault_pass" ".vault-pass" ".vault_pass.txt" ".vault-token" "credentials.json"
        "client_secret*.json" "service-account*.json" "service_account*.json" "*serviceaccount*.json"
        "secrets.yml" "secrets.yaml" "secrets.json" "secrets.toml" "*.tfvars" "*.tfvars.json" "*.tfstate"
        "*.tfstate.backup" "kubeconfig" "*.kubeconfig" ".s3cfg" ".boto" ".databrickscfg" "auth.json"
        ".smbcredentials" "cookies.sqlite" "logins.json" "Login Data" "login.keychain*";
};

/// Names of [`NAMES`] that are examples or public halves, so they stay readable.
const HARMLESS: &[&str] = &[
    ".env.example",
    ".env.sample",
    ".env.template",
    ".env.dist",
    ".env.defaults",
    ".env-example",
    ".env-sample",
    "example.env",
    "sample.env",
    "template.env",
    "*.key.pub",
    "*.tfvars.example",
];

/// The pattern that covers this path, if it names a secret. Purely textual: `.`, `..` and doubled slashes are
/// folded first; links are not followed, so check the resolved path too.
///
/// A `~` at the start stands for a home folder.
pub fn is_secret(path: &str) -> Option<&'static SecretPath> {
    let (absolute, parts) = fold(path);
    let lower: Vec<String> = parts.iter().map(|part| part.to_ascii_lowercase()).collect();
    let below = |pattern: &'static SecretPath, anywhere: bool| {
        let wanted: Vec<String> =
            pattern.pattern.split('/').filter(|part| !part.is_empty()).map(str::to_ascii_lowercase).collect();
        let hit = if anywhere {
            lower.windows(wanted.len()).any(|window| window == wanted)
        } else {
            absolute && lower.starts_with(&wanted)
        };
        hit.then_some(pattern)
    };
    let named = |pattern: &'static SecretPath| {
        let wanted = pattern.pattern.to_ascii_lowercase();
        let hit = lower.iter().any(|part| {
            matches_glob(&wanted, part) && !HARMLESS.iter().any(|harmless| matches_glob(harmless, part))
        });
        hit.then_some(pattern)
    };
    SYSTEM
        .iter()
        .find_map(|pattern| below(pattern, false))
        .or_else(|| HOME.iter().find_map(|pattern| below(pattern, true)))
        .or_else(|| NAMES.iter().find_map(named))
        .or_else(|| process_secret(absolute, &lower))
}

/// Every fixed path to mask for these homes: [`SYSTEM`], then [`HOME`] below each. [`NAMES`] need a walk.
pub fn fixed<'a>(homes: &'a [&'a str]) -> impl Iterator<Item = String> + 'a {
    let system = SYSTEM.iter().map(|path| path.pattern.to_owned());
    let below = homes.iter().flat_map(|home| {
        let home = home.trim_end_matches('/');
        HOME.iter().map(move |path| format!("{home}/{}", path.pattern))
    });
    system.chain(below)
}

/// True for a file or folder name that [`NAMES`] covers; for a sandbox that walks a tree.
pub fn is_secret_name(name: &str) -> bool {
    !name.contains('/') && is_secret(name).is_some()
}

/// Another process's memory, descriptors and environment.
fn process_secret(absolute: bool, parts: &[String]) -> Option<&'static SecretPath> {
    const PROCESS: SecretPath = SecretPath { pattern: "/proc/*", what: "another process's memory or files" };
    const FILES: &[&str] = &[
        "mem",
        "environ",
        "fd",
        "fdinfo",
        "maps",
        "smaps",
        "pagemap",
        "root",
        "cwd",
        "map_files",
        "task",
        "auxv",
    ];
    let process = absolute && parts.first().is_some_and(|part| part == "proc");
    let file = parts.get(2).is_some_and(|part| FILES.contains(&part.as_str()));
    (process && file).then_some(&PROCESS)
}

/// Folds `.`, `..` and empty components. A `..` above the start is dropped, which errs towards more matches.
fn fold(path: &str) -> (bool, Vec<&str>) {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    (path.starts_with('/'), parts)
}

/// `*` matches any text. Linear in the product of two short lengths: components are at most 255 bytes.
fn matches_glob(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(mut rest) = pieces.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let mut last = None;
    for piece in pieces {
        if let Some(middle) = last.replace(piece) {
            match rest.find(middle) {
                Some(at) => rest = rest.get(at + middle.len()..).unwrap_or_default(),
                None => return false,
            }
        }
    }
    last.map_or(rest.is_empty(), |end| rest.ends_with(end))
}
