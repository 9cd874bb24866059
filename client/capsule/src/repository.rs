//! A bare repository that only the broker touches.
//!
//! It is made file by file and stays in that shape: nothing that would lead git to other hooks, settings, objects or
//! folders may ever lie in it. The shape is checked before each connection, so that a file that came in past the
//! protocol is found before git reads it.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use zx1_home::files;

use crate::defaults::PUSH_MAX;
use crate::error::{CapsuleError, Result};

/// What the file `config` holds, all of it.
const CONFIG: &str = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n";
const HEAD: &str = "ref: refs/heads/main\n";
/// Where git and what it needs are looked for.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// Most refs that a repository may have.
const REFS_MAX: usize = 10_000;

/// Settings of every git that runs here. They come after those of files, and files other than [`CONFIG`] are not read.
const SETTINGS: &[(&str, &str)] = &[
    ("core.fsmonitor", "false"),
    ("core.alternateRefsCommand", "true"),
    ("core.logAllRefUpdates", "false"),
    ("core.protectHFS", "true"),
    ("core.protectNTFS", "true"),
    ("core.fsync", "committed,reference"),
    ("transfer.fsckObjects", "true"),
    ("receive.fsckObjects", "true"),
    ("receive.fsck.hasDot", "error"),
    ("receive.fsck.hasDotdot", "error"),
    ("receive.fsck.hasDotgit", "error"),
    ("receive.fsck.emptyName", "error"),
    ("receive.fsck.fullPathname", "error"),
    ("receive.fsck.nullSha1", "error"),
    ("receive.fsck.zeroPaddedFilemode", "error"),
    ("receive.fsck.badFilemode", "error"),
    ("receive.fsck.gitmodulesParse", "error"),
    ("receive.fsck.gitmodulesSymlink", "error"),
    ("receive.fsck.gitattributesSymlink", "error"),
    ("receive.fsck.gitignoreSymlink", "error"),
    ("receive.fsck.mailmapSymlink", "error"),
    ("receive.autogc", "false"),
    ("receive.shallowUpdate", "false"),
    ("receive.advertisePushOptions", "false"),
    ("receive.updateServerInfo", "false"),
    ("receive.denyCurrentBranch", "ignore"),
    ("receive.denyDeleteCurrent", "refuse"),
    ("uploadpack.allowFilter", "false"),
    ("uploadpack.allowAnySHA1InWant", "false"),
    ("uploadpack.advertiseBundleURIs", "false"),
    ("transfer.advertiseObjectInfo", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("pack.threads", "1"),
    ("pack.windowMemory", "64m"),
    ("protocol.allow", "never"),
];

/// A repository of this shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    path: PathBuf,
}

impl Repository {
    /// Makes an empty one, whose HEAD is main.
    ///
    /// # Errors
    /// 7966 where something exists already; 7965.
    pub fn create(path: &Path) -> Result<Repository> {
        let failed = CapsuleError::repository("making it");
        if fs::symlink_metadata(path).is_ok() {
            return Err(CapsuleError::RepositoryExists { path: path.display().to_string() });
        }
        files::make_private_folder(path).map_err(&failed)?;
        for folder in ["objects/info", "objects/pack", "refs/heads", "refs/tags"] {
            files::make_folder(&path.join(folder)).map_err(&failed)?;
        }
        files::create(&path.join("config"), CONFIG.as_bytes()).map_err(&failed)?;
        // Last: without it git sees no repository.
        files::create(&path.join("HEAD"), HEAD.as_bytes()).map_err(&failed)?;
        Repository::open(path)
    }

    /// Opens one that was made here.
    ///
    /// # Errors
    /// 7962, 7965.
    pub fn open(path: &Path) -> Result<Repository> {
        let path = fs::canonicalize(path).map_err(CapsuleError::repository("finding it"))?;
        let repository = Repository { path };
        repository.verify()?;
        Ok(repository)
    }

