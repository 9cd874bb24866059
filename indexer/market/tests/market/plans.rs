//! Statements that run at every poll of somebody are served by an index, whatever the tables hold.

use sqlx::Row as _;
use zx1_market_server::store::{POLLED, open};

#[tokio::test]
async fn sqlite_searches_an_index_and_neither_scans_nor_sorts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("market.db");
    open(path.to_str().unwrap()).await.unwrap().close().await;
    let pool = sqlx::SqlitePool::connect(path.to_str().unwrap()).await.unwrap();
    for (sql, column) in POLLED {
        let rows = sqlx::query(sqlx::AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}")))
            .fetch_all(&pool)
            .await
            .unwrap();
        let plan: Vec<String> = rows.iter().map(|row| row.get("detail")).collect();
        let searched = plan.iter().any(|step| step.starts_with("SEARCH") && step.contains(column));
        let else_done = plan.iter().any(|step| step.starts_with("SCAN") || step.contains("TEMP B-TREE"));
        assert!(searched && !else_done, "{sql}: {plan:?}");
    }
}

#[cfg(feature = "postgres")]
#[tokio::test]
async fn postgres_searches_an_index_and_neither_scans_nor_sorts() {
    let cluster = zx1_server::testing::Cluster::start();
    let url = cluster.database("plans");
    open(&url).await.unwrap().close().await;
    let pool = sqlx::PgPool::connect(&url).await.unwrap();
    let mut connection = pool.acquire().await.unwrap();
    // A table without rows is read whole unless that is ruled out; then an index serves a statement if it can.
    for switch in ["enable_seqscan", "enable_bitmapscan"] {
        sqlx::query(sqlx::AssertSqlSafe(format!("SET {switch} = off")))
            .execute(&mut *connection)
            .await
            .unwrap();
    }
    for (sql, column) in POLLED {
        // Numbers are written as texts, which an untyped literal of either type may be.
        let filled = (1..=4).fold(sql.to_owned(), |sql, n| sql.replace(&format!("${n}"), "'5'"));
        let rows = sqlx::query(sqlx::AssertSqlSafe(format!("EXPLAIN {filled}")))
            .fetch_all(&mut *connection)
            .await
            .unwrap();
        let plan: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        let plan = plan.join("\n");
        let searched = plan.lines().any(|line| line.contains("Index Cond") && line.contains(column));
        assert!(searched && !plan.contains("Seq Scan") && !plan.contains("Sort"), "{filled}: {plan}");
    }
}
