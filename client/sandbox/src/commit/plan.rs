//! From a change set to operations, and every reason why they would fail, found beforehand.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::event::Timespec;
use rustix::fs::{Access, AtFlags, CWD};

use super::journal::{Action, Op, Plan};
use super::tree;
use crate::changes::{ChangeSet, Consents, Entry, FileType, Kind, Meta, look};
use crate::error::{Result, SandboxError, show};
use crate::raw::Raw;
use crate::secrets::SecretPlaces;

/// Deepest path; every level of a tree takes a descriptor while it is copied or removed.
const DEPTH_MAX: usize = 128;
/// Room that is left on every filesystem, bytes.
const SPARE: u64 = 1 << 20;

/// Consents, secrets, changes by others, rights and space.
pub(super) fn check(
    changes: &ChangeSet,
    consents: &Consents,
    baseline: Timespec,
    records: &Path,
) -> Result<()> {
    check_consents(changes, consents)?;
    if let Some(path) = changes.unseen.first() {
        return Err(SandboxError::Unseen { path: show(&path.path()) });
    }
    let secrets = SecretPlaces::now();
    for entry in &changes.entries {
        check_kind(entry, records, &secrets)?;
        check_unchanged(entry, baseline)?;
    }
    let plan = plan(changes, String::new(), 0);
    for op in &plan.ops {
        check_rights(op, changes)?;
    }
    check_space(&plan, changes, records)
}

fn check_consents(changes: &ChangeSet, consents: &Consents) -> Result<()> {
    let missing: BTreeSet<_> =
        changes.classes().into_iter().filter(|class| !consents.allow(*class)).collect();
    let first = changes.entries.iter().find(|entry| !entry.classes.is_disjoint(&missing));
    let Some(first) = first else { return Ok(()) };
    let names: Vec<String> = missing.iter().map(ToString::to_string).collect();
    Err(SandboxError::NeedsConsent {
        classes: names.join("; "),
        missing: missing.into_iter().collect(),
        path: show(&first.path),
    })
}

fn check_kind(entry: &Entry, records: &Path, secrets: &SecretPlaces) -> Result<()> {
    // A record that a fix wrote would be carried out when the records are opened the next time.
    let is_record =
        entry.path.starts_with(records) || records.starts_with(&entry.path) && entry.kind != Kind::Meta;
    if is_record || secrets.has(&entry.path) {
        return Err(SandboxError::SecretPath { path: show(&entry.path) });
    }
    let other = |meta: &Option<Meta>| meta.as_ref().is_some_and(|meta| meta.file_type == FileType::Other);
    if other(&entry.after) || (other(&entry.before) && entry.kind != Kind::Deleted) {
        return Err(SandboxError::NeverCommitted {
            path: show(&entry.path),
            what: "a device or a socket".to_owned(),
        });
    }
    if entry.path.components().count() > DEPTH_MAX {
        return Err(SandboxError::NeverCommitted {
            path: show(&entry.path),
            what: format!("nested deeper than {DEPTH_MAX} directories"),
        });
    }
    if entry.path.parent().is_none() {
        return Err(SandboxError::NeverCommitted {
            path: "/".to_owned(),
            what: "the root directory".to_owned(),
        });
    }
    Ok(())
}

/// The real file is the one that the sandbox lay over, and is as it was when the sandbox started.
fn check_unchanged(entry: &Entry, baseline: Timespec) -> Result<()> {
    let changed = || Err(SandboxError::LowerChanged { path: show(&entry.path) });
    let now = look(&entry.path)?;
    let (Some(before), Some(now)) = (&entry.before, &now) else {
        return if entry.before.is_none() && now.is_none() { Ok(()) } else { changed() };
    };
    let is_dir = before.file_type == FileType::Dir;
    if is_dir && entry.kind == Kind::Meta {
        // Its times move with its entries, which are not the matter here.
        let same = (now.mode, now.uid, now.gid) == (before.mode, before.uid, before.gid)
            && now.file_type == before.file_type;
        return if same { Ok(()) } else { changed() };
    }
    if now.identity != before.identity || is_newer(now.identity.map(|id| id.ctime), baseline) {
        return changed();
    }
    if is_dir && newer_below(&entry.path, baseline) {
        return changed();
    }
    Ok(())
}

/// The change time cannot be set by programs, so it tells the last change of content, rights or names.
fn is_newer(ctime: Option<(i64, i64)>, baseline: Timespec) -> bool {
    ctime.is_none_or(|ctime| ctime >= (baseline.tv_sec, baseline.tv_nsec))
}

fn newer_below(dir: &Path, baseline: Timespec) -> bool {
    fs::read_dir(dir).into_iter().flatten().flatten().any(|entry| {
        let Ok(meta) = fs::symlink_metadata(entry.path()) else { return true };
        is_newer(Some((meta.ctime(), meta.ctime_nsec())), baseline)
            || (meta.is_dir() && newer_below(&entry.path(), baseline))
    })
}

