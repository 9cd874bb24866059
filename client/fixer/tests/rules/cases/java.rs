//! javac and java.

use super::Case;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(
            "java-class-file",
            "echo 'public class App { public static void main(String[] a) { } }' > Main.java",
            "javac Main.java",
        )
        .corrected("javac App.java")
        .check("test -f App.class; test ! -e Main.java"),
        Case::new(
            "java-import",
            r#"printf 'public class App {\n  public static void main(String[] a) {\n    List<String> x = new ArrayList<>();\n    System.out.println(x);\n  }\n}\n' > App.java"#,
            "javac App.java",
        )
        .check("test -f App.class; grep -qx 'import java.util.List;' App.java"),
        Case::new(
            "java-semicolon",
            r#"printf 'public class App {\n  public static void main(String[] a) {\n    int n = 3\n    System.out.println(n);\n  }\n}\n' > App.java"#,
            "javac App.java",
        )
        .check("test -f App.class"),
        Case::new(
            "java-class-path",
            "echo 'public class App { public static void main(String[] a) { } }' > App.java; javac -d out App.java; rm App.java",
            "java App",
        )
        .corrected("java -cp out App"),
        Case::new("java-source-typo", "echo 'class App { }' > App.java", "javac Appp.java").corrected("javac App.java"),
    ]
}
