//! Backup and restore. The export holds the nonces and everything that was decided; the seed is kept elsewhere.
//! Neither alone moves money.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sqlx::{Column as _, Row as _, TypeInfo as _, ValueRef as _};
use zx1_home::files::{self, Draft};

use super::engine::Engine;
use super::{EscrowError, Keys};
use crate::blake2b_256;
use crate::journal::{CrashPoints, Journal, JournalError, rows};
use crate::{BlockHash, Network};

/// The tables, in an order in which references hold.
const TABLES: [&str; 8] = ["secret", "account", "plan", "leg", "deposit", "block", "work", "alarm"];

/// A value of a cell: SQLite's types as JSON has them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
enum Cell {
    Null,
    Int(i64),
    Text(String),
    Blob { hex: String },
}

/// A whole journal in a file. It contains nonces: keep it as the journal itself. It has no `Debug`.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Backup {
    format: String,
    network: String,
    genesis: BlockHash,
    /// The seed that it needs, by fingerprint.
    seed: String,
    /// The journal's id; older exports have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    journal: Option<String>,
    /// When it was made, unix milliseconds.
    pub made_at: i64,
    tables: BTreeMap<String, Vec<BTreeMap<String, Cell>>>,
    /// Keyed with the seed: who changed a destination in the file is noticed.
    seal: String,
}

const FORMAT: &str = "nano-escrow/export/v1";

impl Backup {
    /// Number of accounts in the backup.
    pub fn accounts(&self) -> usize {
        self.tables.get("account").map_or(0, Vec::len)
    }

    /// The network that it is of. Fails with 8681.
    pub fn network(&self) -> Result<Network, EscrowError> {
        let network: Network = self.network.parse()?;
        if self.format != FORMAT || self.genesis != network.genesis() {
            return Err(EscrowError::Export(format!("it is {:?} of {:?}", self.format, self.network)));
        }
        Ok(network)
    }

    fn compute_seal(&self, keys: &dyn Keys) -> Result<String, EscrowError> {
        let mut open = self.clone();
        open.seal = String::new();
        let bytes = serde_json::to_vec(&open).map_err(|e| EscrowError::Export(e.to_string()))?;
        Ok(hex::encode(blake2b_256(&[&keys.seal(), &bytes])))
    }

    /// Fails with 8682 when the seed is another or the file was changed.
    pub fn check(&self, keys: &dyn Keys) -> Result<(), EscrowError> {
        use subtle::ConstantTimeEq as _;
        let seal = self.compute_seal(keys)?;
        if self.seed != keys.fingerprint() || !bool::from(seal.as_bytes().ct_eq(self.seal.as_bytes())) {
            return Err(EscrowError::ExportSeal);
        }
        Ok(())
    }

    /// Write it into a new file that only its owner can read: whole or not at all. Fails with 8683 when the file is
    /// there.
    pub async fn write(&self, path: &Path) -> Result<(), EscrowError> {
        self.write_with(path, &CrashPoints::default()).await
    }

    /// As [`write`](Self::write), with crash points that a test has chosen.
    pub async fn write_with(&self, path: &Path, points: &CrashPoints) -> Result<(), EscrowError> {
        if path.exists() {
            return Err(JournalError::Exists(path.to_owned()).into());
        }
        let json = serde_json::to_vec_pretty(self).map_err(|e| EscrowError::Export(e.to_string()))?;
        points.pass("before", "file", "export").await;
        let mut draft = Draft::new(path).map_err(JournalError::file(path))?;
        draft.write_all(&json).map_err(JournalError::file(path))?;
        points.pass("after", "file", "export").await;
        points.pass("before", "file", "rename").await;
        draft.create().map_err(|source| match source.kind() {
            ErrorKind::AlreadyExists => JournalError::Exists(path.to_owned()),
            _ => JournalError::File { path: path.to_owned(), source },
        })?;
        points.pass("after", "file", "rename").await;
        Ok(())
    }

    /// Read a file. Fails with 8601 or 8681.
    pub fn read(path: &Path) -> Result<Backup, EscrowError> {
        let bytes = std::fs::read(path).map_err(JournalError::file(path))?;
        serde_json::from_slice(&bytes).map_err(|e| EscrowError::Export(e.to_string()))
    }
}

impl Engine {
    pub(crate) async fn export(&self) -> Result<Backup, EscrowError> {
        export(&self.journal, &*self.keys, self.now()).await
    }
}

