//! Runs scenarios of the mesh's simulation.

use clap::{Parser, Subcommand};
use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use zx1_mesh_sim::calibrate::{Plan, calibrate};
use zx1_mesh_sim::report::calibration_markdown;
use zx1_mesh_sim::scenario::{SCENARIOS, Scenario, Size, find};

/// Between these lines of a document the results stand.
const BEGIN: &str = "<!-- results -->";
const END: &str = "<!-- end of results -->";

/// The mesh's own rules under thousands of agents and attackers
#[derive(Debug, Parser)]
#[command(name = "mesh-sim")]
struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the scenarios
    List,
    /// Run one scenario
    Run {
        /// Name of the scenario
        scenario: String,
        /// Number of honest agents; the scenario's own by default
        #[arg(long)]
        agents: Option<u32>,
        /// Simulated seconds of traffic; the scenario's own by default
        #[arg(long)]
        seconds: Option<u32>,
        /// Seed from which everything random follows
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Print the results as JSON
        #[arg(long)]
        json: bool,
    },
    /// Run real nodes over the memory transport, and the same network simulated
    Calibrate(Calibrate),
    /// Run all scenarios and a calibration, and write what they measured
    All {
        /// Markdown file; where it has a part for results, that part is replaced
        #[arg(long)]
        write: PathBuf,
        /// Seed from which everything random follows
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Leave out the calibration, which needs a quiet machine
        #[arg(long)]
        no_calibration: bool,
    },
}

#[derive(Clone, Copy, Debug, clap::Args)]
struct Calibrate {
    /// Number of real nodes
    #[arg(long, default_value_t = 200)]
    nodes: u32,
    /// Number of messages
    #[arg(long, default_value_t = 60)]
    messages: u32,
    /// Milliseconds between two messages
    #[arg(long, default_value_t = 1_000)]
    pause: u64,
    /// Shortest delay of a node's verdict, in milliseconds
    #[arg(long, default_value_t = 100)]
    shortest: u32,
    /// Longest delay of a node's verdict, in milliseconds
    #[arg(long, default_value_t = 400)]
    longest: u32,
    /// Seed from which connections, delays and authors follow
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl Calibrate {
    fn plan(self) -> Plan {
        Plan {
            nodes: self.nodes.max(2),
            messages: self.messages,
            pause: Duration::from_millis(self.pause.max(1)),
            delay_millis: (self.shortest, self.longest.max(self.shortest)),
            seed: self.seed,
        }
    }
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let holds = match Arguments::parse().action {
        Action::List => {
            for it in SCENARIOS {
                println!("{:<22} {} agents, {} s", it.name, it.usual.0, it.usual.1);
            }
            true
        }
        Action::Run { scenario, agents, seconds, seed, json } => {
            let it = find(&scenario).ok_or(format!("unknown scenario: `{scenario}`"))?;
            let size = it.usual_size(seed);
            let size = Size {
                agents: agents.unwrap_or(size.agents),
                seconds: seconds.unwrap_or(size.seconds),
                ..size
            };
            run(it, size, json)?
        }
        Action::Calibrate(how) => {
            let runtime = tokio::runtime::Runtime::new()?;
            let calibration = runtime.block_on(calibrate(how.plan()))?;
            print!("{}", calibration_markdown(&calibration));
            calibration.is_delivery_close() && calibration.is_latency_close()
        }
        Action::All { write, seed, no_calibration } => all(&write, seed, !no_calibration)?,
    };
    Ok(if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn run(scenario: &Scenario, size: Size, json: bool) -> Result<bool, Box<dyn Error>> {
    let begun = Instant::now();
    let report = scenario.run(size)?;
    let text = if json { serde_json::to_string_pretty(&report)? } else { report.to_markdown(scenario.about) };
    println!("{text}");
    eprintln!("{}: {:.1} s", scenario.name, begun.elapsed().as_secs_f64());
    Ok(report.holds())
}

/// Everything, with the time that each part took.
fn all(path: &Path, seed: u64, with_calibration: bool) -> Result<bool, Box<dyn Error>> {
    let (mut text, mut holds) = (String::new(), true);
    for scenario in SCENARIOS {
        let begun = Instant::now();
        let report = scenario.run(scenario.usual_size(seed))?;
        let took = begun.elapsed().as_secs_f64();
        eprintln!(
            "{}: {took:.1} s, {}",
            scenario.name,
            if report.holds() { "holds" } else { "does not hold" }
        );
        holds &= report.holds();
        let _ = write!(text, "{}\nIt took {took:.0} s on one core.\n\n", report.to_markdown(scenario.about));
    }
    if with_calibration {
        let how = Calibrate { nodes: 200, messages: 60, pause: 1_000, shortest: 100, longest: 400, seed };
        let calibration = tokio::runtime::Runtime::new()?.block_on(calibrate(how.plan()))?;
        let _ = write!(text, "### calibration\n\n{}\n", calibration_markdown(&calibration));
    }
    let before = std::fs::read_to_string(path).unwrap_or_else(|_| format!("{BEGIN}\n{END}\n"));
    let (head, rest) = before.split_once(BEGIN).ok_or(format!("{} has no line {BEGIN}", path.display()))?;
    let (_, tail) = rest.split_once(END).ok_or(format!("{} has no line {END}", path.display()))?;
    std::fs::write(path, format!("{head}{BEGIN}\n\n{text}{END}{tail}"))?;
    Ok(holds)
}
