//! javac and java.

use super::Repair;
use super::case::{Case, Halt, OrNotMine, Try, mine, regex};
use super::edit::Edit;
use super::probe::Probe;
use super::text::{self, RelPath};

const JAVAC: &[&str] = &["javac"];

pub(crate) fn class_file_name(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let javac = case.only(JAVAC)?;
    let found = case.find(regex!(
        r"(?m)^([^\s:]+\.java):\d+: error: (?:class|interface|enum|record) (\w+) is public, ",
        r"should be declared in a file named (\w+)\.java$"
    ))?;
    let raw = found.get(1).mine()?.as_str();
    let class = text::identifier(found.get(2).mine()?.as_str()).mine()?;
    mine(found.get(3).mine()?.as_str() == class)?;
    let word = javac.arg(raw).mine()?;
    let path = RelPath::parse(raw).or_decline("the file lies outside the working folder")?;
    let right = path.with_name(&format!("{class}.java")).or_decline("the class has an unusual name")?;
    if probe.list(&path.folder())?.iter().any(|entry| entry.name == right.name()) {
        return Err(Halt::decline(format!("{} exists already", right.as_str())));
    }
    Repair::both(
        format!("test ! -e {1} && mv -n -T {0} {1}", path.quoted(), right.quoted()),
        case.with_word(word, right.as_str())?,
        format!("The public class {class} must stand in {}; the file is renamed.", right.as_str()),
        90,
    )
}

/// The package of a class of Java's own library.
const CLASSES: &[(&str, &str)] = &[
    (
        "java.util",
        "List ArrayList LinkedList Map HashMap TreeMap LinkedHashMap Set HashSet TreeSet LinkedHashSet \
        Queue Deque \
         ArrayDeque PriorityQueue Collections Arrays Iterator Scanner Random Optional Objects UUID \
         StringJoiner \
         Comparator BitSet Properties Locale NoSuchElementException",
    ),
    ("java.util.stream", "Collectors Stream IntStream LongStream DoubleStream"),
    ("java.util.function", "Function BiFunction Supplier Consumer Predicate UnaryOperator BinaryOperator"),
    (
        "java.util.concurrent",
        "ExecutorService Executors Future CompletableFuture ConcurrentHashMap TimeUnit CountDownLatch \
        Callable",
    ),
    ("java.util.concurrent.atomic", "AtomicInteger AtomicLong AtomicBoolean AtomicReference"),
    ("java.util.regex", "Pattern Matcher"),
    (
        "java.io",
        "File IOException BufferedReader InputStreamReader FileReader FileWriter BufferedWriter PrintWriter \
         InputStream OutputStream FileInputStream FileOutputStream UncheckedIOException Serializable",
    ),
    ("java.nio.file", "Files Path Paths"),
    ("java.nio.charset", "StandardCharsets Charset"),
    ("java.time", "LocalDate LocalDateTime LocalTime Instant Duration ZonedDateTime ZoneId"),
    ("java.math", "BigDecimal BigInteger RoundingMode"),
    ("java.net", "URI URL HttpURLConnection Socket ServerSocket InetAddress"),
    ("java.text", "SimpleDateFormat DecimalFormat NumberFormat"),
];

pub(crate) fn missing_import(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    case.any(JAVAC)?;
    let message = regex!(
        r"(?m)^([^\s:]+\.java):\d+: error: cannot find symbol\n[^\n]*\n *\^\n  symbol: ",
        r"+(?:class|variable) (\w+)$"
    );
    let (mut file, mut imports) = (None, std::collections::BTreeSet::new());
    for found in case.all(message) {
        let here = found.get(1).mine()?.as_str();
        let class = found.get(2).mine()?.as_str();
        let package = CLASSES.iter().find(|(_, names)| names.split_whitespace().any(|name| name == class));
        if let Some((package, _)) = package
            && *file.get_or_insert(here) == here
        {
            imports.insert(format!("import {package}.{class};"));
        }
    }
    let path = probe.relative(file.mine()?)?;
    let lines = probe.lines(&path)?;
    let mut edit = Edit::new(&path, &lines);
    let package =
        lines.iter().position(|line| line.starts_with("package ") && line.trim_end().ends_with(';'));
    for import in &imports {
        match package {
            Some(at) => edit.append(at + 1, import)?,
            None => edit.insert(1, import)?,
        }
    }
    edit.repair(format!("{} uses classes that it did not import.", path.as_str()), 93)
}

pub(crate) fn semicolon(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    case.any(JAVAC)?;
    let message = regex!(r"(?m)^([^\s:]+\.java):(\d+): error: ';' expected\n([^\n]*)\n( *)\^$");
    let (mut file, mut places) = (None, Vec::new());
    for found in case.all(message) {
        let here = found.get(1).mine()?.as_str();
        if *file.get_or_insert(here) == here {
            let number: usize = found.get(2).mine()?.as_str().parse().ok().mine()?;
            places.push((number, found.get(4).mine()?.as_str().len()));
        }
    }
    let path = probe.relative(file.mine()?)?;
    let lines = probe.lines(&path)?;
    let mut edit = Edit::new(&path, &lines);
    for (number, column) in places {
        let line = edit.line(number)?;
        let code = line.trim_end();
        if code.replace('\t', "        ").len() != column && code.len() != column || code.contains("//") {
            return Err(Halt::decline("the place for the semicolon is not at the end of a line"));
        }
        edit.replace(number, &format!("{code};"))?;
    }
    edit.repair(format!("A semicolon was missing in {}.", path.as_str()), 88)
}

pub(crate) fn class_path(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let java = case.only(&["java"])?;
    let found = case.find(regex!(r"(?m)^Error: Could not find or load main class ([\w.$]+)\n"))?;
    let class = found.get(1).mine()?.as_str();
    java.arg(class).mine()?;
    mine(
        java.option("-cp").is_none()
            && java.option("-classpath").is_none()
            && java.option("--class-path").is_none(),
    )?;
    let file = format!("{}.class", class.replace('.', "/"));
    let wanted = RelPath::parse(&file).mine()?;
    let mut roots: Vec<RelPath> = probe
        .find(wanted.name())?
        .iter()
        .filter_map(|path| {
            path.as_str().strip_suffix(wanted.as_str())?.strip_suffix('/').and_then(RelPath::parse)
        })
        .collect();
    roots.dedup();
    let [root] = roots.as_slice() else {
        return Err(Halt::decline(format!("there is not exactly one {file} below the working folder")));
    };
    Repair::command(
        case.with_before(java.args().first().mine()?, &format!("-cp {}", root.quoted()))?,
        format!("The class {class} lies in {}, where java was not told to look.", root.as_str()),
        93,
    )
}

pub(crate) fn source_typo(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let javac = case.only(JAVAC)?;
    let found = case.find(regex!(r"(?m)^error: file not found: (\S+\.java)$"))?;
    case.correct_path(probe, javac, found.get(1).mine()?.as_str(), |entry| entry.name.ends_with(".java"))
}