    /// The folder on disk.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Checks that it has the shape that it was made with.
    ///
    /// # Errors
    /// 7962 with the first thing that does not belong there; 7965.
    pub fn verify(&self) -> Result<()> {
        self.is_folder(&self.path)?;
        for (path, kind) in self.list(&self.path)? {
            match (self.name(&path).as_str(), kind) {
                ("HEAD", Found::File) => self.holds(&path, HEAD)?,
                ("config", Found::File) => self.holds(&path, CONFIG)?,
                ("packed-refs" | "packed-refs.lock" | "packed-refs.new", Found::File) => {}
                ("objects" | "refs", Found::Folder) => {}
                _ => return self.tampered(&path, "it does not belong there"),
            }
        }
        for name in ["HEAD", "config"] {
            if !self.path.join(name).is_file() {
                return self.tampered(Path::new(name), "it is missing");
            }
        }
        self.verify_objects()?;
        self.verify_refs()
    }

    fn verify_objects(&self) -> Result<()> {
        for (path, kind) in self.list(&self.path.join("objects"))? {
            let name = self.name(&path);
            let short = name.strip_prefix("objects/").unwrap_or_default();
            let is_fan = short.len() == 2 && short.bytes().all(|byte| byte.is_ascii_hexdigit());
            // Where git unpacks a push that is being received.
            let is_quarantine = short.starts_with("tmp_objdir-");
            if kind != Found::Folder || !(is_fan || is_quarantine || short == "pack" || short == "info") {
                return self.tampered(&path, "it does not belong there");
            }
        }
        for (path, kind) in self.list(&self.path.join("objects/info"))? {
            if kind != Found::File || self.name(&path) != "objects/info/packs" {
                return self.tampered(&path, "it does not belong there");
            }
        }
        for (path, kind) in self.list(&self.path.join("objects/pack"))? {
            if kind != Found::File {
                return self.tampered(&path, "it is not an ordinary file");
            }
        }
        Ok(())
    }

    fn verify_refs(&self) -> Result<()> {
        let mut folders = vec![self.path.join("refs")];
        let mut count = 0usize;
        while let Some(folder) = folders.pop() {
            for (path, kind) in self.list(&folder)? {
                count = count.saturating_add(1);
                if count > REFS_MAX {
                    return self.tampered(&path, "there are too many refs");
                }
                match kind {
                    Found::Folder => folders.push(path),
                    Found::File if path.extension().is_some_and(|ending| ending == "lock") => {}
                    Found::File => {
                        let text = self.read(&path, 64)?;
                        let id = text.strip_suffix(b"\n").unwrap_or(&text);
                        if id.len() != 40 || !id.iter().all(u8::is_ascii_hexdigit) {
                            return self.tampered(&path, "it does not name a commit");
                        }
                    }
                    Found::Other => return self.tampered(&path, "it is not an ordinary file"),
                }
            }
        }
        Ok(())
    }

    fn tampered<T>(&self, path: &Path, why: &'static str) -> Result<T> {
        Err(CapsuleError::Tampered { path: self.name(path), why })
    }

    fn name(&self, path: &Path) -> String {
        path.strip_prefix(&self.path).unwrap_or(path).display().to_string()
    }

    fn is_folder(&self, path: &Path) -> Result<()> {
        let meta = fs::symlink_metadata(path).map_err(CapsuleError::repository("looking at it"))?;
        if meta.is_dir() { Ok(()) } else { self.tampered(path, "it is not a folder") }
    }

    fn list(&self, folder: &Path) -> Result<Vec<(PathBuf, Found)>> {
        let failed = CapsuleError::repository("looking at it");
        let mut found = Vec::new();
        for entry in fs::read_dir(folder).map_err(&failed)? {
            let entry = entry.map_err(&failed)?;
            // What a running git removes meanwhile is not there.
            let kind = match entry.file_type() {
                Ok(kind) if kind.is_dir() => Found::Folder,
                Ok(kind) if kind.is_file() => Found::File,
                Ok(_) => Found::Other,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(failed(error)),
            };
            found.push((entry.path(), kind));
        }
        found.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(found)
    }

    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>> {
        let failed = CapsuleError::repository("looking at it");
        let mut bytes = Vec::new();
        File::open(path).map_err(&failed)?.take(limit).read_to_end(&mut bytes).map_err(&failed)?;
        Ok(bytes)
    }

