//! Perl.

use super::Repair;
use super::case::{Case, Halt, OrNotMine, Try, mine, regex};
use super::edit::Edit;
use super::probe::Probe;
use super::text::{self, RelPath};

const PERL: &[&str] = &["perl"];

pub(crate) fn library_path(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let perl = case.only(PERL)?;
    let found = case.find(regex!(r"(?m)^Can't locate ([\w/]+\.pm) in @INC "))?;
    let wanted = RelPath::parse(found.get(1).mine()?.as_str()).mine()?;
    let mut roots: Vec<RelPath> = Vec::new();
    for path in probe.find(wanted.name())? {
        let root = match path.as_str().strip_suffix(wanted.as_str()) {
            Some("") => RelPath::parse("."),
            Some(folder) => folder.strip_suffix('/').and_then(RelPath::parse),
            None => None,
        };
        roots.extend(root);
    }
    let [root] = roots.as_slice() else {
        return Err(Halt::decline(format!(
            "there is not exactly one {} below the working folder",
            wanted.as_str()
        )));
    };
    let flag = super::shell::quote(&format!("-I{}", root.as_str()));
    Repair::command(
        case.with_before(perl.args().first().mine()?, &flag)?,
        format!("{} lies in {}, where Perl was not told to look.", wanted.as_str(), root.as_str()),
        93,
    )
}

pub(crate) fn script_typo(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let perl = case.only(PERL)?;
    let found =
        case.find(regex!(r#"(?m)^Can't open perl script "([^"\n]+)": No such file or directory$"#))?;
    case.correct_path(probe, perl, found.get(1).mine()?.as_str(), |entry| !entry.folder)
}

pub(crate) fn undeclared(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    case.any(PERL)?;
    mine(!case.says("syntax error"))?;
    let message = regex!(
        r#"(?m)^Global symbol "([$@%]\w+)" requires explicit package name \(did you forget to "#,
        r#"declare "my [$@%]\w+"\?\) at (\S+) line (\d+)\.$"#
    );
    let (mut file, mut first) = (None, std::collections::BTreeMap::new());
    for found in case.all(message) {
        let here = found.get(2).mine()?.as_str();
        let number: usize = found.get(3).mine()?.as_str().parse().ok().mine()?;
        if *file.get_or_insert(here) == here {
            first.entry(found.get(1).mine()?.as_str()).or_insert(number);
        }
    }
    let path = probe.relative(file.mine()?)?;
    let lines = probe.lines(&path)?;
    let mut edit = Edit::new(&path, &lines);
    for (name, number) in first {
        // Only where the first use is an assignment at the left margin: then its scope is the whole file.
        let line = edit.line(number)?;
        let rest = line.strip_prefix(name).map(str::trim_start);
        if !rest
            .is_some_and(|rest| rest.starts_with('=') && !rest.starts_with("==") && !rest.starts_with("=~"))
        {
            return Err(Halt::decline(format!(
                "the first use of {name} is not an assignment of the whole file"
            )));
        }
        edit.replace(number, &format!("my {line}"))?;
    }
    edit.repair(format!("A variable of {} was not declared with my.", path.as_str()), 88)
}

/// Functions of modules that come with every Perl.
const FUNCTIONS: &[(&str, &str)] = &[
    ("List::Util", "max min sum sum0 first reduce shuffle uniq any all none maxstr minstr product pairs"),
    ("POSIX", "floor ceil fmod strftime"),
    ("Scalar::Util", "blessed reftype looks_like_number weaken dualvar"),
    ("File::Basename", "basename dirname fileparse"),
    ("File::Spec::Functions", "catfile catdir rel2abs"),
    ("Cwd", "getcwd cwd abs_path"),
    ("Data::Dumper", "Dumper"),
    ("Carp", "croak carp confess"),
    ("Time::HiRes", "usleep"),
];

pub(crate) fn missing_function(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    case.any(PERL)?;
    let found = case.find(regex!(r"(?m)^Undefined subroutine &main::(\w+) called at (\S+) line \d+\.$"))?;
    let function = text::identifier(found.get(1).mine()?.as_str()).mine()?;
    let module = FUNCTIONS
        .iter()
        .find(|(_, names)| names.split(' ').any(|name| name == function))
        .map(|(module, _)| *module)
        .mine()?;
    let path = probe.relative(found.get(2).mine()?.as_str())?;
    let lines = probe.lines(&path)?;
    let mut edit = Edit::new(&path, &lines);
    // After the last `use` at the left margin of the script's head, or at its top.
    let head = lines
        .iter()
        .take_while(|line| line.is_empty() || line.starts_with("use ") || line.starts_with('#'))
        .enumerate()
        .filter(|(at, line)| line.starts_with("use ") || (*at == 0 && line.starts_with("#!")))
        .last()
        .map(|(at, _)| at + 1);
    let import = format!("use {module} qw({function});");
    match head {
        Some(number) => edit.append(number, &import)?,
        None => edit.insert(1, &import)?,
    }
    edit.repair(format!("{function} belongs to {module}, which {} did not import.", path.as_str()), 92)
}

pub(crate) fn say(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let perl = case.any(PERL)?;
    case.find(regex!(
        r#"(?m)^Undefined subroutine &main::say called at|\(Do you need to predeclare "#,
        r#""?say"?\?\)|^String found where operator expected[^\n]*near "say "#
    ))?;
    let script = perl.arg_texts().find(|word| !word.starts_with('-')).mine()?;
    let path = RelPath::parse(script).or_decline("the script lies outside the working folder")?;
    let lines = probe.lines(&path)?;
    let mut edit = Edit::new(&path, &lines);
    let after_shebang = lines.first().is_some_and(|line| line.starts_with("#!"));
    if after_shebang {
        edit.append(1, "use feature 'say';")?
    } else {
        edit.insert(1, "use feature 'say';")?
    }
    edit.repair(format!("{} uses say, which must be asked for.", path.as_str()), 90)
}
