//! gcc, g++ and ld.

use super::Case;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(
            "c-type-header",
            r#"printf 'uint32_t twice(uint32_t a) { return 2 * a; }\nint main(void) { return twice(3) - 6; }\n' > a.c"#,
            "gcc a.c -o app",
        )
        .check("./app; head -n 1 a.c | grep -qx '#include <stdint.h>'"),
        Case::new(
            "c-type-header",
            r#"printf '#include <stdio.h>\nbool even(int a) { return a %% 2 == 0; }\nint main(void) { size_t n = INT_MAX; printf("%%zu", n); return even(3); }\n' > a.c"#,
            "cc -c a.c",
        )
        .check("test -f a.o"),
        Case::new(
            "c-macro-header",
            r#"printf 'int main(void) { return INT_MAX == 0; }\n' > a.c"#,
            "gcc a.c -o app",
        )
        .check("./app"),
        Case::new(
            "c-function-header",
            r#"printf '/* hello */\nint main(void) { puts("hello"); char *p = malloc(3); return p == NULL; }\n' > a.c"#,
            "gcc -Wall -Werror a.c -o app",
        )
        .check(r#"test "$(./app)" = hello"#),
        Case::new(
            "c-did-you-mean",
            r#"printf '#include <stdio.h>\nstruct box { int height; };\nint main(void) {\n\tstruct box b = { 0 };\n\tint count = 2;\n\tpritnf("%%d\\n", cuont + cuont);\n\treturn b.heigth;\n}\n' > a.c; sed -i 's/cuont + cuont/cuont/' a.c"#,
            "gcc a.c -o app",
        )
        .check(r#"test "$(./app)" = 2"#),
        Case::new(
            "c-semicolon",
            r#"printf '#include <stdio.h>\nint main(void) {\n    int a = 3\n    printf("%%d\\n", a);\n    return 0\n}\n' > a.c"#,
            "gcc a.c -o app",
        )
        .check(r#"test "$(./app)" = 3"#),
        Case::new(
            "c-semicolon",
            r#"printf 'struct point { int x; }\nint main() {\n\tpoint p{1};\n\treturn p.x - 1;\n}\n' > a.cpp; sed -i 's/int x; }/int x; };/; s/- 1;/- 1/' a.cpp"#,
            "g++ a.cpp -o app",
        )
        .check("./app"),
        Case::new(
            "c-include-path",
            r#"mkdir -p include/net src; echo '#define PORT 0' > include/net/util.h; printf '#include "net/util.h"\nint main(void) { return PORT; }\n' > src/a.c"#,
            "gcc src/a.c -o app",
        )
        .corrected("gcc -Iinclude src/a.c -o app")
        .check("./app"),
        Case::new("c-input-typo", "echo 'int main(void) { return 0; }' > main.c", "gcc mian.c -o app")
            .corrected("gcc main.c -o app")
            .check("./app"),
        Case::new("c-option-typo", "echo 'int main(void) { return 0; }' > a.c", "gcc -Wextraa a.c -o app")
            .corrected("gcc -Wextra a.c -o app")
            .check("./app"),
        Case::new(
            "c-newer-standard",
            "echo 'int main(void) { int s = 0; for (int i = 0; i < 3; i++) s += i; return s - 3; }' > a.c",
            "gcc -std=c89 a.c -o app",
        )
        .corrected("gcc -std=c99 a.c -o app")
        .check("./app"),
        Case::new("c-output-folder", "echo 'int main(void) { return 0; }' > a.c", "gcc a.c -o build/bin/app")
            .check("build/bin/app"),
        Case::new("c-output-folder", "echo 'int main(void) { return 0; }' > a.c", "gcc -c a.c -o build/a.o")
            .check("test -f build/a.o"),
        Case::new(
            "cxx-std-header",
            r#"printf '// words\nint main() {\n    std::vector<std::string> v{"b", "a"};\n    std::sort(v.begin(), v.end());\n    std::cout << v[0];\n}\n' > a.cpp"#,
            "g++ -std=c++17 a.cpp -o app",
        )
        .check(r#"test "$(./app)" = a"#),
        Case::new(
            "cxx-driver",
            r#"printf '#include <iostream>\nint main() { std::cout << "hello"; }\n' > a.cpp"#,
            "gcc a.cpp -o app",
        )
        .corrected("g++ a.cpp -o app")
        .check(r#"test "$(./app)" = hello"#),
    ]
}

pub(crate) fn linking() -> Vec<Case> {
    vec![
        Case::new(
            "ld-missing-library",
            r#"printf '#include <math.h>\n#include <stdio.h>\nint main(int argc, char **argv) { (void)argv; printf("%%.0f\\n", sqrt(argc * 4.0) + pow(argc, 3.0)); return 0; }\n' > app.c"#,
            "gcc app.c -o app",
        )
        .corrected("gcc app.c -o app -lm")
        .check(r#"test "$(./app)" = 3"#),
        Case::new(
            "ld-missing-library",
            r#"printf '#include <math.h>\nint main(int argc, char **argv) { (void)argv; return cosf(argc - 1.0f) != 1.0f; }\n' > 'my app.c'"#,
            "gcc -O0 'my app.c' -o app > build.log",
        )
        .corrected("gcc -O0 'my app.c' -o app -lm > build.log")
        .check("./app"),
        Case::new(
            "ld-sibling-source",
            r#"mkdir lib; printf 'int helper(int);\nint main(void) { return helper(1); }\n' > main.c; printf 'static int one(void) { return 1; }\nint helper(int a)\n{\n    return a - one();\n}\n' > lib/helper.c"#,
            "gcc main.c -o app",
        )
        .corrected("gcc main.c lib/helper.c -o app")
        .check("./app"),
        Case::new(
            "ld-library-path",
            "mkdir -p deps/lib; echo 'int zero(void) { return 0; }' > z.c; gcc -c z.c; ar rcs deps/lib/libzero.a z.o; rm z.c z.o\n\
             echo 'int zero(void); int main(void) { return zero(); }' > main.c",
            "gcc main.c -lzero -o app",
        )
        .corrected("gcc -Ldeps/lib main.c -lzero -o app")
        .check("./app"),
        Case::new(
            "ld-archive-index",
            "echo 'int zero(void) { return 0; }' > z.c; gcc -c z.c; ar rcS libzero.a z.o; rm z.c z.o\n\
             echo 'int zero(void); int main(void) { return zero(); }' > main.c",
            "gcc main.c libzero.a -o app",
        )
        .check("./app"),
    ]
}
