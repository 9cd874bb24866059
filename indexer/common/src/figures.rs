//! Figures for Prometheus: what every server and every process counts, and their text.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;
use std::fmt;
use std::sync::atomic::AtomicI64;
use std::time::{SystemTime, UNIX_EPOCH};

/// Names and values that tell figures of one name apart.
pub type Labels = Vec<(&'static str, String)>;
/// A figure that rises and falls.
pub type Number = Gauge<i64, AtomicI64>;

/// Registers what every process has (`process_…`, as Prometheus' own libraries name it) and which version this is.
/// What a server registers in the registry that is returned begins with `prefix`.
pub fn of_server<'a>(root: &'a mut Registry, prefix: &str, version: &str) -> &'a mut Registry {
    root.register_collector(Box::new(Process::new()));
    let registry = root.sub_registry_with_prefix(prefix);
    registry.register("build", "The version that runs", Info::new(vec![("version", version.to_owned())]));
    registry
}

/// What every server counts of its requests, streams and connections. Clones share the figures.
#[derive(Debug, Clone)]
pub struct Figures {
    requests: Family<Labels, Counter>,
    /// How long requests take, in seconds; streams are left out.
    pub seconds: Histogram,
    /// Streams that are open.
    pub streams: Number,
    /// Streams that were dropped because their reader was slow.
    pub dropped: Counter,
    /// Connections that are open.
    pub connections: Number,
    /// Connections that may be open.
    pub connections_limit: Number,
    /// Connections that were closed because their reader took nothing.
    pub cut: Counter,
}

impl Figures {
    /// New ones, registered.
    pub fn new(registry: &mut Registry) -> Figures {
        let figures = Figures {
            requests: Family::default(),
            // From 0.2 ms to 6.6 s.
            seconds: Histogram::new(exponential_buckets(0.0002, 2.0, 16)),
            streams: Number::default(),
            dropped: Counter::default(),
            connections: Number::default(),
            connections_limit: Number::default(),
            cut: Counter::default(),
        };
        let Figures { requests, seconds, streams, dropped, connections, connections_limit, cut } =
            figures.clone();
        // There from the start, so that a rate has something to begin with.
        drop(requests.get_or_create(&vec![("status", "200".to_owned())]));
        registry.register("requests", "Requests by status", requests);
        registry.register("request_duration_seconds", "Time to answer, streams left out", seconds);
        registry.register("streams", "Open event streams", streams);
        registry.register("streams_dropped", "Streams dropped because the reader was slow", dropped);
        registry.register("connections", "Open connections", connections);
        registry.register("connections_limit", "Connections that may be open", connections_limit);
        registry.register("connections_cut", "Connections closed because the reader took nothing", cut);
        figures
    }

    /// A request was answered with this status.
    pub fn request(&self, status: u16) {
        self.requests.get_or_create(&vec![("status", status.to_string())]).inc();
    }
}

/// In which text figures are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// The text format of Prometheus, version 0.0.4.
    Prometheus,
    /// OpenMetrics, version 1.0.0.
    OpenMetrics,
}

impl Format {
    /// What `Accept` asks for: OpenMetrics where it names it, and nothing else is preferred.
    pub fn accepted(headers: &HeaderMap) -> Format {
        let (mut open, mut plain) = (0.0_f32, 0.0_f32);
        let lines = headers.get_all(header::ACCEPT).iter().filter_map(|line| line.to_str().ok());
        for range in lines.flat_map(|line| line.split(',')) {
            let mut parts = range.split(';').map(str::trim);
            let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
            let quality = parts.find_map(|part| part.strip_prefix("q=")?.parse().ok()).unwrap_or(1.0);
            match kind.as_str() {
                "application/openmetrics-text" => open = open.max(quality),
                "text/plain" => plain = plain.max(quality),
                _ => {}
            }
        }
        if open > 0.0 && open >= plain { Format::OpenMetrics } else { Format::Prometheus }
    }

    fn content_type(self) -> &'static str {
        match self {
            Format::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
            Format::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }
}

/// The figures as text.
pub fn text(registry: &Registry, format: Format) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = encode(&mut out, registry);
    match format {
        Format::Prometheus => plain(&out),
        Format::OpenMetrics => out,
    }
}

/// The figures as an answer, in the format that the request's headers ask for.
pub fn served(registry: &Registry, request: &HeaderMap) -> Response {
    let format = Format::accepted(request);
    let mut response = crate::answer::text(StatusCode::OK, format.content_type(), text(registry, format));
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept"));
    response
}

/// Figures in OpenMetrics, as the text format of Prometheus. There a counter's description names it with its
/// `_total`, and types and lines that only OpenMetrics knows are not there.
fn plain(figures: &str) -> String {
    let mut out = String::with_capacity(figures.len());
    let mut help = None;
    for line in figures.lines() {
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        match words[..] {
            ["#", "HELP", _, text] => help = Some(text),
            ["#", "TYPE", name, kind] => {
                let (end, kind) = match kind {
                    "counter" => ("_total", "counter"),
                    "info" => ("_info", "gauge"),
                    "unknown" => ("", "untyped"),
                    kind => ("", kind),
                };
                if let Some(help) = help.take() {
                    out.push_str(&format!("# HELP {name}{end} {help}\n"));
                }
                out.push_str(&format!("# TYPE {name}{end} {kind}\n"));
            }
            ["#", ..] => {}
            _ => {
                out.push_str(line);
                out.push('\n');
            }
        }
    }
    out
}

