//! make.

use super::Case;

const ROOT: &str = r#"printf '#include <math.h>\nint main(int argc, char **argv) { (void)argv; return sqrt(argc) != 1; }\n' > app.c"#;

pub(crate) fn cases() -> Vec<Case> {
    let with_root = |makefile: &'static str| -> &'static str {
        Box::leak(format!("{ROOT}\n{makefile}").into_boxed_str())
    };
    vec![
        Case::new(
            "make-separator",
            r#"echo 'int main(void) { return 0; }' > app.c; printf '# build\nCC = gcc\nall: app\n\napp: app.c\n        $(CC) app.c -o app\n        @echo built\n\nclean:\n    rm -f app\n' > Makefile"#,
            "make",
        )
        .check("./app; make clean; test ! -e app; test \"$(grep -c \"$(printf '\\t')\" Makefile)\" = 3"),
        Case::new(
            "make-target-typo",
            r#"printf 'all:\n\ttrue\nbuild: all\n\ttouch built\ntest:\n\ttrue\n' > Makefile"#,
            "make biuld",
        )
        .corrected("make build")
        .check("test -f built"),
        Case::new(
            "make-prerequisite",
            r#"mkdir src; echo 'int main(void) { return 0; }' > src/main.c; printf 'app: main.c\n\tgcc main.c -o app\n' > Makefile"#,
            "make app",
        )
        .check("./app"),
        Case::new(
            "make-prerequisite",
            r#"echo 'int main(void) { return 0; }' > main.c; printf 'SRC=Main.c\napp: $(SRC)\n\tgcc $(SRC) -o app\n' > Makefile"#,
            "make",
        )
        .check("./app"),
        Case::new("make-library", with_root(r#"printf 'app: app.c\n\tgcc -Wall app.c -o app\n' > Makefile"#), "make")
            .check("./app; grep -q 'app -lm$' Makefile"),
        Case::new(
            "make-library",
            with_root(r#"printf 'LDLIBS = -lc\napp: app.o\n\t$(CC) -o $@ $^ $(LDLIBS)\napp.o: app.c\n\t$(CC) -c app.c\n' > Makefile"#),
            "make -j2",
        )
        .check("./app; grep -qx 'LDLIBS = -lc -lm' Makefile"),
        Case::new("make-library", with_root("echo 'all: app' > Makefile"), "make all")
            .check("./app; head -n 1 Makefile | grep -qx 'LDLIBS += -lm'"),
        Case::new(
            "make-library",
            with_root(r#"mkdir sub; mv app.c sub; printf 'app: app.c\n\t$(CC) app.c -o app\n' > sub/Makefile"#),
            "make -C sub",
        )
        .check("sub/app"),
        Case::new(
            "make-include-path",
            r#"mkdir include; echo '#define ZERO 0' > include/zero.h; printf '#include "zero.h"\nint main(void) { return ZERO; }\n' > app.c; printf 'CFLAGS = -Wall\napp: app.c\n\t$(CC) $(CFLAGS) app.c -o app\n' > Makefile"#,
            "make",
        )
        .check("./app; grep -qx 'CFLAGS = -Wall -Iinclude' Makefile"),
        Case::new(
            "make-include-path",
            r#"mkdir include; echo '#define ZERO 0' > include/zero.h; printf '#include "zero.h"\nint main(void) { return ZERO; }\n' > app.c; printf 'app: app.c\n\t@gcc app.c -o app\n' > Makefile"#,
            "make",
        )
        .check("./app; grep -q '@gcc -Iinclude app.c' Makefile"),
        Case::new(
            "c-output-folder",
            r#"echo 'int main(void) { return 0; }' > app.c; printf 'out/app: app.c\n\tgcc app.c -o out/app\n' > Makefile"#,
            "make",
        )
        .check("out/app"),
        Case::new(
            "c-semicolon",
            r#"printf 'int main(void) {\n\treturn 0\n}\n' > app.c; printf 'app: app.c\n\tgcc app.c -o app\n' > Makefile"#,
            "make",
        )
        .check("./app"),
    ]
}