fn check_rights(op: &Op, changes: &ChangeSet) -> Result<()> {
    let refuse =
        |detail: &str| Err(SandboxError::NeedsRoot { path: show(&op.path), detail: detail.to_owned() });
    let me = rustix::process::geteuid();
    let is_root = me.is_root();
    let parent = op.path.parent().unwrap_or(Path::new("/"));
    if let Err(error) =
        rustix::fs::accessat(CWD, parent, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS)
        && !matches!(op.action, Action::Meta { .. })
    {
        return refuse(&format!("its directory: {error}"));
    }
    let old = fs::symlink_metadata(&op.path).ok();
    if is_root {
        return Ok(());
    }
    let owner = old.as_ref().map(|meta| meta.uid());
    if matches!(op.action, Action::Meta { .. }) && owner != Some(me.as_raw()) {
        return refuse("it belongs to another user");
    }
    let sticky =
        fs::symlink_metadata(parent).is_ok_and(|meta| meta.mode() & 0o1000 != 0 && meta.uid() != me.as_raw());
    if sticky && owner.is_some_and(|owner| owner != me.as_raw()) {
        return refuse("it belongs to another user, and its directory lets only owners change files");
    }
    // A whole directory moves only for its owner, and what it holds has to be removable.
    let after = changes.get(&op.path).and_then(|entry| entry.after.as_ref());
    if after.is_some_and(|after| after.uid != me.as_raw()) {
        return refuse("it is to belong to another user");
    }
    if old.as_ref().is_some_and(|meta| meta.is_dir())
        && rustix::fs::accessat(CWD, &op.path, Access::WRITE_OK, AtFlags::EACCESS).is_err()
        && !matches!(op.action, Action::Meta { .. })
    {
        return refuse("the directory itself may not be written");
    }
    Ok(())
}

/// New files lie beside their places, old ones are kept with the records.
fn check_space(plan: &Plan, changes: &ChangeSet, records: &Path) -> Result<()> {
    let mut needs: BTreeMap<u64, (u64, PathBuf)> = BTreeMap::new();
    let mut need = |path: &Path, bytes: u64| {
        if let Ok(meta) = fs::metadata(path) {
            let place = needs.entry(meta.dev()).or_insert_with(|| (0, path.to_owned()));
            place.0 = place.0.saturating_add(bytes);
        }
    };
    for op in &plan.ops {
        let parent = op.path.parent().unwrap_or(Path::new("/"));
        let is_meta = matches!(op.action, Action::Meta { .. });
        let new: u64 = changes
            .below(&op.path)
            .iter()
            .filter(|_| !is_meta)
            .filter_map(|entry| entry.after.as_ref())
            .fold(0, |sum, meta| sum.saturating_add(meta.size));
        need(parent, new);
        let moved = !matches!(op.action, Action::Meta { .. } | Action::Place { had_old: false, .. });
        let same_filesystem =
            fs::metadata(parent).ok().map(|a| a.dev()) == fs::metadata(records).ok().map(|b| b.dev());
        if moved && !same_filesystem {
            need(records, tree::size(&op.path));
        }
    }
    for (needed, path) in needs.into_values() {
        let Ok(space) = rustix::fs::statvfs(&path) else { continue };
        let free = space.f_bavail.saturating_mul(space.f_frsize);
        let needed = needed.saturating_add(SPARE);
        if needed > free {
            return Err(SandboxError::NoSpace { needed, free, path: show(&path) });
        }
    }
    Ok(())
}

/// The operations of a change set. A new directory is one operation with all that is in it.
pub(super) fn plan(changes: &ChangeSet, id: String, created: u64) -> Plan {
    let mut plan = Plan::new(id, created, &changes.work_tree, &changes.digest);
    let mut whole: Option<&Path> = None;
    let mut parents = BTreeSet::new();
    for entry in &changes.entries {
        plan.summary.push((entry.kind, Raw::from(&entry.path)));
        if whole.is_some_and(|top| entry.path.starts_with(top)) {
            continue;
        }
        let after_is_dir = entry.after.as_ref().is_some_and(|meta| meta.file_type == FileType::Dir);
        let action = match (entry.kind, &entry.before, &entry.after) {
            (Kind::Meta, Some(before), Some(after)) => {
                Action::Meta { before: Box::new(before.clone()), after: Box::new(after.clone()) }
            }
            (Kind::Deleted, ..) => Action::Remove,
            _ => Action::Place { had_old: entry.before.is_some(), new: None, stamps: Vec::new() },
        };
        if after_is_dir && entry.kind != Kind::Meta {
            whole = Some(&entry.path);
        }
        let parent = entry.path.parent().unwrap_or(Path::new("/"));
        if !matches!(action, Action::Meta { .. }) {
            parents.insert(parent.to_owned());
        }
        let beside = parent.join(format!(".zx1-{}-{}", plan.id, plan.ops.len()));
        plan.ops.push(Op { path: entry.path.clone(), beside, action });
    }
    // A directory may become read-only only after everything in it is done, and in an undo first the other
    // way.
    let is_dir_meta =
        |op: &Op| matches!(&op.action, Action::Meta { after, .. } if after.file_type == FileType::Dir);
    plan.ops.sort_by_key(is_dir_meta);
    for (path, mtime) in &changes.dirs {
        let parent = path.path();
        if parents.remove(&parent)
            && let Some(before) = mtime_of(&parent)
        {
            plan.dirs.push((path.clone(), before, Some(*mtime)));
        }
    }
    for parent in parents {
        if let Some(before) = mtime_of(&parent) {
            plan.dirs.push((Raw::from(&parent), before, None));
        }
    }
    plan
}

fn mtime_of(path: &Path) -> Option<(i64, u32)> {
    let meta = fs::symlink_metadata(path).ok()?;
    Some((meta.mtime(), u32::try_from(meta.mtime_nsec()).unwrap_or(0)))
}