/// What the system says of this process, read when it is asked for.
#[derive(Debug)]
struct Process {
    /// When it was made, in Unix seconds.
    started: f64,
}

impl Process {
    fn new() -> Process {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Process { started: now.as_secs_f64() }
    }
}

/// Seconds of the processor that all threads have used.
fn cpu_seconds() -> f64 {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    used.tv_sec as f64 + used.tv_nsec as f64 / 1e9
}

/// Virtual and resident memory in bytes; none where the system does not say.
fn memory() -> Option<(u64, u64)> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    let page = rustix::param::page_size() as u64;
    let mut sizes = pages.split(' ').map_while(|size| size.parse::<u64>().ok()?.checked_mul(page));
    Some((sizes.next()?, sizes.next()?))
}

/// Number of open files; none where the system does not say.
fn open_files() -> Option<u64> {
    // One of them is the folder that is read.
    Some((std::fs::read_dir("/proc/self/fd").ok()?.count() as u64).saturating_sub(1))
}

/// Number of files that may be open.
pub(crate) fn open_files_limit() -> u64 {
    rustix::process::getrlimit(rustix::process::Resource::Nofile).current.unwrap_or(u64::MAX)
}

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), fmt::Error> {
        let mut one = |name: &str, help: &str, metric: &dyn EncodeMetric| {
            metric.encode(encoder.encode_descriptor(name, help, None, metric.metric_type())?)
        };
        let gauge = |value: u64| ConstGauge::new(value as f64);
        one("process_cpu_seconds", "Processor time used", &ConstCounter::new(cpu_seconds()))?;
        if let Some((whole, resident)) = memory() {
            one("process_virtual_memory_bytes", "Size of the address space", &gauge(whole))?;
            one("process_resident_memory_bytes", "Memory in use", &gauge(resident))?;
        }
        if let Some(files) = open_files() {
            one("process_open_fds", "Open file descriptors", &gauge(files))?;
        }
        one("process_max_fds", "File descriptors that may be open", &gauge(open_files_limit()))?;
        let started = "When the process started, in Unix seconds";
        one("process_start_time_seconds", started, &ConstGauge::new(self.started))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn registry() -> Registry {
        let mut root = Registry::default();
        let figures = Figures::new(of_server(&mut root, "x", "1.2.3"));
        figures.request(200);
        figures.seconds.observe(0.5);
        root
    }

    #[test]
    fn the_text_of_prometheus_names_a_counter_as_its_samples_are_named() {
        let text = text(&registry(), Format::Prometheus);
        for line in [
            "# HELP x_requests_total Requests by status.",
            "# TYPE x_requests_total counter",
            "x_requests_total{status=\"200\"} 1",
            "# TYPE x_build_info gauge",
            "x_build_info{version=\"1.2.3\"} 1",
            "# TYPE x_request_duration_seconds histogram",
            "x_request_duration_seconds_count 1",
            "# TYPE process_cpu_seconds_total counter",
            "# TYPE process_resident_memory_bytes gauge",
        ] {
            assert!(text.lines().any(|it| it == line), "{line}: {text}");
        }
        assert!(!text.contains("# EOF") && !text.contains("# UNIT"), "{text}");
    }

    #[test]
    fn openmetrics_stays_as_it_is_written() {
        let text = text(&registry(), Format::OpenMetrics);
        assert!(text.contains("# TYPE x_requests counter\n") && text.ends_with("# EOF\n"), "{text}");
    }

    #[test]
    fn openmetrics_is_served_to_whoever_prefers_it_and_to_nobody_else() {
        let asked = |lines: &[&str]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(header::ACCEPT, HeaderValue::from_str(line).unwrap());
            }
            Format::accepted(&headers)
        };
        let prometheus =
            "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2";
        for lines in [
            &[prometheus][..],
            &["application/openmetrics-text"],
            &["application/openmetrics-text; version=1.0.0, */*"],
            &["text/plain; q=0.3", "Application/OpenMetrics-Text; q=0.3"],
        ] {
            assert_eq!(asked(lines), Format::OpenMetrics, "{lines:?}");
        }
        for lines in [
            &[][..],
            &["*/*"],
            &["text/plain"],
            &["text/html, */*;q=0.8"],
            &["application/openmetrics-text;q=0"],
            &["application/openmetrics-text;q=0.3, text/plain"],
        ] {
            assert_eq!(asked(lines), Format::Prometheus, "{lines:?}");
        }
    }

    #[test]
    fn the_process_is_seen_as_it_is() {
        let (whole, resident) = memory().unwrap();
        assert!(whole >= resident && resident > 100_000, "{whole} {resident}");
        let before = open_files().unwrap();
        let _open = std::fs::File::open("/proc/self/stat").unwrap();
        assert!(open_files().unwrap() > before.saturating_sub(1));
        assert!(open_files_limit() >= before && cpu_seconds() > 0.0);
    }
}
