//! Finds secrets in texts: one JSON object with `text` a line on standard input, one array of `[category, start, end]`
//! a line on standard output. `scripts/scrubber/measure.py` runs it.
#![allow(missing_docs, clippy::unwrap_used)]

use serde_json::{Value, json};
use std::io::{self, BufRead, BufWriter, Write};
use zx1_scrub::Scrubber;

fn main() {
    let scrubber = Scrubber::new();
    let mut out = BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let sample: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let scrubbed = scrubber.scrub(sample["text"].as_str().unwrap());
        let found: Vec<Value> = scrubbed
            .findings
            .iter()
            .map(|finding| json!([finding.category.name(), finding.range.start, finding.range.end]))
            .collect();
        writeln!(out, "{}", Value::from(found)).unwrap();
    }
}
