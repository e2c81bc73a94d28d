//! Which file of a crate names which: the graph that `cycles` looks for cycles in.
//!
//! The files are those that `mod` declarations lead to from the crate's root. An edge is a path that begins with `crate`, `super`, `self` or a
//! child module and leads to another file; it ends at the file that defines what is named, through `pub use` and other imports on the way. So a re-export is
//! no edge by itself: a face that only hands names on stands in nobody's way. Left out: calls of methods, for which see
//! `method_calls`, and what only a compiler knows, such as the expansion of macros.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::findings::SourceFile;
use super::rust_text::{Token, tokens};

/// The way from the crate's root to a module.
type ModulePath = Vec<String>;

/// One file names another.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Edge {
    pub from: PathBuf,
    pub to: PathBuf,
    /// The first line of `from` that does so, and the path there.
    pub line: usize,
    pub names: String,
}

/// A path in the code of a module.
struct Mention {
    module: ModulePath,
    path: Vec<String>,
    line: usize,
    /// It is called: its last part is a function, also where a module has the same name.
    is_call: bool,
}

/// `use PATH as NAME`.
struct Import {
    mention: Mention,
    name: String,
    /// The name stands in the file outside of `use` declarations, too.
    is_used_here: bool,
    is_public: bool,
}

#[derive(Default)]
struct Crate {
    /// Modules, inline ones too, and the file each is in.
    files: BTreeMap<ModulePath, PathBuf>,
    /// Those for other processors, too.
    all_files: BTreeSet<PathBuf>,
    mentions: Vec<(PathBuf, Mention)>,
    imports: Vec<(PathBuf, Import)>,
}

/// The edges between the files of the crate whose root is `root`, one for each pair.
pub fn edges(root: &Path, files: &[SourceFile]) -> Vec<Edge> {
    let mut found = Crate::default();
    let texts: BTreeMap<&Path, &str> = files.iter().map(|file| (file.path.as_path(), file.text.as_str())).collect();
    found.read(root, Vec::new(), &texts);
    found.edges()
}

/// The files of the crate whose root is `root` that are part of the program: those that `mod` declarations lead to,
/// without those for tests.
pub fn program_files(root: &Path, files: &[SourceFile]) -> BTreeSet<PathBuf> {
    let mut found = Crate::default();
    let texts: BTreeMap<&Path, &str> = files.iter().map(|file| (file.path.as_path(), file.text.as_str())).collect();
    found.read(root, Vec::new(), &texts);
    found.all_files
}

/// Crates whose code runs in tests only.
const CRATES_FOR_TESTS: [&str; 1] = ["mutation"];

/// The files of all crates that are part of the virtual machine. Models are left out: they run under loom only.
pub fn machine_files(files: &[SourceFile]) -> Vec<&SourceFile> {
    let is_root = |path: &Path| {
        let parts: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
        matches!(parts[..], ["crates", name, "src", "lib.rs" | "main.rs"] if !CRATES_FOR_TESTS.contains(&name))
    };
    let roots = files.iter().filter(|file| is_root(&file.path));
    let paths: BTreeSet<PathBuf> = roots.flat_map(|root| program_files(&root.path, files)).collect();
    let is_model = |path: &Path| path.file_name().is_some_and(|name| name == "model.rs");
    files.iter().filter(|file| paths.contains(&file.path) && !is_model(&file.path)).collect()
}

impl Crate {
    /// Reads the module in `file` and, through its declarations, those below.
    fn read(&mut self, file: &Path, module: ModulePath, texts: &BTreeMap<&Path, &str>) {
        let Some(text) = texts.get(file) else { return };
        // Of files that stand for one module on different processors the first.
        self.files.entry(module.clone()).or_insert_with(|| file.to_path_buf());
        self.all_files.insert(file.to_path_buf());
        let mut reader =
            Reader { all: tokens(text), at: 0, module, scopes: Vec::new(), children: Vec::new(), given_path: None };
        let first_import = self.imports.len();
        let words = reader.read(self, file);
        for (_, import) in &mut self.imports[first_import..] {
            import.is_used_here = words.contains(&import.name);
        }
        let folder = file.parent().unwrap_or(file);
        for (child, given) in reader.children {
            let places = match given {
                Some(path) => vec![folder.join(path)],
                None => {
                    let mut place = folder.to_path_buf();
                    if !has_children_beside(file) {
                        place.push(file.file_stem().unwrap_or_default());
                    }
                    place.extend(&child[reader.module.len()..]);
                    vec![place.with_extension("rs"), place.join("mod.rs")]
                }
            };
            if let Some(place) = places.into_iter().find(|place| texts.contains_key(place.as_path())) {
                self.read(&place, child, texts);
            }
        }
    }