/// Everything of a journal that a restore needs; also of one that is open for reading only, beside the process that
/// writes it. Fails with 8603 for another seed.
pub async fn export(journal: &Journal, keys: &dyn Keys, made_at: i64) -> Result<Backup, EscrowError> {
    let network = journal.network().await?;
    let mut tables = BTreeMap::new();
    // One read transaction, so that the tables fit together.
    let mut conn = journal.read().await?;
    let mut tx = sqlx::Connection::begin(&mut *conn).await?;
    for table in TABLES {
        let sql = sqlx::AssertSqlSafe(format!("SELECT * FROM {table} ORDER BY rowid"));
        let mut out = Vec::new();
        for row in sqlx::query(sql).fetch_all(&mut *tx).await? {
            let mut cells = BTreeMap::new();
            for column in row.columns() {
                cells.insert(column.name().to_owned(), cell(&row, column.ordinal())?);
            }
            out.push(cells);
        }
        tables.insert(table.to_owned(), out);
    }
    let id = rows::meta(&mut tx, "id").await?;
    let seed = rows::meta(&mut tx, "seed").await?.unwrap_or_default();
    tx.rollback().await?;
    let given = keys.fingerprint();
    if seed != given {
        return Err(JournalError::WrongSeed { journal: seed, given }.into());
    }
    let mut backup = Backup {
        format: FORMAT.into(),
        network: network.name().into(),
        genesis: network.genesis(),
        seed,
        journal: id,
        made_at,
        tables,
        seal: String::new(),
    };
    backup.seal = backup.compute_seal(keys)?;
    Ok(backup)
}

fn cell(row: &sqlx::sqlite::SqliteRow, at: usize) -> Result<Cell, EscrowError> {
    let raw = row.try_get_raw(at)?;
    if raw.is_null() {
        return Ok(Cell::Null);
    }
    Ok(match raw.type_info().name() {
        "INTEGER" => Cell::Int(row.try_get(at)?),
        "BLOB" => Cell::Blob { hex: hex::encode(row.try_get::<&[u8], _>(at)?) },
        _ => Cell::Text(row.try_get(at)?),
    })
}

/// Make a journal from an export, in a place where there is none, with its seed. Afterwards
/// [`recover`](super::Escrow::recover) adopts whatever happened since the export was made; nothing is paid twice.
///
/// Fails with 8683 when there is a journal, 8682 for a wrong seed or a changed file.
pub async fn restore(path: &Path, backup: &Backup, keys: &dyn Keys) -> Result<Journal, EscrowError> {
    if path.exists() {
        return Err(JournalError::Exists(path.to_owned()).into());
    }
    let network = backup.network()?;
    backup.check(keys)?;
    // Under another name until it is whole: an interrupted restore leaves nothing that looks like a journal.
    let mut name = path.as_os_str().to_owned();
    name.push(".restore");
    let part = std::path::PathBuf::from(name);
    for suffix in ["", "-wal", "-shm", "-journal", ".lock"] {
        let mut old = part.as_os_str().to_owned();
        old.push(suffix);
        match std::fs::remove_file(&old) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                return Err(JournalError::File { path: old.into(), source: e }.into());
            }
            _ => {}
        }
    }
    let journal = Journal::open(&part, network, &keys.fingerprint()).await?;
    let mut tx = journal.begin().await?;
    // `deposit` and `plan`, `block` and `leg` refer to each other; all is there at the end.
    sqlx::query("PRAGMA defer_foreign_keys = ON").execute(&mut *tx).await?;
    for table in TABLES {
        for cells in backup.tables.get(table).map(Vec::as_slice).unwrap_or_default() {
            let known = |c: &char| c.is_ascii_lowercase() || *c == '_';
            if cells.is_empty() || !cells.keys().all(|k| k.chars().all(|c| known(&c))) {
                return Err(EscrowError::Export(format!("a row of {table} has no usable columns")));
            }
            let columns: Vec<&str> = cells.keys().map(String::as_str).collect();
            let places = vec!["?"; columns.len()].join(", ");
            let sql = format!("INSERT INTO {table} ({}) VALUES ({places})", columns.join(", "));
            let mut insert = sqlx::query(sqlx::AssertSqlSafe(sql));
            for value in cells.values() {
                insert = match value {
                    Cell::Null => insert.bind(None::<i64>),
                    Cell::Int(n) => insert.bind(*n),
                    Cell::Text(text) => insert.bind(text.clone()),
                    Cell::Blob { hex } => {
                        let bytes = hex::decode(hex).map_err(|e| EscrowError::Export(e.to_string()))?;
                        insert.bind(bytes)
                    }
                };
            }
            insert.execute(&mut *tx).await?;
        }
    }
    for row in rows::accounts(&mut tx).await? {
        if keys.keypair(&row.nonce).public_key() != row.account {
            return Err(EscrowError::Export(format!("the nonce of {} is not its account's", row.name())));
        }
    }
    if let Some(id) = &backup.journal {
        sqlx::query("UPDATE meta SET value = ? WHERE key = 'id'").bind(id).execute(&mut *tx).await?;
    }
    journal.commit(tx, "restore").await?;
    // Closing the last connection writes the log back, so the file is whole by itself.
    journal.close().await;
    files::rename(&part, path).map_err(JournalError::file(path))?;
    let mut lock = part.as_os_str().to_owned();
    lock.push(".lock");
    let _ = std::fs::remove_file(lock);
    Ok(Journal::open(path, network, &keys.fingerprint()).await?)
}
