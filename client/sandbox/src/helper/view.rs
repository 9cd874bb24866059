//! Builds the view: overlays over everything that can be seen, secrets masked, /dev, /run and /sys made anew.
//!
//! As root every mount gets one overlay. In a user namespace the kernel refuses an overlay over a directory
//! that holds other mounts, so such directories are rebuilt: their own files and links are copied to a shadow
//! that is covered instead, and each of their subtrees without mounts gets an overlay of its own (decision
//! E11).

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, XattrFlags};
use rustix::mount::MountFlags;

use super::layout::{self, EMPTY, NEW, OLD, SHADOW, UPPER};
use super::mounts::{self, Mount, under};
use super::sealed::{self, Volume};
use crate::error::{Result, SandboxError, show};
use crate::raw::Raw;
use crate::wire::Setup;

/// Files in shadowed directories up to this size are copied; larger ones are shown read-only.
const SHADOW_FILE_MAX: u64 = 1 << 20;
/// All shadow copies together, bytes.
const SHADOW_TOTAL_MAX: u64 = 64 << 20;
/// Files of all changes together.
const INODES_MAX: u32 = 400_000;
/// Device files that every program may expect and that lead to no device of the host.
const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];

/// One overlay of the view.
#[derive(Debug)]
pub(super) struct Overlay {
    /// Where it lies, as commands see it.
    pub(super) point: PathBuf,
    /// Its upper layer in the helper.
    pub(super) upper: PathBuf,
    /// Mode of its root directory at the start.
    pub(super) mode: u32,
}

/// The view that was built.
#[derive(Debug)]
pub(super) struct View {
    pub(super) overlays: Vec<Overlay>,
    /// Mounts and directories that could not be covered and are therefore not shown.
    pub(super) hidden: Vec<PathBuf>,
    /// Secrets that are masked.
    pub(super) masked: Vec<PathBuf>,
    /// Bound on all changes, bytes.
    pub(super) disk_limit: u64,
    /// Directories made anew that commands can write to.
    pub(super) own: Vec<PathBuf>,
    /// Those of them that outlive a run, of a sealed root.
    pub(super) volumes: Vec<Volume>,
    /// Namespace of the overlay's own attributes: `trusted.` or `user.`.
    pub(super) attributes: &'static str,
}

/// Builds the view. The process has its own mount namespace and the right to mount in it.
pub(super) fn build(wanted: &Setup) -> Result<View> {
    let paths = |raws: &[Raw]| raws.iter().map(Raw::path).collect::<Vec<PathBuf>>();
    let (work_tree, disk_limit) = (wanted.work_tree.path(), wanted.disk_limit);
    if layout::is_replaced(&work_tree) {
        return Err(SandboxError::WorkTree {
            path: show(&work_tree),
            detail: "/proc, /sys, /dev and /run are private in the sandbox".to_owned(),
        });
    }
    let mounts = mounts::visible().map_err(|error| SandboxError::setup("reading the mounts", error))?;
    enter_base(disk_limit)?;
    // A sealed root has no overlay.
    let attributes = if wanted.sealed.is_some() { "user." } else { attribute_namespace()? };
    let mut builder = Builder {
        mounts,
        work_tree,
        view: View {
            overlays: Vec::new(),
            hidden: Vec::new(),
            masked: Vec::new(),
            own: Vec::new(),
            volumes: Vec::new(),
            disk_limit,
            attributes,
        },
        shadowed: 0,
        leaves: Vec::new(),
        large: Vec::new(),
        layers: 0,
        shadows: 0,
    };
    if let Some(wanted) = &wanted.sealed {
        builder.view.volumes = sealed::lay(wanted)?;
        builder.view.own = builder.view.volumes.iter().map(|volume| volume.point.clone()).collect();
        builder.make_own()?;
        return Ok(builder.view);
    }
    let (hidden, shown) = (paths(&wanted.hidden), paths(&wanted.shown));
    let is_closed = hidden.iter().any(|root| root == Path::new("/"));
    if !is_closed {
        builder.cover()?;
    }
    for root in hidden {
        // The root of everything has no other name that would still be seen.
        let names = if is_closed { vec![root] } else { mounts::aliases(&root, &builder.mounts) };
        for root in names {
            builder.hide_all_but(&root, &shown)?;
        }
    }
    builder.lay_own(&paths(&wanted.own))?;
    builder.mask(&paths(&wanted.masks))?;
    builder.make_own()?;
    Ok(builder.view)
}

