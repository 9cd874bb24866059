//! The `qa/v1` form of a text in the feedback log: a first line of `key=value` pairs, then prose, then `repro:`
//! lines. Everything else is prose of unknown severity.

const TAG: &str = "qa/v1";
const REPRO: &str = "repro:";

/// A finding as QA agents file it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Finding {
    /// Name of the agent that found it.
    pub source: Option<String>,
    /// `high`, `medium`, `low` or another word; `unknown` when the text gives none.
    pub severity: String,
    /// Part of the system that it is about.
    pub surface: Option<String>,
    /// The text that describes the finding.
    pub summary: String,
    /// Commands that reproduce it, without the `repro:` prefix.
    pub repro: Option<String>,
}

/// Parses a text. Text that does not begin with the tag is prose of unknown severity; unknown keys are ignored.
pub fn parse(text: &str) -> Finding {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let mut words = first.split_whitespace();
    if words.next() != Some(TAG) {
        return Finding {
            severity: "unknown".to_owned(),
            summary: text.trim().to_owned(),
            ..Finding::default()
        };
    }
    let mut finding = Finding { severity: "unknown".to_owned(), ..Finding::default() };
    for (key, value) in words.filter_map(|word| word.split_once('=')) {
        let value = value.to_owned();
        match key {
            "source" => finding.source = Some(value),
            "sev" => finding.severity = value,
            "surface" => finding.surface = Some(value),
            _ => {}
        }
    }
    let (prose, repro) = match rest.lines().position(|line| line.trim_start().starts_with(REPRO)) {
        Some(at) => {
            let lines: Vec<&str> = rest.lines().collect();
            let (prose, repro) = lines.split_at(at.min(lines.len()));
            let repro = repro.join("\n");
            (prose.join("\n"), Some(repro.trim_start().trim_start_matches(REPRO).trim().to_owned()))
        }
        None => (rest.to_owned(), None),
    };
    finding.summary = prose.trim().to_owned();
    finding.repro = repro.filter(|repro| !repro.is_empty());
    finding
}

/// The text of a finding; [`parse`] reads it back.
pub fn write(source: &str, severity: &str, surface: &str, summary: &str, repro: Option<&str>) -> String {
    let mut text = format!("{TAG} source={source} sev={severity} surface={surface}\n{}", summary.trim());
    if let Some(repro) = repro {
        text.push_str(&format!("\n{REPRO} {}", repro.trim()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_example_of_the_specification_parses() {
        let text = "qa/v1 source=qa-fuzz sev=high surface=rustlite\ncompile panic on `enum E{}` with no \
                    variants — expected a clean Err.\nrepro: qa_compile(\"enum E{}\")\n";
        let finding = parse(text);
        assert_eq!(finding.source.as_deref(), Some("qa-fuzz"));
        assert_eq!(finding.severity, "high");
        assert_eq!(finding.surface.as_deref(), Some("rustlite"));
        assert!(finding.summary.starts_with("compile panic") && finding.summary.ends_with("clean Err."));
        assert_eq!(finding.repro.as_deref(), Some("qa_compile(\"enum E{}\")"));
    }

    #[test]
    fn prose_is_of_unknown_severity() {
        let finding = parse("it is slow\nreally");
        assert_eq!((finding.severity.as_str(), finding.summary.as_str()), ("unknown", "it is slow\nreally"));
        assert_eq!(parse("qa/v2 sev=high").severity, "unknown");
    }

    #[test]
    fn a_repro_may_have_several_lines() {
        let finding = parse("qa/v1 sev=low\nsummary\nrepro: one\ntwo");
        assert_eq!(finding.repro.as_deref(), Some("one\ntwo"));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            source in "[a-z][a-z0-9-]{0,20}", severity in "high|low|meta", surface in "[a-z]{1,10}",
            summary in "[a-z ]{0,40}[a-z]", repro in proptest::option::of("[a-z(]{1,20}"),
        ) {
            let finding = parse(&write(&source, &severity, &surface, &summary, repro.as_deref()));
            prop_assert_eq!(finding, Finding {
                source: Some(source), severity, surface: Some(surface),
                summary: summary.trim().to_owned(), repro,
            });
        }

        #[test]
        fn any_text_parses(text in "\\PC*") {
            parse(&text);
            parse(&format!("{TAG} {text}"));
        }
    }
}
