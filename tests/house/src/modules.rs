//! Which file of a crate uses which other file of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use syn::visit::Visit;

/// A module's place in its crate: the empty path is the crate's root.
pub type Place = Vec<String>;

/// The files of a crate and the arrows between them.
#[derive(Debug, Default)]
pub struct Modules {
    /// Where each module is written.
    pub files: BTreeMap<Place, PathBuf>,
    /// From a module to those that it uses. Uses of modules above or below it are left out.
    pub arrows: BTreeMap<Place, BTreeSet<Place>>,
}

impl Modules {
    /// Reads the crate whose root file this is, tests inside of its files left out.
    ///
    /// # Panics
    ///
    /// When a file is not Rust.
    pub fn read(root: &Path) -> Self {
        let mut sources = BTreeMap::new();
        load(root, Vec::new(), &mut sources);
        let mut modules = Self::default();
        let names: BTreeMap<Place, BTreeMap<String, Place>> =
            sources.iter().map(|(place, source)| (place.clone(), imports(place, &source.uses))).collect();
        for (place, source) in &sources {
            modules.files.insert(place.clone(), source.file.clone());
            let mut arrows = BTreeSet::new();
            let own = |path: &&Vec<String>| ["crate", "super", "self"].contains(&path[0].as_str());
            for path in source.uses.iter().chain(source.paths.iter().filter(own)) {
                if let Some(target) = resolve(place, path, &sources, &names) {
                    arrows.insert(target);
                }
            }
            arrows.retain(|target| !target.starts_with(place) && !place.starts_with(target));
            modules.arrows.insert(place.clone(), arrows);
        }
        modules
    }

    /// Groups of files of which each needs each other.
    pub fn circles(&self) -> Vec<Vec<Place>> {
        let reach: BTreeMap<&Place, BTreeSet<&Place>> =
            self.arrows.keys().map(|place| (place, self.reachable(place))).collect();
        let mut seen = BTreeSet::new();
        let mut circles = Vec::new();
        for place in self.arrows.keys() {
            if seen.contains(place) || !reach[place].contains(place) {
                continue;
            }
            let circle: Vec<Place> = reach[place]
                .iter()
                .filter(|other| reach[**other].contains(place))
                .map(|o| (*o).clone())
                .collect();
            seen.extend(circle.iter().cloned());
            circles.push(circle);
        }
        circles
    }

    fn reachable<'a>(&'a self, from: &Place) -> BTreeSet<&'a Place> {
        let mut found = BTreeSet::new();
        let mut open: Vec<&Place> = self.arrows.get(from).into_iter().flatten().collect();
        while let Some(place) = open.pop() {
            if found.insert(place) {
                open.extend(self.arrows.get(place).into_iter().flatten());
            }
        }
        found
    }
}

/// Every path that a file names, tests inside of it left out: `["std", "fs", "read"]`.
///
/// # Panics
///
/// When the file is not Rust.
pub fn paths(file: &Path) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let syntax = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut visitor = Paths::default();
    syntax.items.iter().for_each(|item| visitor.visit_item(item));
    [visitor.uses, visitor.paths].concat()
}

struct Source {
    file: PathBuf,
    /// Paths of `use` items, each with all of its segments; a rename's new name is left out.
    uses: Vec<Vec<String>>,
    /// Other paths of more than one segment.
    paths: Vec<Vec<String>>,
}

