//! fan-1000, chain-1000, layers-10x10 and a fan of 32 that block for 50 ms, in dagrs. One line each: name and number.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use dagrs::{Action, Content, DefaultNode, EnvVar, Graph, InChannels, Node, NodeId, NodeTable, OutChannels, Output};

/// Reads what it is given, blocks for a while, and passes something on.
struct Step {
    before: Vec<NodeId>,
    takes: Duration,
}

#[async_trait]
impl Action for Step {
    async fn run(&self, ins: &mut InChannels, outs: &mut OutChannels, _: Arc<EnvVar>) -> Output {
        for id in &self.before {
            ins.recv_from(id).await.expect("what it waits for gives something");
        }
        if !self.takes.is_zero() {
            std::thread::sleep(self.takes);
        }
        outs.broadcast(Content::new(true)).await;
        Output::empty()
    }
}

/// Layers of steps; each waits for the whole layer above it. Gives how long the run takes, without building.
fn run(runtime: &tokio::runtime::Runtime, layers: usize, width: usize, takes: Duration) -> Duration {
    let mut table = NodeTable::new();
    let mut graph = Graph::new();
    let mut above: Vec<NodeId> = Vec::new();
    for layer in 0..layers {
        let mut here = Vec::new();
        for i in 0..width {
            let step = Step { before: above.clone(), takes };
            let node = DefaultNode::with_action(format!("l{layer}s{i}"), step, &mut table);
            here.push(node.id());
            graph.add_node(node).expect("a node");
        }
        for from in &above {
            graph.add_edge(*from, here.clone()).expect("an edge");
        }
        above = here;
    }
    let start = Instant::now();
    runtime.block_on(graph.async_start()).expect("it runs");
    start.elapsed()
}

fn median(rounds: usize, mut run: impl FnMut() -> Duration) -> f64 {
    run();
    let mut seen: Vec<f64> = (0..rounds).map(|_| run().as_secs_f64()).collect();
    seen.sort_by(f64::total_cmp);
    seen[(rounds - 1) / 2]
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let slow = Duration::from_millis(50);
    println!("blocking-32 {:.4}", median(3, || run(&runtime, 1, 32, slow)) / slow.as_secs_f64());
    for (name, layers, width) in [("fan-1000", 1, 1_000), ("chain-1000", 1_000, 1), ("layers-10x10", 10, 10)] {
        let took = median(9, || run(&runtime, layers, width, Duration::ZERO));
        println!("{name} {:.4}", took * 1e6 / (layers * width) as f64);
    }
}