/// Puts an empty tmpfs under everything: the host moves to `/host` in it.
fn enter_base(disk_limit: u64) -> Result<()> {
    let step = |name: &str| {
        let name = name.to_owned();
        move |error: io::Error| SandboxError::setup(name, error)
    };
    mounts::make_all_private().map_err(step("making the mounts private"))?;
    // Any directory will do, it is uncovered again by the pivot; /tmp exists everywhere.
    let base = Path::new("/tmp");
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    mounts::mount("tmpfs", base, flags, "mode=0755,size=128m").map_err(step("mounting a tmpfs"))?;
    fs::create_dir(base.join("host")).map_err(step("making the base"))?;
    rustix::process::pivot_root(base, base.join("host"))
        .map_err(io::Error::from)
        .map_err(step("pivot_root"))?;
    std::env::set_current_dir("/").map_err(step("entering the base"))?;
    for dir in [NEW, UPPER, SHADOW, EMPTY] {
        fs::create_dir(dir).map_err(step("making the base"))?;
    }
    let data = format!("mode=0700,size={disk_limit},nr_inodes={INODES_MAX}");
    mounts::mount("tmpfs", Path::new(UPPER), flags, &data).map_err(step("mounting the upper layers"))?;
    mounts::mount("tmpfs", Path::new(EMPTY), flags, "mode=0755,size=4k")
        .map_err(step("mounting the mask"))?;
    let empty = Path::new(EMPTY);
    (|| {
        fs::create_dir(empty.join("dir"))?;
        fs::set_permissions(empty.join("dir"), Permissions::from_mode(0o000))?;
        fs::File::create(empty.join("file"))?;
        fs::set_permissions(empty.join("file"), Permissions::from_mode(0o000))?;
        rustix::mount::mount_remount(empty, MountFlags::RDONLY | flags, "mode=0755,size=4k")?;
        Ok(())
    })()
    .map_err(step("making the mask"))
}

/// The overlay keeps marks in attributes: root's own where they can be set, else the user's.
fn attribute_namespace() -> Result<&'static str> {
    let set = |name: &str| rustix::fs::setxattr(UPPER, name, b"y", XattrFlags::empty());
    if set("trusted.zx1").is_ok() {
        return Ok("trusted.");
    }
    match set("user.zx1") {
        Ok(()) => Ok("user."),
        Err(_) => Err(SandboxError::NoTmpfsAttributes),
    }
}

struct Builder {
    mounts: Vec<Mount>,
    work_tree: PathBuf,
    view: View,
    shadowed: u64,
    leaves: Vec<PathBuf>,
    large: Vec<PathBuf>,
    /// Layers and shadows so far: their folders' numbers.
    layers: usize,
    shadows: usize,
}

impl Builder {
    /// Lays the overlays.
    fn cover(&mut self) -> Result<()> {
        let root = Path::new("/");
        match self.lay(root, Path::new(OLD)) {
            Ok(()) => {
                // Sorted by path, so a mount inside a mount comes after it.
                let below: Vec<Mount> =
                    self.mounts.iter().filter(|mount| mount.point != root).cloned().collect();
                for mount in below.iter().filter(|mount| !layout::is_replaced(&mount.point)) {
                    self.cover_mount(mount)?;
                }
                Ok(())
            }
            Err(_) => self.cover_split(),
        }
    }

