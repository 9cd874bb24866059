//! Where the contracts of a test's market are kept: in its folder, or with `ZX1_MARKET_DB=postgres` in a Postgres of its
//! own.

use std::path::{Path, PathBuf};

use zx1_market_server::Config;
#[cfg(feature = "postgres")]
use zx1_server::testing::Cluster;

pub enum Database {
    File(PathBuf),
    #[cfg(feature = "postgres")]
    Postgres(Cluster, String),
}

#[cfg(feature = "postgres")]
const NAME: &str = "market";
#[cfg(feature = "postgres")]
const SAVED: &str = "saved";

impl Database {
    /// The configured one, or what the environment says.
    pub fn chosen(config: &mut Config) -> Database {
        #[cfg(feature = "postgres")]
        if config.db.is_empty() && std::env::var("ZX1_MARKET_DB").is_ok_and(|db| db == "postgres") {
            let cluster = Cluster::start();
            config.db = cluster.database(NAME);
            return Database::Postgres(cluster, config.db.clone());
        }
        Database::File(config.data.join("market.db"))
    }

    /// What `--db` takes.
    pub fn url(&self) -> String {
        match self {
            Database::File(path) => path.to_str().unwrap().to_owned(),
            #[cfg(feature = "postgres")]
            Database::Postgres(_, url) => url.clone(),
        }
    }

    /// Keeps a copy. No server may run.
    pub fn save(&self) {
        match self {
            Database::File(path) => copy(path.parent().unwrap(), &saved(path)),
            #[cfg(feature = "postgres")]
            Database::Postgres(cluster, _) => cluster.copy(NAME, SAVED),
        }
    }

    /// It is gone. No server may run.
    pub fn lose(&self) {
        match self {
            Database::File(path) => {
                files(path.parent().unwrap()).iter().for_each(|file| std::fs::remove_file(file).unwrap());
            }
            #[cfg(feature = "postgres")]
            Database::Postgres(cluster, _) => {
                cluster.remove(NAME);
                let _ = cluster.database(NAME);
            }
        }
    }

    /// Puts the copy in its place. No server may run.
    pub fn restore(&self) {
        match self {
            Database::File(path) => {
                self.lose();
                copy(&saved(path), path.parent().unwrap());
            }
            #[cfg(feature = "postgres")]
            Database::Postgres(cluster, _) => {
                cluster.remove(NAME);
                cluster.copy(SAVED, NAME);
            }
        }
    }
}

fn saved(path: &Path) -> PathBuf {
    path.parent().unwrap().join("saved")
}

/// The file of the database and those beside it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let all = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    all.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("market.db")).collect()
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for path in files(from) {
        std::fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
    }
}
