//! Python and pip.

use super::Case;

pub(crate) fn sources() -> Vec<Case> {
    vec![
        Case::new(
            "python-tabs",
            r#"printf 'def f():\n    if True:\n        x = 1\n\treturn x\n' > a.py; printf 'def f():\n    x = 1\n\treturn x\nprint(f())\n' > a.py"#,
            "python3 a.py",
        )
        .check("! grep -q \"$(printf '\\t')\" a.py"),
        Case::new(
            "python-print",
            r#"printf 'import sys\nfor i in range(2):\n    print "item", i\nprint "done"\nif i: print i\nprint\n' > a.py"#,
            "python3 a.py",
        )
        .check("python3 a.py | grep -qx 'item 0'"),
        Case::new(
            "python-except-comma",
            r#"printf 'try:\n    int("x")\nexcept ValueError, error:\n    print(error)\n' > a.py"#,
            "python3 a.py",
        ),
        Case::new("python-colon", r#"printf 'def f()\n    return 1\nf()\n' > a.py"#, "python3 a.py"),
        Case::new("python-encoding", r#"printf '#!/usr/bin/env python3\nprint(len("caf\351"))\n' > a.py"#, "python3 a.py")
            .check("test \"$(python3 a.py)\" = 4"),
        Case::new("python-did-you-mean", r#"printf 'count = 3\npritn(count)\n' > a.py"#, "python3 a.py")
            .check("test \"$(python3 a.py)\" = 3"),
        Case::new(
            "python-import",
            r#"printf '#!/usr/bin/env python3\n"""Says where it is."""\nfrom __future__ import annotations\n\nprint(os.path.basename("/a/b"))\n' > a.py"#,
            "python3 a.py",
        )
        .check("test \"$(python3 a.py)\" = b"),
        Case::new(
            "python-renamed-module",
            r#"printf 'import ConfigParser\nc = ConfigParser.ConfigParser()\nprint(c.sections())\n' > a.py"#,
            "python3 a.py",
        ),
        Case::new(
            "python-renamed-module",
            r#"printf 'from StringIO import StringIO\nprint(StringIO("x").read())\n' > a.py"#,
            "python3 a.py",
        ),
    ]
}

/// A virtual environment that sees the system's pip, and a folder that stands for the package mirror, with one wheel made by hand.
const ENVIRONMENT: &str = r#"python3 -m venv --without-pip --system-site-packages .venv
mkdir mirror
python3 - <<'END'
import zipfile
info = "greet-1.0.dist-info/"
with zipfile.ZipFile("mirror/greet-1.0-py3-none-any.whl", "w") as wheel:
    wheel.writestr("greet.py", "def hello():\n    return 'hello'\n")
    wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\nName: greet\nVersion: 1.0\n")
    wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    wheel.writestr(info + "RECORD", "greet.py,,\n" + info + "METADATA,,\n" + info + "WHEEL,,\n" + info + "RECORD,,\n")
END
printf 'import greet\nprint(greet.hello())\n' > app.py
printf '# what the program needs\ngreet==1.0\n' > requirements.txt
"#;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(
            "python-module-path",
            "mkdir -p src/tools; touch src/tools/__init__.py; echo 'import tools' > app.py",
            "python3 app.py",
        )
        .corrected("PYTHONPATH=src python3 app.py"),
        Case::new("python-module-path", "mkdir lib; echo 'x = 1' > lib/settings_local.py", "python3 -c 'import settings_local'")
            .corrected("PYTHONPATH=lib python3 -c 'import settings_local'"),
        Case::new(
            "python-relative-import",
            r#"mkdir pkg; touch pkg/__init__.py; echo 'x = 1' > pkg/util.py; printf 'from .util import x\nprint(x)\n' > pkg/main.py"#,
            "python3 pkg/main.py --fast",
        )
        .corrected("python3 -m pkg.main --fast"),
        Case::new("python-script-typo", "echo 'print(1)' > main.py", "python3 mian.py").corrected("python3 main.py"),
        Case::new(
            "python-output-folder",
            r#"printf 'with open("out/r.txt", "w") as f:\n    f.write("a")\n' > a.py"#,
            "python3 a.py",
        )
        .check("test -s out/r.txt"),
        Case::new(
            "python-output-folder",
            r#"printf 'from pathlib import Path\nPath("out/r.txt").write_text("a")\n' > a.py"#,
            "python3 a.py",
        )
        .check("test -s out/r.txt"),
        Case::new("pip-command-typo", "true", "python3 -m pip lst").corrected("python3 -m pip list"),
        Case::new("pip-requirements-typo", "echo '# nothing' > requirements.txt", "python3 -m pip install -r requirments.txt")
            .corrected("python3 -m pip install -r requirements.txt"),
        Case::new("pip-missing-package", ENVIRONMENT, ".venv/bin/python app.py")
            .network()
            .check("test \"$(.venv/bin/python app.py)\" = hello"),
    ]
}
