//! The small tools, JSON and ports.

use super::Case;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new("mkdir-parents", "true", "mkdir a/b/c").check("test -d a/b/c"),
        Case::new("coreutils-target-folder", "echo x > f", "cp f out/g").check("cmp f out/g"),
        Case::new("coreutils-target-folder", "echo x > f", "cp f out/").check("cmp f out/f"),
        Case::new("coreutils-target-folder", "echo x > f", "mv f out/g").check("test -f out/g; test ! -e f"),
        Case::new("coreutils-target-folder", "true", "touch 'log files/a'").check("test -f 'log files/a'"),
        Case::new("coreutils-target-folder", "true", "tee logs/a").check("test -f logs/a"),
        Case::new("coreutils-target-folder", "echo x > f", "ln -s ../f links/f").check("test -L links/f"),
        Case::new("coreutils-target-folder", "echo x > f", "install -m 600 f out/f").check("test -f out/f"),
        Case::new("cp-recursive", "mkdir src; echo x > src/f", "cp src dst")
            .corrected("cp -r src dst")
            .check("test -f dst/f"),
        Case::new("ln-exists", "ln -s v1 current", "ln -s v2 current")
            .check("test \"$(readlink current)\" = v2; test \"$(readlink current.old)\" = v1"),
        Case::new("coreutils-file-typo", "echo hello > readme.txt", "cat raedme.txt").corrected("cat readme.txt"),
        Case::new("coreutils-file-typo", "echo hello > README.md", "head -n 1 readme.md")
            .corrected("head -n 1 README.md"),
        Case::new("coreutils-file-typo", "mkdir docs; echo hello > docs/intro.txt", "wc -l docs/intor.txt")
            .corrected("wc -l docs/intro.txt"),
        Case::new("coreutils-file-typo", "printf 'b\\na\\n' > names.txt", "sort nmaes.txt").corrected("sort names.txt"),
        Case::new("coreutils-file-typo", "echo x > data.csv", "cp dtaa.csv copy.csv")
            .corrected("cp data.csv copy.csv")
            .check("cmp data.csv copy.csv"),
        Case::new("coreutils-file-typo", "echo x > f; tar -cf backup.tar f; rm f", "tar -xf bakcup.tar")
            .corrected("tar -xf backup.tar")
            .check("test -f f"),
        Case::new("coreutils-file-typo", "echo x > notes.txt", "gzip ntoes.txt")
            .corrected("gzip notes.txt")
            .check("test -f notes.txt.gz"),
        Case::new("coreutils-file-typo", "echo x > notes.txt", "grep x ntoes.txt").corrected("grep x notes.txt"),
        Case::new(
            "config-template",
            r#"echo '{"a": 1}' > config.json.example; printf 'import json\nprint(json.load(open("config.json"))["a"])\n' > app.py"#,
            "python3 app.py",
        )
        .check("cmp config.json config.json.example"),
        Case::new("config-template", "mkdir etc; echo 'a = 1' > etc/app.sample.ini", "cat etc/app.ini")
            .check("cmp etc/app.ini etc/app.sample.ini"),
        Case::new("tar-compression", "echo x > f; tar -cf a.tar f; rm f", "tar -xzf a.tar")
            .corrected("tar -xf a.tar")
            .check("test -f f"),
        Case::new("tar-compression", "echo x > f; tar -czf a.tgz f; rm f", "tar xjf a.tgz")
            .corrected("tar xf a.tgz")
            .check("test -f f"),
        Case::new("tar-target-folder", "echo x > f; tar -cf a.tar f", "tar -xf a.tar -C out/new")
            .check("test -f out/new/f"),
        Case::new("find-pattern", "touch a.c b.c", "find . -name *.c -type f")
            .corrected("find . -name '*.c' -type f"),
        Case::new("grep-folder", "mkdir src; echo hello > src/a", "grep hello src")
            .corrected("grep -r hello src"),
        Case::new("sed-unterminated", "echo abc > f", "sed 's/b/x' f").corrected("sed s/b/x/ f"),
        Case::new(
            "patch-level",
            r#"mkdir src; echo a > src/x.txt; printf -- '--- a/src/x.txt\n+++ b/src/x.txt\n@@ -1 +1 @@\n-a\n+b\n' > fix.diff"#,
            "patch -p0 < fix.diff",
        )
        .corrected("patch -p1 < fix.diff")
        .check("grep -qx b src/x.txt"),
        Case::new(
            "patch-level",
            r#"mkdir src; echo a > src/x.txt; printf -- '--- a/src/x.txt\n+++ b/src/x.txt\n@@ -1 +1 @@\n-a\n+b\n' > fix.diff"#,
            "patch -i fix.diff",
        )
        .corrected("patch -p1 -i fix.diff")
        .check("grep -qx b src/x.txt"),
    ]
}

/// Binds the port of the first argument for a moment, while another socket holds it.
const SERVER: &str = r#"cat > serve.py <<'END'
import json, socket, sys
port = int(sys.argv[2]) if len(sys.argv) > 2 else json.load(open("config.json"))["port"]
held = int(open("held").read())
first = socket.socket(); first.bind(("127.0.0.1", held)); first.listen()
second = socket.socket(); second.bind(("127.0.0.1", port)); second.listen()
print("serving")
END
python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])' > held
"#;

pub(crate) fn data() -> Vec<Case> {
    let server = |more: &str| -> &'static str { Box::leak(format!("{SERVER}\n{more}").into_boxed_str()) };
    vec![
        Case::new(
            "json-trailing-comma",
            r#"printf '{\n  "a": [1, 2,],\n  "b": "x,}",\n}\n' > c.json"#,
            "python3 -m json.tool c.json",
        )
        .check(r#"grep -q '"x,}"' c.json"#),
        Case::new(
            "json-trailing-comma",
            r#"printf '{\n  "name": "p",\n  "version": "1.0.0",\n  "scripts": { "build": "true" },\n}\n' > package.json"#,
            "npm run build",
        ),
        Case::new(
            "json-trailing-comma",
            r#"printf '{\n  "a": 1,\n}\n' > c.json; echo 'console.log(require("./c.json").a)' > app.js"#,
            "node app.js",
        ),
        Case::new(
            "json-missing-comma",
            r#"printf '{\n  "a": 1\n  "b": 2\n}\n' > c.json"#,
            "python3 -m json.tool c.json",
        ),
        Case::new(
            "port-in-config",
            server(r#"printf '{\n  "name": "x",\n  "port": %s\n}\n' "$(cat held)" > config.json"#),
            "python3 serve.py",
        )
        .check("python3 -c 'import json; assert json.load(open(\"config.json\"))[\"name\"] == \"x\"'"),
        Case::new(
            "port-in-command",
            server("sed -i 's/held = int.*/held = 48123/' serve.py"),
            "python3 serve.py --port 48123",
        ),
    ]
}
