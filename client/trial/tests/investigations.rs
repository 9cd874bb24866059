//! Whatever text files hold, no sequence of allowed investigations prints a secret that the scrubber knows. Real
//! sandboxes; this program is their helper. A few cases; 200 with `ZX1_SOAK=1`.
#![allow(clippy::unwrap_used)]

use std::collections::HashSet;
use std::path::Path;
use std::process::ExitCode;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{TestError, TestRunner};
use zx1_sandbox::Canceller;
use zx1_scrub::Scrubber;
use zx1_trial::{Watch, WorkingFolder};

/// Shortest run of bytes of a secret that counts as seen.
const PIECE: usize = 8;
const FILES: [&str; 3] = ["app.log", "conf/settings.txt", "target/out.txt"];
/// Where tools that read a file in pieces begin the next.
const CHUNKS: [usize; 3] = [4096, 32_768, 65_536];

const LOWER: &[u8] = b"abcdefghijklmnopqrstuvwxyz";
const ALNUM: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const BASE64: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BASE32: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const HEX: &[u8] = b"0123456789abcdef";
const DIGITS: &[u8] = b"0123456789";
/// How many kinds of secrets [`Random::line`] knows.
const KINDS: usize = 22;

/// A short sequence of numbers that do not repeat, from a seed that a case is made of.
struct Random(u64);

impl Random {
    fn next(&mut self) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) >> 8).unwrap()
    }

    fn text(&mut self, alphabet: &[u8], length: usize) -> String {
        (0..length).map(|_| char::from(alphabet[self.next() % alphabet.len()])).collect()
    }

    /// With a letter of each case and digits among it, as generated secrets have them.
    fn mixed(&mut self, length: usize) -> String {
        format!("Kq7{}2Zx", self.text(ALNUM, length - 6))
    }

    fn card(&mut self) -> String {
        let body = format!("4{}", self.text(DIGITS, 14));
        let sum: u32 = body
            .bytes()
            .rev()
            .enumerate()
            .map(|(place, digit)| {
                let value = u32::from(digit - b'0') * if place % 2 == 0 { 2 } else { 1 };
                if value > 9 { value - 9 } else { value }
            })
            .sum();
        format!("{body}{}", (10 - sum % 10) % 10)
    }

    /// A line with a secret of that kind in place of `¤`, and the secret. Parts are joined here, so that no scanner
    /// takes this file for a leak.
    fn line(&mut self, kind: usize) -> (String, String) {
        let (line, secret) = match kind {
            0 => (["STRIPE: sk", "_live_¤"].concat(), self.mixed(24)),
            1 => ("curl -H 'X-Api-Key: ¤' https://example.com".to_owned(), self.mixed(40)),
            2 => ("DB_PASSWORD=¤".to_owned(), self.mixed(14)),
            3 => ("+ mysql -u root -p¤ shop".to_owned(), self.mixed(14)),
            4 => ("{\"user\":\"bob\",\"password\":\"¤\"}".to_owned(), self.mixed(14)),
            5 => (["error: bad credentials gh", "p_¤"].concat(), self.mixed(36)),
            6 => (["//registry.example.com/:_authToken=np", "m_¤"].concat(), self.mixed(36)),
            7 => ("postgres://bob:¤@db.example.com:5432/shop failed".to_owned(), self.mixed(16)),
            8 => ("aws_secret_access_key = ¤".to_owned(), self.mixed(40)),
            9 => (["Google: key AI", "za¤ expired"].concat(), self.mixed(35)),
            10 => ("AccountName=x;AccountKey=¤==;EndpointSuffix=y".to_owned(), self.text(BASE64, 86)),
            11 => ("curl -u bob:¤ https://example.com/".to_owned(), self.mixed(14)),
            12 => ("fatal: 'https://x-access-token:¤@github.com/o/r/' not found".to_owned(), self.mixed(36)),
            13 => ("card ¤ declined".to_owned(), self.card()),
            14 => (
                "ssn: ¤".to_owned(),
                format!("3{}-4{}-5{}", self.text(DIGITS, 2), self.text(DIGITS, 1), self.text(DIGITS, 3)),
            ),
            15 => ("phone: ¤".to_owned(), format!("+49151{}", self.text(DIGITS, 8))),
            16 => ("TOTP_SECRET=¤".to_owned(), self.text(BASE32, 32)),
            17 => {
                let payload = format!(".{}.{}", self.mixed(60), self.mixed(43));
                (["token ey", "JhbGciOiJIUzI1NiJ9¤ is expired"].concat(), payload)
            }
            18 => ("SECRET_KEY_BASE=¤".to_owned(), format!("0f1e2d3c4b5a{}", self.text(HEX, 52))),
            19 => ("unexpected ¤ here".to_owned(), format!("9a8b7c6d5e4f{}", self.text(HEX, 28))),
            20 => ("Authorization: Bearer ¤".to_owned(), self.mixed(64)),
            _ => {
                let body: Vec<String> = (0..4).map(|_| self.text(BASE64, 64)).collect();
                let label = ["PRI", "VATE KEY-----"].concat();
                (
                    format!("-----BEGIN {label}\n¤\n-----END {label}"),
                    format!("MIIEpAIBAAKCAQEA{}", body.join("\n")),
                )
            }
        };
        (line, secret)
    }
}

