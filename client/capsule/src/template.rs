//! What a new agent is made of. From its first commit on all of it is the agent's own, but for the directives.

/// Path and content of every file of the first commit.
pub const FILES: [(&str, &str); 6] = [
    ("SYSTEM.md", include_str!("../template/SYSTEM.md")),
    ("COMMS.md", include_str!("../template/COMMS.md")),
    (".gitignore", include_str!("../template/gitignore")),
    ("infra/runner.py", include_str!("../template/infra/runner.py")),
    ("spec/SPEC_capsule.md", include_str!("../template/spec/SPEC_capsule.md")),
    ("src/README.md", include_str!("../template/src/README.md")),
];
