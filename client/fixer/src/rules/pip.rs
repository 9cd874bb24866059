//! pip, and packages that are not installed.

use super::Repair;
use super::case::{Case, Halt, OrNotMine, Try, mine, regex};
use super::probe::Probe;
use super::python::{is_python, missing_module};
use super::shell::{Simple, quote};
use super::text::RelPath;

/// `pip …` or `python3 -m pip …`.
fn pip<'c>(case: &'c Case<'_>) -> Try<&'c Simple> {
    let simple = case.single()?;
    let texts: Vec<&str> = simple.arg_texts().take(2).collect();
    let direct = matches!(super::case::base_name(simple), "pip");
    mine(direct || (is_python(simple) && texts == ["-m", "pip"]))?;
    Ok(simple)
}

pub(crate) fn command_typo(case: &Case<'_>, _: &Probe<'_>) -> Try<Repair> {
    let pip = pip(case)?;
    let found =
        case.find(regex!(r#"(?m)^ERROR: unknown command "([\w-]+)" - maybe you meant "([\w-]+)"$"#))?;
    let (typed, meant) = (found.get(1).mine()?.as_str(), found.get(2).mine()?.as_str());
    if meant == "uninstall" {
        return Err(Halt::decline("pip uninstall removes packages; type it yourself if it was meant"));
    }
    case.correct_word(pip, typed, meant, format!("pip has no command {typed}; {meant} was meant."))
}

pub(crate) fn requirements_typo(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let pip = pip(case)?;
    let found = case.find(regex!(
        r"(?m)^ERROR: Could not open requirements file: \[Errno 2\] No such file or directory: '([^'\n]+)'$"
    ))?;
    case.correct_path(probe, pip, found.get(1).mine()?.as_str(), |entry| {
        !entry.folder && [".txt", ".in"].iter().any(|ending| entry.name.ends_with(ending))
    })
}

/// Modules whose package has another name. Well-known pairs only: an unknown name is never made up, because
/// anybody can register a package under a name that people mistype.
const PACKAGES: &[(&str, &str)] = &[
    ("yaml", "PyYAML"),
    ("PIL", "Pillow"),
    ("cv2", "opencv-python"),
    ("sklearn", "scikit-learn"),
    ("bs4", "beautifulsoup4"),
    ("dateutil", "python-dateutil"),
    ("dotenv", "python-dotenv"),
    ("Crypto", "pycryptodome"),
    ("serial", "pyserial"),
    ("OpenSSL", "pyOpenSSL"),
    ("git", "GitPython"),
    ("attr", "attrs"),
    ("jwt", "PyJWT"),
    ("docx", "python-docx"),
];

/// The virtual environment whose Python the command runs: `.venv/bin/python` gives `.venv`.
fn environment(simple: &Simple) -> Option<RelPath> {
    let (folder, _) = simple.program().rsplit_once("/bin/")?;
    RelPath::parse(folder)
}

pub(crate) fn missing_package(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let simple = case.single()?;
    mine(is_python(simple))?;
    let module = missing_module(case)?;
    let environment = environment(simple).mine()?;
    let here = RelPath::parse(".").mine()?;
    let files = probe.files(&here)?;
    let Some(list) = files.iter().find(|name| *name == "requirements.txt") else {
        return Err(Halt::decline(format!("no requirements.txt says which package has the module {module}")));
    };
    let list = RelPath::parse(list).mine()?;
    let lines = probe.lines(&list)?;
    let package = PACKAGES.iter().find(|(name, _)| *name == module).map_or(module, |(_, package)| *package);
    let normal = |name: &str| name.to_lowercase().replace(['_', '.'], "-");
    let names_it = lines.iter().any(|line| {
        let end =
            line.find(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c))).unwrap_or(line.len());
        line.get(..end).is_some_and(|name| normal(name) == normal(package))
    });
    if !names_it {
        return Err(Halt::decline(format!("requirements.txt does not name {package}")));
    }
    if !probe.files(&environment)?.iter().any(|name| name == "pyvenv.cfg") {
        return Err(Halt::decline(format!("{} is no virtual environment", environment.as_str())));
    }
    if !case.failure.capabilities.network {
        return Err(Halt::NotGranted("network"));
    }
    let program = quote(simple.program());
    Repair::world(
        format!("{program} -m pip install --disable-pip-version-check -r requirements.txt"),
        format!("requirements.txt names {package}, which is not installed in {}.", environment.as_str()),
        93,
    )
}
