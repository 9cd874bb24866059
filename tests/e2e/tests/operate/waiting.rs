//! An indexer that is there before its node.

use crate::Server;
use serde_json::{Value, json};
use zx1_e2e::{Localnet, wait_until};

fn get(server: &Server, path: &str) -> (u16, Value) {
    let (status, _, text) = server.get(path, None);
    (status, serde_json::from_str(&text).unwrap())
}

#[test]
fn an_indexer_without_its_node_says_that_it_is_not_ready_and_goes_on_when_the_node_is_there() {
    let mut net = Localnet::builder().start();
    net.stop();
    let mut server =
        Server::start("zx1-indexer", ["--port", "0", "--rpc", net.rpc_url(), "--ws", net.ws_url()]);
    let (status, ready) = get(&server, "/readyz");
    assert_eq!((status, &ready["ready"], &ready["node"]), (503, &false.into(), &false.into()), "{ready}");
    assert_eq!(ready["store"], true, "{ready}");
    // What it has it serves: nothing yet.
    let (status, agents) = get(&server, "/v1/agents");
    assert_eq!((status, agents["items"].as_array().map(Vec::len)), (200, Some(0)), "{agents}");
    assert_eq!(get(&server, "/v1/status").1["genesis"], "");

    net.restart();
    wait_until("the indexer is ready", || (get(&server, "/readyz").0 == 200).then_some(()));
    let (_, ready) = get(&server, "/readyz");
    assert_eq!((&ready["ready"], &ready["node"]), (&true.into(), &true.into()), "{ready}");
    let genesis = net.rpc("getGenesisHash", json!([])).unwrap();
    assert_eq!(get(&server, "/v1/status").1["genesis"], genesis);
    assert!(server.process.terminate().success());
}
