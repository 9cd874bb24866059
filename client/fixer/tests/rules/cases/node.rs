//! Node.js and npm.

use super::Case;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(
            "node-local-module",
            r#"mkdir lib; echo 'module.exports = { a: 1 };' > lib/util.js; printf 'const u = require("./lib/Util");\nconsole.log(u.a);\n' > app.js"#,
            "node app.js",
        )
        .check("grep -q './lib/util\"' app.js"),
        Case::new("node-script-typo", "echo 'console.log(1)' > server.js", "node sever.js").corrected("node server.js"),
        Case::new(
            "node-import-in-script",
            r#"printf '{\n  "name": "p",\n  "type": "commonjs"\n}\n' > package.json; echo 'import fs from "fs"; console.log(typeof fs);' > app.js"#,
            "node app.js",
        ),
        Case::new(
            "node-require-in-module",
            r#"echo '{ "type": "module" }' > package.json; printf "const fs = require('fs');\nconst { join } = require('path');\nconsole.log(join('a', typeof fs));\n" > app.js"#,
            "node app.js",
        )
        .check("test \"$(node app.js)\" = a/object"),
        Case::new(
            "node-output-folder",
            r#"echo 'require("fs").writeFileSync("out/x.txt", "a")' > app.js"#,
            "node app.js",
        )
        .check("test -s out/x.txt"),
        Case::new(
            "npm-missing-package",
            r#"mkdir greet; echo '{ "name": "greet", "version": "1.0.0", "main": "greet.js" }' > greet/package.json
echo 'module.exports = () => "hello";' > greet/greet.js
echo '{ "name": "p", "version": "1.0.0", "dependencies": { "greet": "file:./greet" } }' > package.json
echo 'console.log(require("greet")());' > app.js"#,
            "node app.js",
        )
        .check("test \"$(node app.js)\" = hello"),
        Case::new(
            "npm-script-typo",
            r#"echo '{ "name": "p", "version": "1.0.0", "scripts": { "build": "touch built", "test": "true" } }' > package.json"#,
            "npm run biuld",
        )
        .corrected("npm run build")
        .check("test -f built"),
        Case::new("npm-command-typo", r#"echo '{ "name": "p", "version": "1.0.0" }' > package.json"#, "npm lisst")
            .corrected("npm list"),
    ]
}
