//! Precision and recall on the labelled corpus of failed commands (tests/vectors/fix/scrubber/make.py).
//!
//! `development` is for writing rules. `held_out` is measured, and must not be tuned on.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;
use zx1_scrub::{Category, Finding, Scrubber};

struct Sample {
    held_out: bool,
    text: String,
    secrets: Vec<(Category, Range<usize>)>,
    clean: Vec<Range<usize>>,
}

fn corpus() -> Vec<Sample> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/fix/scrubber/corpus.jsonl");
    let number = |value: &serde_json::Value| usize::try_from(value.as_u64().unwrap()).unwrap();
    std::fs::read_to_string(path)
        .unwrap()
        .lines()
        .map(|line| {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            let secrets = value["secrets"].as_array().unwrap().iter();
            let clean = value["clean"].as_array().unwrap().iter();
            Sample {
                held_out: value["half"] == "held_out",
                text: value["text"].as_str().unwrap().to_owned(),
                secrets: secrets
                    .map(|secret| {
                        let category = Category::from_name(secret["category"].as_str().unwrap()).unwrap();
                        (category, number(&secret["start"])..number(&secret["end"]))
                    })
                    .collect(),
                clean: clean.map(|range| number(&range[0])..number(&range[1])).collect(),
            }
        })
        .collect()
}

/// Counts of one category.
#[derive(Default)]
struct Row {
    planted: usize,
    /// Every byte is covered by findings.
    removed: usize,
    /// A finding of the same category covers it whole.
    named: usize,
    /// Findings of this category.
    findings: usize,
    /// Findings of this category that touch a planted secret, of whatever category.
    justified: usize,
}

struct Measured {
    rows: BTreeMap<Category, Row>,
    look_alikes: (usize, usize),
    words: (usize, usize),
    misses: Vec<String>,
}

fn covers(findings: &[Finding], range: &Range<usize>) -> bool {
    let mut at = range.start;
    for finding in findings {
        if finding.range.start <= at && at < finding.range.end {
            at = finding.range.end;
        }
    }
    at >= range.end
}

fn touches(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}

fn measure(samples: &[Sample], held_out: bool) -> Measured {
    let scrubber = Scrubber::new();
    let mut result =
        Measured { rows: BTreeMap::new(), look_alikes: (0, 0), words: (0, 0), misses: Vec::new() };
    for sample in samples.iter().filter(|sample| sample.held_out == held_out) {
        let findings = scrubber.scrub(&sample.text).findings;
        for (category, range) in &sample.secrets {
            let row = result.rows.entry(*category).or_default();
            row.planted += 1;
            let removed = covers(&findings, range);
            row.removed += usize::from(removed);
            let named = |finding: &Finding| {
                finding.category == *category
                    && finding.range.start <= range.start
                    && range.end <= finding.range.end
            };
            row.named += usize::from(findings.iter().any(named));
            if !removed {
                let start = sample.text[..range.start].rfind('\n').map_or(0, |at| at + 1);
                let end = sample.text[range.end..].find('\n').map_or(sample.text.len(), |at| range.end + at);
                result.misses.push(format!("missed {category}: {}", &sample.text[start..end]));
            }
        }
        for finding in &findings {
            let row = result.rows.entry(finding.category).or_default();
            row.findings += 1;
            let justified = sample.secrets.iter().any(|(_, range)| touches(range, &finding.range));
            row.justified += usize::from(justified);
            if !justified {
                let around = sample.text[..finding.range.start].rfind('\n').map_or(0, |at| at + 1);
                result.misses.push(format!(
                    "needless {}: {}",
                    finding.category,
                    &sample.text[around..finding.range.end]
                ));
            }
        }
        for clean in &sample.clean {
            result.look_alikes.1 += 1;
            result.look_alikes.0 +=
                usize::from(findings.iter().any(|finding| touches(&finding.range, clean)));
        }
        let mut at = 0;
        for word in sample.text.split_inclusive(char::is_whitespace) {
            let range = at..at + word.trim_end().len();
            at += word.len();
            if range.is_empty() || sample.secrets.iter().any(|(_, secret)| touches(secret, &range)) {
                continue;
            }
            result.words.1 += 1;
            result.words.0 += usize::from(findings.iter().any(|finding| touches(&finding.range, &range)));
        }
    }
    result
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        1.0
    } else {
        f64::from(u32::try_from(part).unwrap()) / f64::from(u32::try_from(whole).unwrap())
    }
}

fn table(measured: &Measured) -> String {
    let mut text = format!(
        "{:<18}{:>8}{:>8}{:>10}{:>14}\n",
        "category", "planted", "recall", "precision", "same category"
    );
    for (category, row) in &measured.rows {
        writeln!(
            text,
            "{:<18}{:>8}{:>8.3}{:>10.3}{:>14.3}",
            category.name(),
            row.planted,
            share(row.removed, row.planted),
            share(row.justified, row.findings),
            share(row.named, row.planted)
        )
        .unwrap();
    }
    let (look_alikes, words) = (measured.look_alikes, measured.words);
    writeln!(
        text,
        "look-alikes redacted {} of {}: {:.4}",
        look_alikes.0,
        look_alikes.1,
        share(look_alikes.0, look_alikes.1)
    )
    .unwrap();
    writeln!(text, "clean tokens redacted {} of {}: {:.4}", words.0, words.1, share(words.0, words.1))
        .unwrap();
    text
}

fn assert_bars(measured: &Measured, least: usize) {
    println!("{}", table(measured));
    if std::env::var_os("ZX1_SCRUBBER_MISSES").is_some() {
        println!("{}", measured.misses.join("\n"));
    }
    for category in Category::ALL {
        let row = measured.rows.get(&category).unwrap();
        assert!(row.planted >= least, "{category}: only {} planted", row.planted);
        assert!(
            share(row.removed, row.planted) >= 0.95,
            "{category}: recall below 0.95\n{}",
            table(measured)
        );
    }
    for (redacted, all) in [measured.look_alikes, measured.words] {
        assert!(share(redacted, all) <= 0.02, "over-redaction above 2 %\n{}", table(measured));
    }
}

#[test]
fn the_development_half_meets_the_bars() {
    assert_bars(&measure(&corpus(), false), 20);
}

#[test]
fn the_held_out_half_meets_the_bars() {
    assert_bars(&measure(&corpus(), true), 40);
}

#[test]
fn every_sample_scrubbed_twice_is_scrubbed_once() {
    let scrubber = Scrubber::new();
    for sample in corpus() {
        let once = scrubber.scrub(&sample.text);
        let twice = scrubber.scrub(&once.text);
        assert_eq!(twice.text, once.text);
        assert_eq!(twice.findings, []);
    }
}