    fn holds(&self, path: &Path, wanted: &str) -> Result<()> {
        let limit = u64::try_from(wanted.len()).unwrap_or(u64::MAX).saturating_add(1);
        let same = self.read(path, limit)? == wanted.as_bytes();
        if same { Ok(()) } else { self.tampered(path, "it was changed") }
    }

    /// All its bytes on disk, as lengths of files.
    ///
    /// # Errors
    /// 7965.
    pub fn size(&self) -> Result<u64> {
        size_of(&self.path).map_err(CapsuleError::repository("measuring it"))
    }

    /// A git over it: clean environment, our settings, no file of settings but its own.
    #[must_use]
    pub fn git(&self) -> Command {
        let mut command = bare_git(&[("receive.maxInputSize", &PUSH_MAX.to_string())]);
        command.current_dir(&self.path).env("GIT_DIR", &self.path);
        command
    }

    /// Runs a git that answers in one line, and gives that line. `Ok(None)` when git says no with 1.
    ///
    /// # Errors
    /// 7963.
    pub fn ask(&self, what: &'static str, mut command: Command) -> Result<Option<String>> {
        let failed = |detail: String| CapsuleError::Git { what, detail };
        let output = command.stdin(Stdio::null()).output().map_err(|error| failed(error.to_string()))?;
        match output.status.code() {
            Some(0) => {
                let text = String::from_utf8_lossy(&output.stdout);
                Ok(Some(text.trim_end().to_owned()))
            }
            Some(1) => Ok(None),
            _ => {
                let text = String::from_utf8_lossy(&output.stderr);
                Err(failed(text.trim().chars().take(300).collect()))
            }
        }
    }

    /// The commit of a ref by its whole name; `None` when there is no such ref.
    ///
    /// # Errors
    /// 7963.
    pub fn resolve(&self, name: &str) -> Result<Option<String>> {
        let mut command = self.git();
        command.args(["rev-parse", "--verify", "--quiet", "--end-of-options", name]);
        self.ask("rev-parse", command)
    }
}

/// Git with a clean environment and settings after those of every file. Runs in no repository by itself.
#[must_use]
pub fn bare_git(more: &[(&str, &str)]) -> Command {
    let mut command = Command::new("git");
    command.env_clear();
    for (name, value) in [
        ("PATH", PATH),
        ("HOME", "/nonexistent"),
        ("LC_ALL", "C"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_ATTR_NOSYSTEM", "1"),
        ("GIT_NO_REPLACE_OBJECTS", "1"),
        ("GIT_NO_LAZY_FETCH", "1"),
        ("GIT_TERMINAL_PROMPT", "0"),
    ] {
        command.env(name, value);
    }
    let mut count = 0usize;
    for (name, value) in SETTINGS.iter().copied().chain(more.iter().copied()) {
        command.env(format!("GIT_CONFIG_KEY_{count}"), name);
        command.env(format!("GIT_CONFIG_VALUE_{count}"), value);
        count = count.saturating_add(1);
    }
    command.env("GIT_CONFIG_COUNT", count.to_string());
    command
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    File,
    Folder,
    Other,
}

pub(crate) fn size_of(folder: &Path) -> io::Result<u64> {
    let mut bytes = 0u64;
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        for entry in entries {
            let entry = entry?;
            match entry.metadata() {
                Ok(meta) if meta.is_dir() => folders.push(entry.path()),
                Ok(meta) => bytes = bytes.saturating_add(meta.size()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(bytes)
}
