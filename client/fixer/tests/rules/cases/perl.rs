//! Perl.

use super::Case;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(
            "perl-library-path",
            r#"mkdir -p lib/My; printf 'package My::Util; sub x { 1 } 1;\n' > lib/My/Util.pm; echo 'use My::Util; print My::Util::x();' > app.pl"#,
            "perl app.pl",
        )
        .corrected("perl -Ilib app.pl"),
        Case::new("perl-script-typo", "echo 'print 1;' > main.pl", "perl mian.pl").corrected("perl main.pl"),
        Case::new(
            "perl-my",
            r#"printf 'use strict;\nuse warnings;\n$count = 3;\nprint "$count\\n";\n' > a.pl"#,
            "perl a.pl",
        )
        .check("test \"$(perl a.pl)\" = 3"),
        Case::new(
            "perl-function",
            r#"printf '#!/usr/bin/perl\nuse strict;\n\nprint max(1, 2), "\\n";\n' > a.pl"#,
            "perl a.pl",
        )
        .check("test \"$(perl a.pl)\" = 2"),
        Case::new("perl-say", r#"printf 'use strict;\nsay("hello");\n' > a.pl"#, "perl a.pl")
            .check("test \"$(perl a.pl)\" = hello"),
    ]
}