/// How a line stands in its file.
#[derive(Clone, Copy, Debug)]
enum Form {
    Plain,
    Prefixed,
    Indented,
    Carriage,
    Progress,
    Nested,
    Added,
    Odd,
    Zero,
    Last,
    Chunk(usize),
}

#[derive(Clone, Debug)]
struct Plant {
    kind: usize,
    seed: u64,
    form: Form,
    file: usize,
}

fn plant() -> impl Strategy<Value = Plant> {
    let form = prop_oneof![
        Just(Form::Plain),
        Just(Form::Prefixed),
        Just(Form::Indented),
        Just(Form::Carriage),
        Just(Form::Progress),
        Just(Form::Nested),
        Just(Form::Added),
        Just(Form::Odd),
        Just(Form::Zero),
        Just(Form::Last),
        (0..CHUNKS.len()).prop_map(Form::Chunk),
    ];
    (0..KINDS, any::<u64>(), form, 0..FILES.len()).prop_map(|(kind, seed, form, file)| Plant {
        kind,
        seed,
        form,
        file,
    })
}

/// What an agent may ask. `@` stands for a file, `%` for another, `#` for a number. What the whitelist refuses today is
/// among it, so that what it admits tomorrow is asked, too.
const ASKED: [&str; 40] = [
    "cat @",
    "cat -A @",
    "cat -v @ %",
    "head -c # @",
    "head -n 3 @",
    "tail -c # @",
    "tail -c +# @",
    "tail -n 2 @",
    "grep -o . @",
    "grep -ao '[A-Za-z0-9]' @",
    "grep -aoP '.{1,7}' @",
    "grep -aobP '.{3}' @",
    "grep -aoP '(?<==).' @",
    "grep -aozP '(?s).{1,5}' @",
    "grep -an '' @",
    "grep -rac '' .",
    "grep -rao '[0-9a-f][0-9a-f]' .",
    "grep -rhoP '\\w{1,4}' .",
    "strings -n 1 @",
    "strings -n 3 -t x @",
    "strings -e S -n 2 @",
    "diff @ %",
    "diff -y -W 300 @ %",
    "diff --text /dev/null @",
    "cmp -l @ %",
    "cmp -bl @ %",
    "cmp -l -n # @ %",
    "wc -L @",
    "find . -type f",
    "timeout 5 grep -ao .. @",
    "rg -o . @",
    "od -An -v -tx1 @",
    "xxd -p @",
    "base64 @",
    "sed -n 1,9p @",
    "sort @",
    "rev @",
    "tr a-z A-Z",
    "cut -c1-# @",
    "hexdump -C @",
];

fn asked() -> impl Strategy<Value = String> {
    (0..ASKED.len(), 0..FILES.len(), 0..FILES.len(), 0..70_000_usize).prop_map(
        |(line, file, other, number)| {
            ASKED[line].replace('@', FILES[file]).replace('%', FILES[other]).replace('#', &number.to_string())
        },
    )
}

/// A secret, its file, and where it stands there.
type Planted = (usize, std::ops::Range<usize>, String);

/// The files with the secrets in them.
fn files(plants: &[Plant]) -> ([Vec<u8>; 3], Vec<Planted>) {
    let mut files: [Vec<u8>; 3] = Default::default();
    let mut secrets = Vec::new();
    // Lines that end their file come last.
    let mut ordered: Vec<&Plant> = plants.iter().collect();
    ordered.sort_by_key(|plant| matches!(plant.form, Form::Last));
    for plant in ordered {
        let mut random = Random(plant.seed);
        let (line, secret) = random.line(plant.kind);
        let (before, after) = line.split_once('¤').unwrap();
        let (start, end): (&[u8], &[u8]) = match plant.form {
            Form::Plain | Form::Chunk(_) => (b"", b"\n"),
            Form::Prefixed => (b"2026-11-03T10:11:12Z web-1  | ", b"\n"),
            Form::Indented => (b"      ", b"\n"),
            Form::Carriage => (b"", b"\r\n"),
            Form::Progress => (b"10 %\r20 %\r", b"\r30 %\n"),
            Form::Nested => (b"{\"log\":\"say ", b" so\"}\n"),
            Form::Added => (b"+", b"\n"),
            Form::Odd => (b"\xff\xfe\xe9 ", b"\n"),
            Form::Zero => (b"name\0", b"\0next\n"),
            Form::Last => (b"", b""),
        };
        let file = &mut files[plant.file];
        file.extend_from_slice(format!("a line about {}\n", random.text(LOWER, 5)).as_bytes());
        if let Form::Chunk(chunk) = plant.form {
            // The middle of the secret stands where the next chunk begins.
            let here = file.len() + before.len() + secret.len() / 2;
            let fill = CHUNKS[chunk].saturating_sub(here);
            file.extend(b"some words of no interest\n".iter().cycle().take(fill));
        }
        file.extend_from_slice(start);
        file.extend_from_slice(before.as_bytes());
        let at = file.len();
        file.extend_from_slice(secret.as_bytes());
        secrets.push((plant.file, at..file.len(), secret));
        file.extend_from_slice(after.as_bytes());
        file.extend_from_slice(end);
    }
    (files, secrets)
}

