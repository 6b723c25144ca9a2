//! Reads the sources: the list of files, and the files that each file uses.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// All files below `folder` with the given ending: their paths from the root, and their text.
pub fn files(folder: &str, ending: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    collect(&root().join(folder), ending, &mut found);
    found.sort();
    found
}

fn collect(folder: &Path, ending: &str, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, ending, found);
        } else if path.extension().is_some_and(|e| e == ending) {
            let name = path
                .strip_prefix(root())
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned();
            found.push((name, fs::read_to_string(&path).unwrap()));
        }
    }
}

pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap()
}

pub fn stem(path: &str) -> &str {
    file_name(path).split('.').next().unwrap()
}

/// The shipped part of a file's code, without comments, strings and tests.
pub fn shipped_code(text: &str) -> String {
    let mut code = without_comments_and_strings(text);
    while let Some(start) = code.find("#[cfg(test)]") {
        let end = start + item_len(&code[start..]);
        code.replace_range(start..end, "");
    }
    code
}

pub fn without_comments_and_strings(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("'\"'") {
            3
        } else if rest.starts_with("r#\"") {
            rest.find("\"#").map_or(rest.len(), |at| at + 2)
        } else if c == '"' {
            string_len(rest)
        } else {
            code.push(c);
            c.len_utf8()
        };
        rest = &rest[skipped..];
    }
    code
}

fn string_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

/// The length of the item at the start of `code`: up to its `;`, or to the end of its braces.
fn item_len(code: &str) -> usize {
    let mut depth = 0;
    for (at, c) in code.char_indices() {
        depth += i32::from("{([".contains(c)) - i32::from("})]".contains(c));
        if depth == 0 && (c == ';' || c == '}') {
            return at + 1;
        }
    }
    code.len()
}

/// A name that a file's code imports.
pub struct Import {
    /// The path as written, with one import per name of a group.
    pub path: Vec<String>,
    /// Its name in this file.
    pub name: String,
    /// True if other files may import it from here.
    pub is_public: bool,
}

/// The imports of a file's code, and the code without them.
pub fn imports(code: &str) -> (Vec<Import>, String) {
    let mut found = Vec::new();
    let mut rest = String::new();
    for statement in code.split_inclusive(';') {
        let Some(at) = statement
            .find("use ")
            .filter(|at| begins_word(statement, *at))
        else {
            rest.push_str(statement);
            continue;
        };
        let (before, tree) = statement.split_at(at);
        let visibility = before.rsplit(['\n', '}', ']']).next().unwrap();
        let is_public = visibility.trim_start().starts_with("pub");
        rest.push_str(&before[..before.len() - visibility.len()]);
        let tree: String = tree[4..].trim_end_matches(';').replace('\n', " ");
        expand(&[], tree.trim(), &mut |path, name| {
            found.push(Import {
                path,
                name,
                is_public,
            });
        });
    }
    (found, rest)
}

fn begins_word(text: &str, at: usize) -> bool {
    !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// Calls `found` with each path of a tree `a::{b, c::d as e}`, and its name.
fn expand(before: &[String], tree: &str, found: &mut impl FnMut(Vec<String>, String)) {
    if let Some((head, group)) = tree.split_once('{') {
        let before = [before, &names(head)].concat();
        for branch in branches(
            group
                .trim_end()
                .strip_suffix('}')
                .unwrap_or(group),
        ) {
            expand(&before, branch.trim(), found);
        }
        return;
    }
    let (path, name) = tree
        .split_once(" as ")
        .map_or((tree, None), |(p, n)| (p, Some(n)));
    let mut path = [before, &names(path)].concat();
    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    let Some(last) = path.last().cloned() else {
        return;
    };
    found(path, name.map_or(last, |name| name.trim().to_owned()));
}

/// The parts of a group, split at the commas that are in no inner group.
fn branches(group: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0;
    for c in group.chars() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        match c {
            ',' if depth == 0 => parts.push(String::new()),
            _ => parts.last_mut().unwrap().push(c),
        }
    }
    parts
}

fn names(path: &str) -> Vec<String> {
    path.split("::")
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .collect()
}

