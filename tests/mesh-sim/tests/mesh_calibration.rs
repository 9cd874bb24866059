//! Real nodes beside simulated ones: deliveries only. Times depend on the machine; `mesh-sim calibrate` compares them.

use std::time::Duration;
use zx1_mesh_sim::calibrate::{Plan, calibrate};

#[tokio::test(flavor = "multi_thread")]
async fn a_few_real_nodes_deliver_what_the_simulation_says() {
    let plan =
        Plan { nodes: 12, messages: 5, pause: Duration::from_millis(50), delay_millis: (1, 5), seed: 1 };
    let calibration = calibrate(plan).await.unwrap();
    assert_eq!((calibration.real.delivered_ppm, calibration.simulated.delivered_ppm), (1_000_000, 1_000_000));
}
