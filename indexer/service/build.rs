//! Embeds the explorer: every file below `explorer/`, with a tag of its bytes.

use std::fmt::Write as _;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn walk(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        // What is only there to develop it.
        let left_out = ["tests", "node_modules", "package.json", "package-lock.json"];
        if name.starts_with('.') || name.ends_with(".md") || left_out.contains(&name.as_str()) {
            continue;
        }
        if path.is_dir() {
            walk(&path, found)?;
        } else {
            println!("cargo::rerun-if-changed={}", path.display());
            found.push(path);
        }
    }
    Ok(())
}

fn main() -> io::Result<()> {
    let missing = |name: &str| io::Error::other(format!("{name} is not set"));
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or_else(|| missing("CARGO_MANIFEST_DIR"))?);
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or_else(|| missing("OUT_DIR"))?);
    let root = root.join("explorer");
    let mut found = Vec::new();
    if root.is_dir() {
        walk(&root, &mut found)?;
    }
    found.sort();
    let mut text = String::from("static FILES: &[File] = &[\n");
    for path in found {
        let name = path.strip_prefix(&root).map_err(io::Error::other)?.to_string_lossy().replace('\\', "/");
        let mut hasher = std::hash::DefaultHasher::new();
        fs::read(&path)?.hash(&mut hasher);
        // Weak: the bytes may travel compressed.
        let tag = format!("W/\"{:016x}\"", hasher.finish());
        let whole = path.to_string_lossy();
        writeln!(text, "    File {{ path: {name:?}, bytes: include_bytes!({whole:?}), tag: {tag:?} }},")
            .map_err(io::Error::other)?;
    }
    text.push_str("];\n");
    fs::write(out.join("explorer.rs"), text)
}