    /// One overlay for one mount; what cannot be covered is hidden.
    fn cover_mount(&mut self, mount: &Mount) -> Result<()> {
        let lower = under(Path::new(OLD), &mount.point);
        let at = under(Path::new(NEW), &mount.point);
        let is_dir = fs::symlink_metadata(&lower).is_ok_and(|meta| meta.is_dir());
        if fs::symlink_metadata(&at).is_err() {
            // Its mount point is inside something hidden.
            return Ok(());
        }
        if !layout::has_files(mount) {
            return self.hide(&mount.point, is_dir);
        }
        if !is_dir {
            return self.show_file(&mount.point, &lower, &at);
        }
        match self.lay(&mount.point, &lower) {
            Ok(()) => Ok(()),
            Err(error) => self.hide_uncovered(&mount.point, error),
        }
    }

    /// A file that is a mount of its own: a read-only copy, so that nothing leads back to the host.
    fn show_file(&mut self, point: &Path, lower: &Path, at: &Path) -> Result<()> {
        let small = fs::metadata(lower).is_ok_and(|meta| meta.is_file() && meta.len() <= SHADOW_FILE_MAX);
        if !small {
            return self.hide(point, false);
        }
        let copy = Path::new(SHADOW).join(format!("file-{}", self.shadows));
        self.shadows += 1;
        self.large.push(point.to_owned());
        let done = fs::copy(lower, &copy).and_then(|_| mounts::bind(&copy, at, true));
        done.map_err(|error| SandboxError::setup(format!("showing {}", show(point)), error))
    }

    /// Without the right to cover the whole: shadow what holds mounts, cover what does not.
    fn cover_split(&mut self) -> Result<()> {
        let shadow = Path::new(SHADOW).join("root");
        fs::create_dir(&shadow).map_err(|error| SandboxError::setup("making the shadow", error))?;
        self.shadow(Path::new("/"), &shadow);
        let lay = self.lay(Path::new("/"), &shadow);
        lay.map_err(|error| SandboxError::NoOverlay { path: "/".to_owned(), detail: error.to_string() })?;
        self.bind_large();
        let mut leaves = std::mem::take(&mut self.leaves);
        // A directory of root cannot be copied up here, because root is not mapped; the root of an overlay
        // need not.
        let shared = Path::new("/var/tmp");
        if leaves.iter().any(|leaf| leaf == Path::new("/var")) && under(Path::new(OLD), shared).is_dir() {
            leaves.push(shared.to_owned());
        }
        for leaf in leaves {
            let lower = under(Path::new(OLD), &leaf);
            if let Err(error) = self.lay(&leaf, &lower) {
                self.hide_uncovered(&leaf, error)?;
            }
        }
        Ok(())
    }

    /// Shows the files that were too large to be copied into a shadow, read-only.
    fn bind_large(&mut self) {
        for file in std::mem::take(&mut self.large) {
            let from = under(Path::new(OLD), &file);
            if mounts::bind(&from, &under(Path::new(NEW), &file), true).is_err() {
                self.view.hidden.push(file);
            }
        }
    }

