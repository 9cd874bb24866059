"""Runs commands that fail and keeps what they print: the ground that make.py plants secrets in.

    python3 tests/vectors/fix/scrubber/collect.py

Every command runs in a folder and a home of its own, without network but loopback. Paths and names of this machine
are replaced, so that the result tells nothing about it. The result, outputs.json, is committed; tools that are not
installed are left out with a line on standard error. Cloud tools, which are not installed, come from texts
in our own words in make.py.
"""

import json
import os
import pathlib
import re
import socket
import subprocess
import tempfile

HERE = pathlib.Path(__file__).parent

FILES = {
    "math.c": "#include <math.h>\n#include <stdio.h>\nint main(int c, char **v) { printf(\"%f\\n\", sqrt(c)); return 0; }\n",
    "missing.c": "#include <openssl/nothing.h>\nint main(void) { return 0; }\n",
    "syntax.c": "int main(void) {\n    int token = 1\n    return token +;\n}\nint f( { return 0; }\n",
    "types.c": "#include <string.h>\nint main(void) { char *password = 12; int key = \"abc\"; return strlen(1, key); }\n",
    "templates.cc": "#include <map>\n#include <string>\n#include <algorithm>\n#include <vector>\nstruct K {};\n"
                    "int main() { std::map<K, std::string> m; m[K()] = 1; std::vector<K> v; std::sort(v.begin(), v.end());"
                    " std::string s = 5 + nullptr; return s; }\n",
    "link.cc": "#include <string>\nvoid token(const std::string &key); int main() { token(\"x\"); extern int secret(); return secret(); }\n",
    "a.py": "import json\ndef load(path):\n    return json.loads(open(path).read())['auth']['token']\nload('config.json')\n",
    "b.py": "import requests_nothing\n",
    "c.py": "def f(:\n    pass\n",
    "d.py": "import os\nkey = os.environ['API_KEY']\n",
    "e.py": "import urllib.request\nurllib.request.urlopen('http://127.0.0.1:9/')\n",
    "f.py": "x = {'a': [1, 2, 3]}\nprint(x['a']['b'])\n",
    "config.json": "{\"auth\": {\"user\": \"bob\"}, \"port\": 8080,}\n",
    "a.js": "const key = require('left-pad-nothing');\n",
    "b.js": "const token = JSON.parse('{\"a\": }');\n",
    "c.js": "function f() { return undefined.password; }\nf();\n",
    "d.js": "let a = ;\n",
    "package.json": "{\"name\": \"demo\", \"version\": \"1.0.0\", \"scripts\": {\"build\": \"tsc -p .\", \"test\": \"exit 3\"}, \"dependencies\": {\"left-pad\": \"^1.3.0\"}}\n",
    "Makefile": "all: app\napp: math.o\n\tgcc -o app math.o\ntest:\n\t./no-such-program --check\ntabs:\n        echo hello\n",
    "A.java": "public class A { public static void main(String[] a) { String token = 5; int key = secret(); undefined.x(); } }\n",
    "B.java": "public class B { public static void main(String[] a) { Object o = null; System.out.println(o.toString()); } }\n",
    "pom.xml": "<project><modelVersion>4.0.0</modelVersion><groupId>g</groupId><artifactId>a</artifactId><version>1</version>"
               "<dependencies><dependency><groupId>x.y</groupId><artifactId>nothing</artifactId><version>9.9.9</version></dependency></dependencies></project>\n",
    "main.rs": "struct Token { key: u32 }\nfn main() { let token: Token = \"x\"; let password: &str = 5; println!(\"{}\", secret); token.sign(); }\n",
    "borrow.rs": "fn main() { let key = String::from(\"k\"); let a = key; println!(\"{key}{a}\"); let v: Vec<i32> = vec![1]; let f = &v[9]; drop(v); println!(\"{f}\"); }\n",
    "Cargo.toml": "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\nno-such-crate-here = { path = \"../nothing\" }\n[[bin]]\nname = \"demo\"\npath = \"main.rs\"\n",
    "script.sh": "set -e\nif [ -f x ; then\necho y\n",
    "bad.sql": "SELEC * FROM users;\n",
    "Dockerfile": "FROM scratch\nRUN no-such\n",
    "requirements.txt": "no-such-package-at-all==1.2.3 --hash=sha256:" + "0123456789abcdef" * 4 + "\n",
    "pyproject.toml": "[project]\nname = 'demo'\nversion = \n",
    "CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nproject(demo C)\nfind_package(NothingAtAll REQUIRED)\n",
    "bad.yaml": "a: [1, 2\nb: c: d\n",
}

