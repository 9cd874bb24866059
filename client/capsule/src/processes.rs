//! What /proc says about a jail from outside.

use std::collections::{HashMap, HashSet};

/// Memory of this machine, bytes.
pub(crate) fn memory_total() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().trim_end_matches(" kB").parse::<u64>().ok()?.checked_mul(1_024)
}

/// Processor time of all processes below one, children that have ended included, milliseconds.
pub(crate) fn used_ms_below(top: u32) -> u64 {
    let mut parents: HashMap<u32, (u32, u64)> = HashMap::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(id) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let Ok(text) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        if let Some(found) = parse(&text) {
            parents.insert(id, found);
        }
    }
    let mut below: HashSet<u32> = HashSet::from([top]);
    let mut ticks = 0u64;
    // A pass for each level of the tree.
    loop {
        let more: Vec<u32> = parents
            .iter()
            .filter(|(id, (parent, _))| below.contains(parent) && !below.contains(id))
            .map(|(id, _)| *id)
            .collect();
        if more.is_empty() {
            let hertz = rustix::param::clock_ticks_per_second().max(1);
            return ticks.saturating_mul(1_000) / hertz;
        }
        for id in more {
            below.insert(id);
            ticks = ticks.saturating_add(parents.get(&id).map_or(0, |(_, used)| *used));
        }
    }
}

/// Parent, and ticks of the process and its children that ended. The name may hold anything, parentheses too.
fn parse(stat: &str) -> Option<(u32, u64)> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let parent = fields.nth(1)?.parse().ok()?;
    let used =
        fields.skip(9).take(4).filter_map(|field| field.parse::<u64>().ok()).fold(0u64, u64::saturating_add);
    Some((parent, used))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_with_a_hostile_name_reads_ok() {
        let line = "42 (a) R 1 (b) S 7 42 42 0 -1 4194560 1 2 3 4 10 20 30 40 20 0 1 0 5";
        assert_eq!(parse(line), Some((7, 100)));
        assert_eq!(parse("42 (a"), None);
    }

    #[test]
    fn a_busy_child_is_seen() {
        let mut child = std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        let began = std::time::Instant::now();
        while used_ms_below(std::process::id()) < 20 {
            assert!(began.elapsed().as_secs() < 30);
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