/// What `text` may hide: itself, without what tools put around what they print, reversed, decoded.
fn readings(text: &str) -> Vec<Vec<u8>> {
    let lines = |take: fn(&str) -> &str| text.lines().map(take).collect::<String>().into_bytes();
    let mut found = vec![
        text.as_bytes().to_vec(),
        lines(|line| line),
        // `12:x` of grep, `x$` of cat, `< x` of diff, `1f x` of strings.
        lines(|line| line.split_once(':').map_or(line, |(_, rest)| rest)),
        lines(|line| line.trim_end_matches('$')),
        lines(|line| line.get(2..).unwrap_or_default()),
        lines(|line| line.trim_start().split_once(' ').map_or(line, |(_, rest)| rest)),
        text.bytes().filter(|byte| byte.is_ascii_graphic()).collect(),
    ];
    found.extend(found.clone().into_iter().map(|bytes| bytes.into_iter().rev().collect()));
    // Columns of octal numbers, as cmp prints them.
    for column in [1, 2, 3] {
        let number = |line: &str| u8::from_str_radix(line.split_whitespace().nth(column)?, 8).ok();
        found.push(text.lines().filter_map(number).collect());
    }
    let digits: Vec<u8> =
        text.bytes().filter_map(|byte| u8::try_from(char::from(byte).to_digit(16)?).ok()).collect();
    for shift in [0, 1] {
        let pairs = digits.get(shift..).unwrap_or_default().chunks_exact(2);
        found.push(pairs.map(|pair| pair[0] << 4 | pair[1]).collect());
    }
    let sixes: Vec<u32> = text
        .bytes()
        .filter_map(|byte| BASE64.iter().position(|known| *known == byte))
        .map(|six| u32::try_from(six).unwrap())
        .collect();
    for shift in 0..4 {
        let fours = sixes.get(shift..).unwrap_or_default().chunks_exact(4);
        found.push(
            fours
                .flat_map(|four| {
                    let bits = four.iter().fold(0, |bits, six| bits << 6 | six);
                    let [_, three @ ..] = bits.to_be_bytes();
                    three
                })
                .collect(),
        );
    }
    found
}

/// A piece of a secret that these outputs hold, each for itself or all together.
fn leak(outputs: &[(String, String)], secrets: &[String]) -> Option<String> {
    let pieces: HashSet<&[u8]> = secrets.iter().flat_map(|secret| secret.as_bytes().windows(PIECE)).collect();
    let all: String = outputs.iter().map(|(_, text)| text.as_str()).collect();
    let whole = ("all together".to_owned(), all);
    outputs.iter().chain([&whole]).find_map(|(line, text)| {
        readings(text).iter().find_map(|reading| {
            let seen = reading.windows(PIECE).find(|window| pieces.contains(window))?;
            Some(format!("{line}: {:?} in {text:.400}", String::from_utf8_lossy(seen)))
        })
    })
}

#[derive(Debug)]
struct Nobody;

impl Watch for Nobody {
    fn running(&self, _: Option<Canceller>) {}
}

/// How much was tried, so that nobody takes silence for safety.
#[derive(Default)]
struct Tried {
    known: usize,
    unknown: usize,
    run: usize,
    refused: usize,
}

fn investigate(
    scrubber: &Scrubber,
    plants: &[Plant],
    lines: &[String],
    tried: &mut Tried,
) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    let (contents, planted) = files(plants);
    let findings: Vec<_> = contents.iter().map(|content| scrubber.scrub_bytes(content).findings).collect();
    for (name, content) in FILES.iter().zip(&contents) {
        let file = path.join(name);
        std::fs::create_dir_all(file.parent().unwrap_or(Path::new("/"))).unwrap();
        std::fs::write(file, content).unwrap();
    }
    let (known, unknown): (Vec<_>, Vec<_>) = planted.into_iter().partition(|(file, range, _)| {
        findings[*file]
            .iter()
            .any(|finding| finding.range.start <= range.start && range.end <= finding.range.end)
    });
    tried.known += known.len();
    tried.unknown += unknown.len();
    let known: Vec<String> = known.into_iter().map(|(_, _, secret)| secret).collect();
    let place = WorkingFolder::new(path, "false".to_owned(), vec![], vec![], Box::new(Nobody));
    let mut outputs = Vec::new();
    for line in lines {
        let answer = place.investigate(line).map_err(|error| format!("{line}: {error}"))?;
        tried.run += usize::from(!answer.refused);
        tried.refused += usize::from(answer.refused);
        outputs.push((line.clone(), answer.text));
    }
    leak(&outputs, &known).map_or(Ok(()), Err)
}