    fn edges(&self) -> Vec<Edge> {
        let mut found: BTreeMap<(PathBuf, PathBuf), (usize, String)> = BTreeMap::new();
        let used = self.imports.iter().filter(|(_, import)| import.is_used_here || !import.is_public);
        let mentions = self.mentions.iter().map(|(file, mention)| (file, mention));
        for (file, mention) in mentions.chain(used.map(|(file, import)| (file, &import.mention))) {
            if let Some(to) = self.file_of(&mention.module, &mention.path, mention.is_call, 0)
                && to != file
            {
                let place = (mention.line, mention.path.join("::"));
                let known = found.entry((file.clone(), to.clone())).or_insert_with(|| place.clone());
                *known = known.clone().min(place);
            }
        }
        found.into_iter().map(|((from, to), (line, names))| Edge { from, to, line, names }).collect()
    }

    /// The file that defines what `path` names in `module`. None: it is of another crate, or unknown. `is_call`: its
    /// last part is a function.
    fn file_of(&self, module: &[String], path: &[String], is_call: bool, hops: usize) -> Option<&PathBuf> {
        // Imports of each other's imports are no Rust, but may stand in a text.
        const MAX_HOPS: usize = 16;
        if hops > MAX_HOPS {
            return None;
        }
        let mut at: ModulePath = module.to_vec();
        let mut is_placed = false;
        for (index, part) in path.iter().enumerate() {
            match part.as_str() {
                "crate" => at.clear(),
                "self" => {}
                "super" => drop(at.pop()),
                name => {
                    let mut child = at.clone();
                    child.push(name.to_owned());
                    if self.files.contains_key(&child) && !(is_call && index + 1 == path.len()) {
                        at = child;
                        is_placed = true;
                        continue;
                    }
                    if let Some((_, import)) =
                        self.imports.iter().find(|(_, import)| import.mention.module == at && import.name == name)
                    {
                        let mut rest = import.mention.path.clone();
                        rest.extend_from_slice(&path[index + 1..]);
                        return self.file_of(&at, &rest, is_call, hops + 1);
                    }
                    break;
                }
            }
            is_placed = true;
        }
        if is_placed { self.files.get(&at) } else { None }
    }
}

/// `lib.rs`, `main.rs` and `mod.rs` have their children beside them, other files in a folder of their name.
fn has_children_beside(file: &Path) -> bool {
    file.file_name().is_some_and(|name| ["lib.rs", "main.rs", "mod.rs"].iter().any(|own| name == *own))
}

/// Goes over the tokens of one file.
struct Reader<'a> {
    all: Vec<Token<'a>>,
    at: usize,
    /// The file's module.
    module: ModulePath,
    /// What each open brace is: an inline module's name, or something else.
    scopes: Vec<Option<String>>,
    /// Declared modules, with the file that `#[path]` gives.
    children: Vec<(ModulePath, Option<PathBuf>)>,
    /// That of the attribute just read.
    given_path: Option<PathBuf>,
}

