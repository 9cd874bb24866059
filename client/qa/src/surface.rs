//! Parts of the system that findings are about.

/// The words of surfaces and their factors in a rank.
pub const SURFACES: [(&str, u32); 10] = [
    ("security", 16),
    ("money", 16),
    ("sandbox", 16),
    ("chain", 8),
    ("decoder", 4),
    ("http", 4),
    ("cli", 2),
    ("ux", 1),
    ("docs", 1),
    ("perf", 1),
];

/// A surface's factor; of a word that the table does not have, the lowest.
pub fn weight(surface: &str) -> u32 {
    SURFACES.iter().find(|row| row.0 == surface).map_or(1, |row| row.1)
}

/// Whether findings about it are published only as a hash, with their text sealed to the maintainer.
pub fn is_sealed(surface: &str) -> bool {
    matches!(surface, "security" | "sandbox")
}