fn no_investigation_prints_a_known_secret() -> Result<(), libtest_mimic::Failed> {
    let cases = if std::env::var_os("ZX1_SOAK").is_some_and(|it| it == "1") { 200 } else { 12 };
    let scrubber = Scrubber::new();
    let tried = std::cell::RefCell::new(Tried::default());
    let mut runner = TestRunner::new(ProptestConfig {
        cases,
        failure_persistence: None,
        max_shrink_iters: 64,
        ..ProptestConfig::default()
    });
    let strategy = (vec(plant(), 1..8), vec(asked(), 1..10));
    let result = runner.run(&strategy, |(plants, lines)| {
        investigate(&scrubber, &plants, &lines, &mut tried.borrow_mut()).map_err(TestCaseError::fail)
    });
    let Tried { known, unknown, run, refused } = tried.into_inner();
    eprintln!("{cases} cases: {known} secrets known, {unknown} not; {run} commands run, {refused} refused");
    match result {
        Err(TestError::Fail(reason, (plants, lines))) => {
            Err(format!("{reason}\n{plants:?}\n{lines:#?}").into())
        }
        Err(error) => Err(error.to_string().into()),
        Ok(()) if known < 9 * unknown || run < refused / 4 => Err("too little was tried".into()),
        Ok(()) => Ok(()),
    }
}

/// The test sees what it has to see: secrets in outputs as tools print them.
fn a_piece_in_any_reading_is_seen() -> Result<(), libtest_mimic::Failed> {
    let secret = "hunter2-Qx81".to_owned();
    let joined = |text: fn(u8) -> String| secret.bytes().map(text).collect::<Vec<_>>();
    let hex: String = joined(|byte| format!("{byte:02x}")).concat();
    let octal = joined(|byte| format!("{:>6} {byte:o} 41", 7)).join("\n");
    let split = joined(|byte| char::from(byte).to_string()).join("\n");
    let counted = joined(|byte| format!("12:{}", char::from(byte))).join("\n");
    let back: String = secret.chars().rev().collect();
    for text in [&secret, &hex, &octal, &split, &counted, &back, &"xx aHVudGVyMi1ReDgx".to_owned()] {
        if leak(&[("x".to_owned(), text.clone())], std::slice::from_ref(&secret)).is_none() {
            return Err(format!("not seen: {text}").into());
        }
    }
    let harmless = [("x".to_owned(), "hunter2 and Qx81".to_owned())];
    leak(&harmless, &[secret]).map_or(Ok(()), |seen| Err(seen.into()))
}

fn what_comes_after_the_first_look_is_scrubbed_too() -> Result<(), libtest_mimic::Failed> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().canonicalize()?;
    std::fs::write(path.join("a.txt"), "nothing\n")?;
    let place = WorkingFolder::new(path.clone(), "false".to_owned(), vec![], vec![], Box::new(Nobody));
    let first = place.investigate("cat a.txt")?;
    assert_eq!(first.text, "nothing\n");
    for file in ["a.txt", "b.txt"] {
        std::fs::write(path.join(file), "DB_PASSWORD=hunter2-Qx81\n")?;
    }
    for file in ["a.txt", "b.txt"] {
        let line = format!("grep -o . {file}");
        let outputs = [(line.clone(), place.investigate(&line)?.text)];
        assert!(outputs[0].1.starts_with("D\nB\n"), "{outputs:?}");
        assert_eq!(leak(&outputs, &["hunter2-Qx81".to_owned()]), None);
    }
    Ok(())
}

fn main() -> ExitCode {
    zx1_sandbox::helper_main_if_asked();
    let trials = vec![
        libtest_mimic::Trial::test(
            "no_investigation_prints_a_known_secret",
            no_investigation_prints_a_known_secret,
        ),
        libtest_mimic::Trial::test(
            "what_comes_after_the_first_look_is_scrubbed_too",
            what_comes_after_the_first_look_is_scrubbed_too,
        ),
        libtest_mimic::Trial::test("a_piece_in_any_reading_is_seen", a_piece_in_any_reading_is_seen),
    ];
    libtest_mimic::run(&libtest_mimic::Arguments::from_args(), trials).exit_code()
}