impl<'a> Reader<'a> {
    fn text(&self, offset: usize) -> &'a str {
        self.all.get(self.at + offset).map_or("", |token| token.text)
    }

    /// The innermost module around the place.
    fn here(&self) -> ModulePath {
        self.module.iter().chain(self.scopes.iter().flatten()).cloned().collect()
    }

    /// Notes mentions, imports and children; gives the words outside of `use` declarations.
    fn read(&mut self, found: &mut Crate, file: &Path) -> BTreeSet<String> {
        let mut words = BTreeSet::new();
        while let Some(&token) = self.all.get(self.at) {
            match token.text {
                "mod" if self.all.get(self.at + 1).is_some_and(Token::is_word) => {
                    let name = self.text(1).to_owned();
                    let mut module = self.here();
                    module.push(name.clone());
                    if self.text(2) == "{" {
                        found.files.insert(module, file.to_path_buf());
                        self.scopes.push(Some(name));
                    } else {
                        self.children.push((module, self.given_path.take()));
                    }
                    self.at += 3;
                }
                "path" if self.at > 0 && self.all[self.at - 1].text == "[" && self.text(1) == "=" => {
                    self.given_path = Some(PathBuf::from(self.text(2).trim_matches('"')));
                    self.at += 3;
                }
                // `pub(in crate::a)` says who may name the item, and names nothing.
                "in" if self.at > 1 && self.all[self.at - 1].text == "(" && self.all[self.at - 2].text == "pub" => {
                    while !matches!(self.text(0), ")" | "") {
                        self.at += 1;
                    }
                }
                // `impl Trait + use<'a>` is not a declaration.
                "use" if self.text(1) == "<" => self.at += 1,
                "{" => {
                    self.scopes.push(None);
                    self.at += 1;
                }
                "}" => {
                    self.scopes.pop();
                    self.at += 1;
                }
                "use" => {
                    let is_public = self.at > 0 && matches!(self.all[self.at - 1].text, "pub" | ")");
                    self.at += 1;
                    let module = self.here();
                    let before = found.imports.len();
                    self.read_use(&mut Vec::new(), &module, file, found);
                    found.imports[before..].iter_mut().for_each(|(_, import)| import.is_public = is_public);
                }
                _ if token.is_word() => {
                    let mut path = vec![token.text.to_owned()];
                    self.at += 1;
                    while self.text(0) == "::" && self.all.get(self.at + 1).is_some_and(Token::is_word) {
                        path.push(self.text(1).to_owned());
                        self.at += 2;
                    }
                    words.insert(path[0].clone());
                    if path.len() > 1 {
                        let is_call = self.text(0) == "(";
                        let mention = Mention { module: self.here(), path, line: token.line, is_call };
                        found.mentions.push((file.to_path_buf(), mention));
                    }
                }
                "::" => {
                    // `::std::…`, `<T>::…`: what follows is not a path of this crate.
                    self.at += 1 + usize::from(self.all.get(self.at + 1).is_some_and(Token::is_word));
                }
                _ => self.at += 1,
            }
        }
        words
    }

    /// One tree of a `use` declaration, below `prefix`.
    fn read_use(&mut self, prefix: &mut Vec<String>, module: &ModulePath, file: &Path, found: &mut Crate) {
        let depth = prefix.len();
        let line = self.all.get(self.at).map_or(0, |token| token.line);
        loop {
            match self.text(0) {
                "::" => self.at += 1,
                "{" => {
                    self.at += 1;
                    while !matches!(self.text(0), "}" | "") {
                        self.read_use(prefix, module, file, found);
                        if self.text(0) == "," {
                            self.at += 1;
                        }
                    }
                    self.at += 1;
                    break;
                }
                "*" => {
                    self.at += 1;
                    let mention = Mention { module: module.clone(), path: prefix.clone(), line, is_call: false };
                    found.mentions.push((file.to_path_buf(), mention));
                    break;
                }
                "" | ";" | "," | "}" => {
                    self.add_import(prefix, None, line, module, file, found);
                    break;
                }
                "as" => {
                    let name = self.text(1).to_owned();
                    self.at += 2;
                    self.add_import(prefix, Some(name), line, module, file, found);
                    break;
                }
                part => {
                    prefix.push(part.to_owned());
                    self.at += 1;
                }
            }
        }
        prefix.truncate(depth);
    }

    fn add_import(
        &self,
        path: &[String],
        name: Option<String>,
        line: usize,
        module: &ModulePath,
        file: &Path,
        found: &mut Crate,
    ) {
        let mut path = path.to_vec();
        if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        let Some(last) = path.last().cloned() else { return };
        let mention = Mention { module: module.clone(), path, line, is_call: false };
        let import = Import { mention, name: name.unwrap_or(last), is_used_here: false, is_public: false };
        found.imports.push((file.to_path_buf(), import));
    }
}