COMMANDS = """
gcc math.c -o math
gcc missing.c
gcc syntax.c
gcc -Wall -Wextra types.c
gcc -c math.c -o no/such/folder/math.o
gcc -lnothing math.c -lm
gcc -march=nothing math.c
g++ templates.cc
g++ link.cc -o link
ld -o x no-such.o
ld -shared math.c
make
make test
make -f tabs.mk
make no-such-target
make -C no-such-folder
python3 a.py
python3 b.py
python3 c.py
python3 d.py
python3 e.py
python3 f.py
python3 no-such.py
python3 -m no_such_module
python3 -c "import ssl; ssl.create_default_context(cafile='nothing.pem')"
python3 -c "open('/nothing/here')"
python3 -c "int('0xZZ')"
python3 -c "import socket; socket.create_connection(('127.0.0.1', 9))"
pip install --no-index no-such-package-at-all
pip install --no-index -r requirements.txt --require-hashes
pip install --no-index .
pip show no-such-package-at-all
pip nothing
node a.js
node b.js
node c.js
node d.js
node no-such.js
node --nothing
npm run no-such-script
npm test
npm run build
npm ls
npm ci
npm install --offline
npm nothing
cargo build --offline
cargo check --manifest-path nothing/Cargo.toml
cargo nothing
rustc main.rs
rustc borrow.rs
rustc --edition 2031 main.rs
rustc no-such.rs
javac A.java
javac -d out Nothing.java
java Nothing
java -jar nothing.jar
java B.java
mvn -o -q compile
mvn -o no-such-goal
git status
git -C repo checkout no-such-branch
git -C repo commit -m x
git -C repo merge other
git -C repo rebase other
git -C repo push origin main
git -C repo pull
git -C repo log -3 --stat
git -C repo show --no-patch HEAD
git -C repo reflog
git -C repo cherry-pick HEAD
git -C repo diff HEAD~1
git -C repo rev-parse HEAD
git -C repo for-each-ref
git -C repo cat-file -p HEAD
git -C repo checkout HEAD~1
git -C repo branch -vv
git -C repo bisect bad
git -C repo nothing
git clone http://127.0.0.1:9/org/repo.git
git clone no-such-folder copy
psql -h 127.0.0.1 -p 9 -U bob -d shop -c "select 1"
psql postgresql://127.0.0.1:9/shop
docker ps
docker build .
docker -H tcp://127.0.0.1:9 images
ssh -p 9 -o BatchMode=yes bob@127.0.0.1
ssh -i nothing -p 9 127.0.0.1
curl -sS http://127.0.0.1:9/
curl -v http://127.0.0.1:PORT/v1/items
curl -v -H "Accept: application/json" http://127.0.0.1:PORT/health
curl --nothing
tar xf no-such.tar.gz
tar xzf math.c
tar cf /nothing/x.tar math.c
bash script.sh
bash -c "no-such-command --version"
bash -c "cd /nothing"
bash -c "./math.c"
bash -c "exit 3"
sh -c "cat no-such-file; ls -la /nothing"
cp math.c /nothing/x
chmod 999 math.c
cmake -S . -B build
cmake nothing
sha256sum math.c a.py no-such
md5sum math.c a.py
sha1sum a.js b.js c.js
openssl x509 -in math.c
openssl dgst -sha256 math.c a.py
openssl verify math.c
file math.c /bin/ls
readelf -n /bin/ls
nm /bin/ls
objdump -d math.c
ldd math.c
uname -r
stat math.c no-such
df -h /nothing
find /nothing -name x
grep -rn needle no-such
sqlite3 x.db .nothing
perl -e "die 'no key given'"
perl -e "use No::Such::Module;"
gdb --nothing
go build
ruby x.rb
"""


