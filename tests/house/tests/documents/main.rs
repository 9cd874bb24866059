//! Texts of the repository: what they cite is there, and what they say of licences is true.

mod citations;
mod files;
mod licences;