    /// Lays an empty directory over `root`, and over it overlays of what is shown of it. So nothing of a home is
    /// seen but what was named, and what a fix puts beside it is seen as a change.
    fn hide_all_but(&mut self, root: &Path, shown: &[PathBuf]) -> Result<()> {
        let failed = |error: io::Error| SandboxError::setup(format!("hiding {}", show(root)), error);
        let host = under(Path::new(OLD), root);
        if !fs::symlink_metadata(&host).is_ok_and(|meta| meta.is_dir()) {
            return Ok(());
        }
        // A whole that is shown hides nothing.
        if shown.iter().any(|path| root.starts_with(path)) {
            return Ok(());
        }
        let shadow = Path::new(SHADOW).join(format!("hidden-{}", self.shadows));
        self.shadows += 1;
        let skeleton = under(&shadow, root);
        fs::create_dir_all(&skeleton).map_err(failed)?;
        if root == Path::new("/") {
            for (dir, mode) in [
                ("dev", 0o755),
                ("proc", 0o755),
                ("sys", 0o755),
                ("run", 0o755),
                ("tmp", 0o1777),
                ("var/tmp", 0o1777),
            ] {
                let dir = skeleton.join(dir);
                fs::create_dir_all(&dir)
                    .and_then(|()| fs::set_permissions(&dir, Permissions::from_mode(mode)))
                    .map_err(failed)?;
            }
        }
        self.large.clear();
        self.leaves.clear();
        let inside: Vec<&PathBuf> = shown.iter().filter(|path| path.starts_with(root)).collect();
        for path in &inside {
            // What lies below another one is seen with it.
            if !inside.iter().any(|other| other != path && path.starts_with(other)) {
                self.show_in(root, path, &shadow).map_err(failed)?;
            }
        }
        let _ = like(&host, &skeleton);
        self.view.overlays.retain(|overlay| !overlay.point.starts_with(root));
        self.lay(root, &skeleton)
            .map_err(|error| SandboxError::NoOverlay { path: show(root), detail: error.to_string() })?;
        self.bind_large();
        for leaf in std::mem::take(&mut self.leaves) {
            let lower = under(Path::new(OLD), &leaf);
            if let Err(error) = self.lay(&leaf, &lower) {
                self.hide_uncovered(&leaf, error)?;
            }
        }
        Ok(())
    }

    /// Whether a directory above this one would have to be copied up and belongs to another user: the kernel refuses
    /// that here.
    fn is_below_others(&self, path: &Path) -> bool {
        let tops = self.view.overlays.iter().map(|overlay| overlay.point.as_path());
        let top = tops.filter(|point| path.starts_with(point)).max_by_key(|point| point.as_os_str().len());
        let me = rustix::process::geteuid().as_raw();
        let above = path.ancestors().skip(1).take_while(|dir| Some(*dir) != top);
        above
            .into_iter()
            .any(|dir| fs::symlink_metadata(under(Path::new(OLD), dir)).is_ok_and(|meta| meta.uid() != me))
    }

    /// Prepares the place of one path in the shadow of what hides it.
    fn show_in(&mut self, root: &Path, path: &Path, shadow: &Path) -> io::Result<()> {
        let host = under(Path::new(OLD), path);
        if fs::symlink_metadata(&host).is_err() {
            return Ok(());
        }
        let Some(above) = path.parent() else { return Ok(()) };
        let mut missing: Vec<&Path> =
            above.ancestors().take_while(|dir| *dir != root && dir.starts_with(root)).collect();
        missing.reverse();
        for dir in missing {
            let at = under(shadow, dir);
            if !at.exists() {
                fs::create_dir(&at)?;
                let _ = like(&under(Path::new(OLD), dir), &at);
            }
        }
        self.shadow_entry(path, shadow);
        Ok(())
    }

    /// Overlays of their own for directories whose parents this user could not copy up.
    fn lay_own(&mut self, own: &[PathBuf]) -> Result<()> {
        if self.view.attributes != "user." {
            return Ok(());
        }
        for path in own {
            // One of its own for what lies in it would be covered by it.
            let there = self.view.overlays.iter().any(|overlay| overlay.point.starts_with(path))
                || own.iter().any(|other| other != path && path.starts_with(other));
            let lower = under(Path::new(OLD), path);
            if !there
                && self.is_below_others(path)
                && fs::symlink_metadata(&lower).is_ok_and(|meta| meta.is_dir())
                && !layout::holds_mounts(path, &self.mounts)
            {
                self.lay(path, &lower).map_err(|error| SandboxError::NoOverlay {
                    path: show(path),
                    detail: error.to_string(),
                })?;
            }
        }
        Ok(())
    }

