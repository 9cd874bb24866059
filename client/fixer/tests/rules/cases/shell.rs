//! sh and bash.

use super::Case;

pub(crate) fn cases() -> Vec<Case> {
    let run = r#"printf '#!/bin/sh\necho ran > ran.txt\n' > run.sh"#;
    vec![
        Case::new("sh-not-executable", run, "./run.sh").check("test -f ran.txt; test -x run.sh"),
        Case::new("sh-not-executable", run, "./run.sh").bash().check("test -f ran.txt"),
        Case::new(
            "sh-not-executable",
            r#"mkdir tools; printf '#!/bin/sh\ntrue\n' > tools/gen.sh; printf 'all:\n\t./tools/gen.sh\n' > Makefile"#,
            "make",
        ),
        Case::new(
            "sh-not-executable",
            r#"printf '#!/bin/sh\ntrue\n' > gen.sh; printf '#!/bin/sh\nset -e\n./gen.sh\n' > build.sh"#,
            "sh build.sh",
        ),
        Case::new("sh-crlf-shebang", r#"printf '#!/bin/bash\r\necho ran\r\n' > run.sh; chmod +x run.sh"#, "./run.sh")
            .check("! grep -q \"$(printf '\\r')\" run.sh"),
        Case::new("sh-crlf-shebang", r#"printf '#!/bin/bash\r\necho ran\r\n' > run.sh; chmod +x run.sh"#, "./run.sh")
            .bash(),
        Case::new(
            "sh-crlf-shebang",
            r#"printf '#!/usr/bin/env python3\r\nprint(1)\r\n' > run.py; chmod +x run.py"#,
            "./run.py",
        ),
        Case::new(
            "sh-interpreter-path",
            r#"printf '#!/opt/nowhere/bin/python3\nprint(1)\n' > run.py; chmod +x run.py"#,
            "./run.py",
        )
        .check("head -n 1 run.py | grep -qx '#!/usr/bin/env python3'"),
        Case::new(
            "sh-interpreter-path",
            r#"printf '#!/opt/nowhere/bin/bash\ntrue\n' > run.sh; chmod +x run.sh"#,
            "./run.sh",
        )
        .bash(),
        Case::new(
            "sh-crlf-script",
            r#"printf 'set -e\r\nfor i in 1 2; do\r\n echo $i\r\ndone\r\n' > run.sh"#,
            "bash run.sh",
        ),
        Case::new("sh-crlf-script", r#"printf 'for i in 1 2; do\r\n echo $i\r\ndone\r\n' > run.sh"#, "sh run.sh"),
        Case::new(
            "sh-test-bracket",
            r#"printf '#!/bin/bash\nset -e\nif [ -d .]; then\n  touch ran.txt\nelse\n  exit 3\nfi\n' > run.sh"#,
            "bash run.sh",
        )
        .check("test -f ran.txt"),
        Case::new(
            "sh-wrong-shell",
            r#"printf '#!/usr/bin/env bash\nnames=(a b)\necho "${names[1]}" > ran.txt\n' > run.sh"#,
            "sh run.sh",
        )
        .corrected("bash run.sh")
        .check("grep -qx b ran.txt"),
        Case::new(
            "sh-bash-shebang",
            r#"printf '#!/bin/sh\nset -e\nshopt -s nullglob\n[[ a == a* ]] && touch ran.txt\n' > run.sh; chmod +x run.sh"#,
            "./run.sh",
        )
        .check("test -f ran.txt"),
        Case::new("sh-program-typo", "git init -q", "gti status").corrected("git status"),
        Case::new("sh-program-typo", "true", "pyhton3 -c 'print(1)'").bash().corrected("python3 -c 'print(1)'"),
        Case::new("sh-program-near-typo", "echo x > f", "sha256smu f").corrected("sha256sum f"),
        Case::new("sh-program-near-typo", "true", "basenmae a/b").bash().corrected("basename a/b"),
        Case::new("sh-program-name", "echo 'print(1)' > a.py", "python a.py")
            .only_programs(&["python3", "which", "cat", "ls", "sh"])
            .corrected("python3 a.py"),
        Case::new("sh-program-in-tree", r#"printf '#!/bin/sh\ntrue\n' > myapp; chmod +x myapp"#, "myapp --fast")
            .corrected("./myapp --fast"),
        Case::new("sh-redirect-folder", "true", "echo hello > out/deep/log.txt").check("grep -qx hello out/deep/log.txt"),
        Case::new("sh-redirect-folder", "true", "echo hello >> 'my out/log.txt'").bash().check("test -s 'my out/log.txt'"),
    ]
}
