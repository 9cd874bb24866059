//! git, with a bare repository in the folder above as its remote.

use super::Case;

/// A remote with a branch `main`, and a clone of it in the working folder.
const REMOTE: &str = "git init -q --bare -b main ../remote.git\ngit init -q -b main .\necho hello > readme.md\n\
    git add readme.md\ngit commit -qm first\ngit remote add origin ../remote.git\ngit push -q origin main\n";

pub(crate) fn cases() -> Vec<Case> {
    let remote = |more: &str| -> &'static str { Box::leak(format!("{REMOTE}{more}").into_boxed_str()) };
    vec![
        Case::new(
            "git-no-upstream",
            remote("git checkout -qb feature/one\ngit commit -q --allow-empty -m second"),
            "git push",
        )
        .check(
            "test \"$(git rev-parse feature/one)\" = \"$(git -C ../remote.git rev-parse feature/one)\"\n\
             test \"$(git rev-parse --abbrev-ref '@{u}')\" = origin/feature/one",
        ),
        Case::new(
            "git-wrong-upstream",
            remote("git checkout -q --track -b feature origin/main\ngit commit -q --allow-empty -m second"),
            "git push",
        )
        .check(
            "test \"$(git rev-parse feature)\" = \"$(git -C ../remote.git rev-parse feature)\"\n\
             test \"$(git rev-parse main)\" = \"$(git -C ../remote.git rev-parse main)\"",
        ),
        Case::new("git-no-tracking", remote("git config --unset branch.main.remote || true"), "git pull")
            .check("test \"$(git rev-parse --abbrev-ref '@{u}')\" = origin/main"),
        Case::new(
            "git-upstream-gone",
            remote("git branch -m main master\ngit config branch.master.remote origin\ngit config branch.master.merge refs/heads/master"),
            "git pull",
        )
        .check("test \"$(git rev-parse --abbrev-ref '@{u}')\" = origin/main"),
        Case::new("git-command-typo", "git init -q", "git stauts --short").corrected("git status --short"),
        Case::new("git-branch-typo", remote("git branch develop"), "git checkout devleop")
            .corrected("git checkout develop")
            .check("test \"$(git symbolic-ref --short HEAD)\" = develop"),
        Case::new("git-branch-typo", remote(""), "git switch master").corrected("git switch main"),
        Case::new("git-branch-typo", remote("git branch topic"), "git merge toppic").corrected("git merge topic"),
        Case::new("git-branch-typo", remote("git commit -q --allow-empty -m second"), "git push origin master")
            .corrected("git push origin main")
            .check("test \"$(git rev-parse main)\" = \"$(git -C ../remote.git rev-parse main)\""),
        Case::new("git-path-typo", remote("echo more >> readme.md"), "git add raedme.md")
            .corrected("git add readme.md")
            .check("test -n \"$(git diff --cached --name-only)\""),
        Case::new("git-remote-typo", remote("git commit -q --allow-empty -m second"), "git push orgin main")
            .corrected("git push origin main")
            .check("test \"$(git rev-parse main)\" = \"$(git -C ../remote.git rev-parse main)\""),
        Case::new(
            "git-remote-typo",
            "git init -q --bare ../r.git; git init -q -b main; git remote add origin ../r.git; \
             git commit -q --allow-empty -m first",
            "git push orgin main",
        )
        .corrected("git push origin main")
        .check("test \"$(git rev-parse main)\" = \"$(git -C ../r.git rev-parse main)\""),
        Case::new("git-branch-exists", remote("git branch topic"), "git checkout -b topic")
            .corrected("git checkout topic")
            .check("test \"$(git symbolic-ref --short HEAD)\" = topic"),
        Case::new(
            "git-stale-lock",
            remote("echo more >> readme.md\ntouch -d '1 hour ago' .git/index.lock"),
            "git add readme.md",
        )
        .check("test -f .git/index.lock.old; test -n \"$(git diff --cached --name-only)\""),
        Case::new("git-output-folder", remote(""), "git archive -o dist/all.tar HEAD").check("test -s dist/all.tar"),
    ]
}