    /// Rebuilds one directory that holds mounts: plain directories for the next level, copies of files and
    /// links.
    fn shadow(&mut self, dir: &Path, shadow_root: &Path) {
        let host = under(Path::new(OLD), dir);
        if let Ok(entries) = fs::read_dir(&host) {
            for entry in entries.flatten() {
                self.shadow_entry(&dir.join(entry.file_name()), shadow_root);
            }
        } else {
            self.view.hidden.push(dir.to_owned());
        }
        let _ = like(&host, &under(shadow_root, dir));
    }

    fn shadow_entry(&mut self, path: &Path, shadow_root: &Path) {
        let (from, to) = (under(Path::new(OLD), path), under(shadow_root, path));
        let Ok(meta) = fs::symlink_metadata(&from) else { return };
        let kind = meta.file_type();
        if kind.is_dir() {
            if fs::create_dir(&to).is_err() || layout::is_replaced(path) {
                return;
            }
            let files = layout::mount_at(path, &self.mounts).is_none_or(layout::has_files);
            if !files {
                self.view.hidden.push(path.to_owned());
            } else if layout::holds_mounts(path, &self.mounts) {
                self.shadow(path, shadow_root);
            } else {
                self.leaves.push(path.to_owned());
            }
        } else if kind.is_symlink() {
            let _ =
                fs::read_link(&from).and_then(|target| symlink(target, &to)).and_then(|()| like(&from, &to));
        } else if kind.is_file() {
            let total = self.shadowed.saturating_add(meta.len());
            if meta.len() <= SHADOW_FILE_MAX && total <= SHADOW_TOTAL_MAX && fs::copy(&from, &to).is_ok() {
                self.shadowed = total;
                let _ = like(&from, &to);
            } else if fs::File::create(&to).is_ok() {
                let _ = fs::set_permissions(&to, Permissions::from_mode(0o000));
                self.large.push(path.to_owned());
            }
        } else if kind.is_socket() || kind.is_fifo() {
            // Leads to another process; a copy would lead nowhere.
        }
    }

    /// Lays one overlay over `lower` at `point` of the view.
    fn lay(&mut self, point: &Path, lower: &Path) -> io::Result<()> {
        let layer = layout::layer(self.layers);
        let (upper, work) = (layer.join("upper"), layer.join("work"));
        if !layer.exists() {
            fs::create_dir(&layer)?;
            fs::create_dir(&upper)?;
            fs::create_dir(&work)?;
        }
        like(lower, &upper)?;
        let mode = fs::symlink_metadata(&upper)?.permissions().mode() & 0o7777;
        let mount = layout::mount_of(point, &self.mounts);
        let mut flags = MountFlags::NOSUID | MountFlags::NODEV;
        if mount.is_some_and(|mount| mount.no_exec) {
            flags |= MountFlags::NOEXEC;
        }
        if mount.is_some_and(|mount| mount.read_only) {
            flags |= MountFlags::RDONLY;
        }
        // The path of the lower directory may hold any byte; a descriptor's name is harmless.
        let handle = rustix::fs::open(
            lower,
            rustix::fs::OFlags::PATH | rustix::fs::OFlags::DIRECTORY | rustix::fs::OFlags::CLOEXEC,
            rustix::fs::Mode::empty(),
        )?;
        use std::os::fd::AsRawFd;
        let own = if self.view.attributes == "user." {
            ",userxattr"
        } else {
            ",redirect_dir=nofollow,metacopy=off"
        };
        let data = format!(
            "lowerdir={OLD}/proc/self/fd/{},upperdir={},workdir={},index=off,xino=off{own}",
            handle.as_raw_fd(),
            upper.display(),
            work.display()
        );
        mounts::mount("overlay", &under(Path::new(NEW), point), flags, &data)?;
        self.layers += 1;
        self.view.overlays.push(Overlay { point: point.to_owned(), upper, mode });
        Ok(())
    }