/// The paths `a::b` in code without imports.
pub fn paths(code: &str) -> Vec<Vec<String>> {
    let is_of_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let words = code
        .split(|c: char| !is_of_path(c))
        .filter(|word| word.contains("::"));
    words.map(names).collect()
}

/// The identifiers in code.
pub fn identifiers(code: &str) -> BTreeSet<&str> {
    code.split(|c: char| !c.is_alphanumeric() && c != '_')
        .collect()
}

/// The modules of the library and the command, with the files that they use.
pub struct Modules {
    /// Files by module path: `["fm_index", "occ"]`; the root is the empty path.
    files: BTreeMap<Vec<String>, File>,
}

struct File {
    path: String,
    imports: Vec<Import>,
    rest: String,
}

impl Modules {
    /// Reads the modules below `src`, without `tests.rs` and the `*_checks.rs` that tests share.
    pub fn read() -> Self {
        let is_shipped = |path: &str| stem(path) != "tests" && !stem(path).ends_with("_checks");
        let shipped = files("src", "rs")
            .into_iter()
            .filter(|(path, _)| is_shipped(path));
        let files = shipped.map(|(path, text)| {
            let (imports, rest) = imports(&shipped_code(&text));
            (
                module(&path),
                File {
                    path,
                    imports,
                    rest,
                },
            )
        });
        Modules {
            files: files.collect(),
        }
    }

    /// The files that each file uses. A re-export is not a use.
    pub fn uses(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut uses = BTreeMap::new();
        for (module, file) in &self.files {
            let mut used = self.used_by(module, file);
            used.remove(&*file.path);
            uses.insert(&*file.path, used);
        }
        uses
    }

    fn used_by(&self, module: &[String], file: &File) -> BTreeSet<&str> {
        let mut used = BTreeSet::new();
        let identifiers = identifiers(&file.rest);
        for Import {
            path,
            name,
            is_public,
        } in &file.imports
        {
            if !is_public || identifiers.contains(&**name) {
                used.extend(self.resolve(module, path, 0));
            }
        }
        for path in paths(&file.rest) {
            used.extend(self.resolve(module, &path, 0));
        }
        used
    }

    /// The file that defines the item `path` as seen from `module`, if it is in this crate.
    fn resolve(&self, module: &[String], path: &[String], depth: usize) -> Option<&str> {
        let (mut at, mut rest) = match &*path[0] {
            "crate" | "bwz" => (vec![], &path[1..]),
            "self" => (module.to_vec(), &path[1..]),
            "super" => (module[..module.len().checked_sub(1)?].to_vec(), &path[1..]),
            first => {
                let child = [module, &[first.to_owned()]].concat();
                self.files.get(&child)?;
                (module.to_vec(), path)
            }
        };
        while let Some((name, behind)) = rest.split_first() {
            let next = match &**name {
                "super" => at[..at.len().checked_sub(1)?].to_vec(),
                _ => [&at[..], std::slice::from_ref(name)].concat(),
            };
            if !self.files.contains_key(&next) {
                break;
            }
            (at, rest) = (next, behind);
        }
        let file = self.files.get(&at)?;
        let item = rest.first();
        let exported = file
            .imports
            .iter()
            .find(|i| i.is_public && Some(&i.name) == item);
        let source = exported
            .filter(|_| depth < 9)
            .and_then(|i| self.resolve(&at, &i.path, depth + 1));
        Some(source.unwrap_or(&file.path))
    }
}

/// The module path of a file.
fn module(path: &str) -> Vec<String> {
    let below = path
        .strip_prefix("src/")
        .unwrap()
        .strip_suffix(".rs")
        .unwrap();
    let names = below
        .split('/')
        .filter(|name| !["mod", "lib", "main"].contains(name));
    let mut names: Vec<String> = names.map(str::to_owned).collect();
    if path == "src/main.rs" {
        names.push("main".to_owned());
    }
    names
}

/// True if `child` lies in a folder that is the module `parent`.
pub fn is_parent_of(parent: &str, child: &str) -> bool {
    let parent_module = module(parent);
    let child = module(child);
    !parent_module.is_empty()
        && child.len() > parent_module.len()
        && child.starts_with(&parent_module)
}