def server():
    """A server on loopback that refuses everything; curl -v shows its headers."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(8)
    import threading

    def serve():
        while True:
            connection, _ = listener.accept()
            connection.recv(4096)
            body = b'{"error": "unauthorized", "message": "missing bearer token"}'
            connection.sendall(b"HTTP/1.1 401 Unauthorized\r\nContent-Type: application/json\r\nX-Request-Id: "
                               b"4bf92f3577b34da6a3ce929d0e0e4736\r\nWWW-Authenticate: Basic realm=\"items\"\r\n"
                               b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
            connection.close()

    threading.Thread(target=serve, daemon=True).start()
    return listener.getsockname()[1]


def main():
    port = server()
    results = []
    with tempfile.TemporaryDirectory() as top:
        work, home = pathlib.Path(top) / "work", pathlib.Path(top) / "home"
        work.mkdir(), home.mkdir()
        for name, content in FILES.items():
            (work / name).write_text(content)
        (work / "tabs.mk").write_text("all:\n        echo hello\n")
        keep = {name: os.environ[name] for name in ("PATH", "RUSTUP_HOME", "CARGO_HOME", "PYENV_ROOT") if name in os.environ}
        real = os.path.expanduser("~")
        environment = {
            "RUSTUP_HOME": f"{real}/.rustup", "PYENV_ROOT": f"{real}/.pyenv", **keep, "HOME": str(home), "LC_ALL": "C.UTF-8",
            "GIT_TERMINAL_PROMPT": "0", "GIT_AUTHOR_NAME": "Bob", "GIT_AUTHOR_EMAIL": "bob@example.com",
            "GIT_COMMITTER_NAME": "Bob", "GIT_COMMITTER_EMAIL": "bob@example.com", "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_DATE": "2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE": "2026-01-02T03:04:05Z", "CARGO_NET_OFFLINE": "true",
            "npm_config_update_notifier": "false", "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }
        quiet = dict(cwd=work, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        subprocess.run("git init -q -b main repo; cd repo; echo a > a; git add a; git commit -qm 'first: token parser';"
                       "git checkout -qb other; echo b > a; git commit -qam 'other key'; git checkout -q main; echo c > a;"
                       "git commit -qam 'main password check'; git remote add origin http://127.0.0.1:9/org/repo.git;"
                       "git config branch.main.remote origin; git config branch.main.merge refs/heads/main", shell=True, **quiet)
        for line in COMMANDS.strip().splitlines():
            shown = line.replace("PORT", "8080")
            try:
                done = subprocess.run(["bash", "-c", line.replace("PORT", str(port))], cwd=work, env=environment, timeout=60,
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            except subprocess.TimeoutExpired:
                print("too slow:", line)
                continue
            text = done.stdout.decode("utf-8", "replace")
            if "command not found" in text and "no-such" not in line:
                print("not installed:", line)
                continue
            for found, put in ((str(work), "/home/bob/demo"), (str(home), "/home/bob"), (real, "/home/bob"), (top, "/tmp/x"),
                               (f":{port}", ":8080"), (socket.gethostname(), "host")):
                text = text.replace(found, put)
            text = re.sub(r"/tmp/[A-Za-z0-9._-]+", "/tmp/scratch", text)
            text = re.sub(r"(https?://)(registry|repo)[^/\s)]*", r"\1packages.example.org", text)
            text = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text)
            if len(text.strip()) > 20:
                results.append({"command": shown, "status": done.returncode, "text": text[:1800]})
    (HERE / "outputs.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    print(len(results), "outputs,", sum(len(r["text"]) for r in results), "bytes")


main()