    /// What has no overlay is not shown at all: a read-only bind would still lead to its sockets. The working
    /// tree must be covered.
    fn hide_uncovered(&mut self, point: &Path, error: io::Error) -> Result<()> {
        if mounts::is_under(&self.work_tree, point) {
            return Err(SandboxError::NoOverlay { path: show(point), detail: error.to_string() });
        }
        self.hide(point, true)
    }

    fn hide(&mut self, point: &Path, is_dir: bool) -> Result<()> {
        let mask = Path::new(EMPTY).join(if is_dir { "dir" } else { "file" });
        mounts::bind(&mask, &under(Path::new(NEW), point), false)
            .map_err(|error| SandboxError::setup(format!("hiding {}", show(point)), error))?;
        self.view.hidden.push(point.to_owned());
        Ok(())
    }

    /// Lays emptiness over every secret that exists in the view.
    fn mask(&mut self, masks: &[PathBuf]) -> Result<()> {
        let all = masks.iter().flat_map(|path| mounts::aliases(path, &self.mounts));
        for path in all.filter(|path| !layout::is_replaced(path)) {
            if lay_mask(&path)
                .map_err(|error| SandboxError::setup(format!("masking {}", show(&path)), error))?
            {
                self.view.masked.push(path);
            }
        }
        Ok(())
    }

    /// A directory of the view in which something is mounted; made in the shadow where the host lacks it.
    fn replace(&self, path: &str, data: &str) -> io::Result<PathBuf> {
        let at = under(Path::new(NEW), Path::new(path));
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        mounts::mount("tmpfs", &at, flags, data)?;
        Ok(at)
    }

    /// What is made anew whatever the root is.
    fn make_own(&mut self) -> Result<()> {
        self.make_dev().map_err(|error| SandboxError::setup("making /dev", error))?;
        self.make_run().map_err(|error| SandboxError::setup("making /run", error))?;
        self.make_sys().map_err(|error| SandboxError::setup("making /sys", error))
    }

    fn make_dev(&self) -> io::Result<()> {
        let dev = self.replace("/dev", "mode=0755,size=64k")?;
        for device in DEVICES {
            let from = Path::new(OLD).join("dev").join(device);
            if !fs::symlink_metadata(&from).is_ok_and(|meta| meta.file_type().is_char_device()) {
                continue;
            }
            let to = dev.join(device);
            fs::File::create(&to)?;
            // Read-only: the device can be written to all the same, but its inode, which is the host's,
            // cannot.
            mounts::bind(&from, &to, true)?;
        }
        for (link, target) in [
            ("fd", "/proc/self/fd"),
            ("stdin", "/proc/self/fd/0"),
            ("stdout", "/proc/self/fd/1"),
            ("stderr", "/proc/self/fd/2"),
            ("ptmx", "pts/ptmx"),
        ] {
            symlink(target, dev.join(link))?;
        }
        fs::create_dir(dev.join("pts"))?;
        fs::create_dir(dev.join("shm"))?;
        fs::create_dir(dev.join("mqueue"))?;
        // The mount, not the devices bound below it.
        mounts::make_read_only(&dev)
    }

    fn make_run(&mut self) -> io::Result<()> {
        let mut places = vec!["/run"];
        if fs::symlink_metadata(Path::new(OLD).join("var/run")).is_ok_and(|meta| meta.is_dir()) {
            places.push("/var/run");
        }
        for place in places {
            if !under(Path::new(NEW), Path::new(place)).is_dir() {
                continue;
            }
            let run = self.replace(place, "mode=0755,size=16m")?;
            self.view.own.push(PathBuf::from(place));
            fs::create_dir(run.join("lock"))?;
            fs::set_permissions(run.join("lock"), Permissions::from_mode(0o1777))?;
            let user = run.join("user").join(rustix::process::geteuid().as_raw().to_string());
            fs::create_dir_all(&user)?;
            fs::set_permissions(&user, Permissions::from_mode(0o700))?;
            // NixOS keeps its programs behind these.
            for link in ["current-system", "booted-system", "opengl-driver"] {
                if let Ok(target) = fs::read_link(Path::new(OLD).join("run").join(link)) {
                    symlink(target, run.join(link))?;
                }
            }
        }
        Ok(())
    }