fn load(file: &Path, place: Place, sources: &mut BTreeMap<Place, Source>) {
    let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let syntax = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut visitor = Paths::default();
    let mut below = Vec::new();
    for item in &syntax.items {
        match item {
            syn::Item::Mod(module) if is_test(&module.attrs) => {}
            syn::Item::Mod(module) if module.content.is_none() => below.push(module.ident.to_string()),
            item => visitor.visit_item(item),
        }
    }
    sources
        .insert(place.clone(), Source { file: file.to_path_buf(), uses: visitor.uses, paths: visitor.paths });
    let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let folder = file.parent().expect("a file has a folder");
    let folder = if place.is_empty() || stem == "mod" { folder.to_path_buf() } else { folder.join(stem) };
    for name in below {
        let flat = folder.join(format!("{name}.rs"));
        let file = if flat.is_file() { flat } else { folder.join(&name).join("mod.rs") };
        // What a `path` attribute or a feature puts elsewhere is not followed.
        if file.is_file() {
            load(&file, [place.clone(), vec![name]].concat(), sources);
        }
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && matches!(&attribute.meta, syn::Meta::List(list) if list.tokens.to_string() == "test")
    })
}

#[derive(Default)]
struct Paths {
    uses: Vec<Vec<String>>,
    paths: Vec<Vec<String>>,
}

impl<'a> Visit<'a> for Paths {
    fn visit_item_use(&mut self, item: &'a syn::ItemUse) {
        flatten(&item.tree, &mut Vec::new(), &mut self.uses);
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if segments.len() > 1 {
            self.paths.push(segments);
        }
        syn::visit::visit_path(self, path);
    }

    fn visit_item_mod(&mut self, module: &'a syn::ItemMod) {
        if !is_test(&module.attrs) {
            syn::visit::visit_item_mod(self, module);
        }
    }
}

fn flatten(tree: &syn::UseTree, before: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    match tree {
        syn::UseTree::Path(path) => {
            before.push(path.ident.to_string());
            flatten(&path.tree, before, found);
            before.pop();
        }
        syn::UseTree::Group(group) => group.items.iter().for_each(|tree| flatten(tree, before, found)),
        syn::UseTree::Glob(_) => found.push(before.clone()),
        syn::UseTree::Name(name) => found.push([before.clone(), vec![name.ident.to_string()]].concat()),
        syn::UseTree::Rename(name) => found.push([before.clone(), vec![name.ident.to_string()]].concat()),
    }
}

/// The names that `use` items bring into a module, with the path that they stand for.
fn imports(place: &Place, uses: &[Vec<String>]) -> BTreeMap<String, Place> {
    let named = |path: &Vec<String>| Some((path.last()?.clone(), absolute(place, path)?));
    uses.iter().filter_map(named).collect()
}

/// The path from the crate's root, if it is one of the crate's.
fn absolute(place: &Place, path: &[String]) -> Option<Place> {
    let mut base = match path.first()?.as_str() {
        "crate" => Vec::new(),
        "self" => place.clone(),
        "super" => place.split_last()?.1.to_vec(),
        // Edition 2018: the path begins with a module below, or with another crate.
        _ => [place.clone(), vec![path[0].clone()]].concat(),
    };
    for segment in &path[1..] {
        if segment == "super" {
            base.pop();
        } else if segment != "self" {
            base.push(segment.clone());
        }
    }
    Some(base)
}

/// The module in which what the path names is written, re-exports followed.
fn resolve(
    place: &Place,
    path: &[String],
    sources: &BTreeMap<Place, Source>,
    names: &BTreeMap<Place, BTreeMap<String, Place>>,
) -> Option<Place> {
    let mut path = absolute(place, path)?;
    if !path.first().is_some_and(|first| sources.contains_key(&vec![first.clone()]))
        && path.len() > 1
        && !sources.keys().any(|known| !known.is_empty() && path.starts_with(known))
    {
        return None;
    }
    // Sixteen re-exports of one another are a circle of their own.
    for _ in 0..16 {
        let length = (0..=path.len()).rev().find(|length| sources.contains_key(&path[..*length]))?;
        let (module, rest) = path.split_at(length);
        let Some(name) = rest.first() else { return Some(module.to_vec()) };
        match names.get(module).and_then(|imports| imports.get(name)) {
            Some(target) if *target != path[..=length] => {
                path = [target.clone(), rest[1..].to_vec()].concat()
            }
            _ => return Some(module.to_vec()),
        }
    }
    None
}
