//! Results as text for people and as lines for programs.

use crate::calibrate::Calibration;
use crate::cartel::Judged;
use crate::outcome::Outcome;
use serde::Serialize;
use std::fmt::Write as _;

/// Something that must hold of a scenario's results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// The claim, as a sentence without a full stop.
    pub claim: String,
    /// Whether it holds.
    pub holds: bool,
}

/// Result of one variant of a scenario.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Measured {
    /// Of a run of the mesh.
    Mesh(Box<Outcome>),
    /// Of a market of notaries.
    Notaries(Judged),
}

/// Results of one scenario. The same seed gives the same bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Name of the scenario.
    pub scenario: &'static str,
    /// Number of honest agents.
    pub agents: u32,
    /// Simulated seconds of traffic.
    pub seconds: u32,
    /// From which everything random followed.
    pub seed: u64,
    /// Results by variant.
    pub variants: Vec<(&'static str, Measured)>,
    /// What must hold.
    pub checks: Vec<Check>,
}

impl Report {
    /// Whether everything holds.
    pub fn holds(&self) -> bool {
        self.checks.iter().all(|check| check.holds)
    }

    /// A section of a Markdown document.
    pub fn to_markdown(&self, about: &str) -> String {
        let Self { scenario, agents, seconds, seed, .. } = self;
        let mut text = format!("### {scenario}\n\n{about}\n\n");
        let _ = writeln!(
            text,
            "{} agents, {} s, seed {seed}.\n",
            grouped(u64::from(*agents)),
            grouped(u64::from(*seconds))
        );
        if self.variants.iter().any(|(_, it)| matches!(it, Measured::Mesh(_))) {
            text.push_str(
                "| variant | messages | delivered | worst message | watched | p50 | p99 | judged | attack accepted | \
                 graylisted: attackers, honest | pruned: attackers, honest |\n|---|---|---|---|---|---|---|---|---|---|---|\n",
            );
        } else {
            text.push_str(
                "| variant | half | right | wrong | unjudged | delayed | by the cartel |\n|---|---|---|---|---|---|---|\n",
            );
        }
        for (name, measured) in &self.variants {
            match measured {
                Measured::Mesh(outcome) => mesh_row(&mut text, name, outcome),
                Measured::Notaries(judged) => notary_rows(&mut text, name, judged),
            }
        }
        text.push('\n');
        for Check { claim, holds } in &self.checks {
            let _ = writeln!(text, "- {}: {claim}.", if *holds { "holds" } else { "**does not hold**" });
        }
        text
    }
}

fn mesh_row(text: &mut String, name: &str, it: &Outcome) {
    let watched = if it.watched.expected == 0 {
        "-".to_owned()
    } else {
        format!("{}, p50 {} ms", percent(it.watched.ppm()), it.watched_p50_millis)
    };
    let _ = writeln!(
        text,
        "| {name} | {} | {} | {} | {watched} | {} ms | {} ms | {} | {} | {}, {} | {}, {} |",
        grouped(it.published),
        percent(it.deliveries.ppm()),
        percent(it.worst_ppm),
        it.p50_millis,
        it.p99_millis,
        grouped(it.judged),
        grouped(it.attack_accepted),
        grouped(it.attackers_graylisted),
        grouped(it.honest_graylisted),
        grouped(it.attackers_pruned),
        grouped(it.honest_pruned),
    );
}

fn notary_rows(text: &mut String, name: &str, judged: &Judged) {
    for (half, it) in [("first", judged.first_half), ("second", judged.second_half)] {
        let _ = writeln!(
            text,
            "| {name} | {half} | {} | {} | {} | {} | {} |",
            it.right, it.wrong, it.none, it.delayed, it.by_cartel
        );
    }
}

/// The section of a calibration.
pub fn calibration_markdown(it: &Calibration) -> String {
    let mut text = format!(
        "{} real nodes over the memory transport, {} messages, each node takes {} to {} ms for its verdict; links, \
         meshes and delays of the simulation are theirs.\n\n| | delivered | median | 99th percentile |\n|---|---|---|---|\n",
        it.nodes, it.messages, it.delay_millis.0, it.delay_millis.1
    );
    for (name, side) in [("real nodes", it.real), ("simulation", it.simulated)] {
        let _ = writeln!(
            text,
            "| {name} | {} | {} ms | {} ms |",
            percent(side.delivered_ppm),
            side.p50_millis,
            side.p99_millis
        );
    }
    let _ = writeln!(
        text,
        "\n- {}: delivery within 1 point.\n- {}: median latency within 20 %.",
        if it.is_delivery_close() { "holds" } else { "**does not hold**" },
        if it.is_latency_close() { "holds" } else { "**does not hold**" }
    );
    text
}

/// Parts of a million as per cent, not rounded up.
pub fn percent(ppm: u64) -> String {
    format!("{}.{:04} %", ppm / 10_000, ppm % 10_000)
}

/// A number with spaces between groups of three digits.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!((percent(1_000_000), percent(964_001)), ("100.0000 %".to_owned(), "96.4001 %".to_owned()));
        assert_eq!([7, 999, 1_000, 1_234_567].map(grouped), ["7", "999", "1 000", "1 234 567"]);
    }
}