    /// Of /sys only what says how many processors and memory nodes there are.
    fn make_sys(&self) -> io::Result<()> {
        if !Path::new(NEW).join("sys").is_dir() {
            return Ok(());
        }
        let sys = self.replace("/sys", "mode=0755,size=64k")?;
        let part = "devices/system";
        let from = Path::new(OLD).join("sys").join(part);
        if from.is_dir() {
            fs::create_dir_all(sys.join(part))?;
            mounts::bind(&from, &sys.join(part), true)?;
        }
        mounts::make_read_only(&sys)
    }
}

/// Puts content into a file of the view, which keeps its times.
pub(super) fn put(path: &Path, content: std::os::fd::OwnedFd) -> io::Result<()> {
    use rustix::fs::{Mode, OFlags, ResolveFlags};
    let root = rustix::fs::open(NEW, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let relative = path.strip_prefix("/").map_err(io::Error::other)?;
    let flags = OFlags::WRONLY | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let before = fs::metadata(under(Path::new(OLD), path));
    let file = rustix::fs::openat2(&root, relative, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?;
    let mut file = fs::File::from(file);
    io::copy(&mut fs::File::from(content), &mut file)?;
    if let Ok(modified) = before.and_then(|meta| meta.modified()) {
        let _ = file.set_modified(modified);
    }
    Ok(())
}

/// Lays emptiness over a path of the view; false when nothing is there.
pub(super) fn lay_mask(path: &Path) -> io::Result<bool> {
    let at = under(Path::new(NEW), path);
    // Masks are resolved paths: a link has come since, and what it leads to is masked or no secret.
    let Some(meta) = fs::symlink_metadata(&at).ok().filter(|meta| !meta.is_symlink()) else {
        return Ok(false);
    };
    let mask = Path::new(EMPTY).join(if meta.is_dir() { "dir" } else { "file" });
    mounts::bind(&mask, &at, false)?;
    Ok(true)
}

/// Gives `to` the mode, times and owner of `from`, as far as this user may. What the user may not do to
/// `from` on the host is taken from the mode, because here the user owns everything.
fn like(from: &Path, to: &Path) -> io::Result<()> {
    let meta = fs::symlink_metadata(from)?;
    let owned = rustix::fs::chownat(
        CWD,
        to,
        Some(rustix::fs::Uid::from_raw(meta.uid())),
        Some(rustix::fs::Gid::from_raw(meta.gid())),
        AtFlags::SYMLINK_NOFOLLOW,
    );
    if !meta.is_symlink() {
        let mut mode = meta.permissions().mode() & 0o7777;
        if owned.is_err() {
            for (right, bits) in
                [(Access::READ_OK, 0o444), (Access::WRITE_OK, 0o222), (Access::EXEC_OK, 0o111)]
            {
                if rustix::fs::accessat(CWD, from, right, AtFlags::EACCESS).is_err() {
                    mode &= !bits;
                }
            }
        }
        fs::set_permissions(to, Permissions::from_mode(mode))?;
    }
    let time =
        |seconds: i64, nanoseconds: i64| rustix::fs::Timespec { tv_sec: seconds, tv_nsec: nanoseconds };
    let times = rustix::fs::Timestamps {
        last_access: time(meta.atime(), meta.atime_nsec()),
        last_modification: time(meta.mtime(), meta.mtime_nsec()),
    };
    rustix::fs::utimensat(CWD, to, &times, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(())
}
