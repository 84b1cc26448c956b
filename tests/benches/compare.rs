//! The gateway beside a proxy that only copies bytes, in turn: processor time of a request, requests per second, latency.
//!
//! `cargo build --release --workspace --bins && cargo bench -p mcpr-tests --bench compare`, on Linux; `-- --rounds N` for
//! another number than five, `-- --quick` to see that it works. The two have the same server, the same clients
//! and the same machine; only what is compared within one round means anything.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod compare {
    pub(super) mod byte_proxy;
    pub(super) mod load;
    pub(super) mod upstream;
}

use std::process::{Child, Command};
use std::time::Duration;

use mcpr_tests::{Brood, Program, cpu_time, gateway};
use serde_json::json;

use self::compare::load::{Load, Seen};
use self::compare::{byte_proxy, upstream};

/// What is asked for, and by how many clients at once.
const CASES: [(&str, &str, usize); 6] = [
    ("tools/call, 100 B, 1 client", "echo", 1),
    ("tools/call, 100 B, 16 clients", "echo", 16),
    ("tools/call, 100 B, 64 clients", "echo", 64),
    ("tools/call, 100 KiB, 16 clients", "large", 16),
    ("tools/call, 1 MiB, 4 clients", "huge", 4),
    ("tools/list, 16 clients", "", 16),
];

/// What one side did in one round.
#[derive(Clone, Copy)]
struct Figures {
    micros: f64,
    rate: f64,
    middle: Duration,
    late: Duration,
}

/// Who answers.
struct Side {
    port: u16,
    pid: u32,
    token: String,
}

struct Proxy(Child);

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [word, listen, upstream] = &words[..]
        && word == "byte-proxy"
    {
        return byte_proxy::run(listen.parse().expect("a port"), upstream.parse().expect("a port"));
    }
    let quick = words.iter().any(|word| word == "--quick");
    let at = words.iter().position(|word| word == "--rounds");
    let rounds = at.and_then(|at| words.get(at + 1)?.parse().ok());
    let rounds = if quick { 1 } else { rounds.unwrap_or(5) };
    let time = Duration::from_millis(if quick { 100 } else { 1500 });
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("a runtime").block_on(compare_all(rounds, time));
}

async fn compare_all(rounds: usize, time: Duration) {
    let server = upstream::start();
    let gateway = gateway()
        .own("naming", json!({ "prefix": "never" }))
        .server(
            "server",
            json!({ "type": "http", "url": format!("http://127.0.0.1:{server}/mcp") }),
        )
        .program(&Brood::new())
        .await;
    gateway.run().await;
    let proxy = Proxy::start(server);
    let sides = [proxy.side(server), side_of(&gateway)];
    println!("| | byte proxy CPU | mcpr CPU | ratio (min … max) | req/s, ratio | p50, p99 added |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: |");
    for (name, tool, clients) in CASES {
        let mut pairs = Vec::new();
        for _ in 0..rounds {
            pairs.push([
                measure(&sides[0], tool, clients, time).await,
                measure(&sides[1], tool, clients, time).await,
            ]);
        }
        println!("| {name} {}", row(&pairs));
    }
    let peak = gateway.footprint();
    println!("\nthe gateway at the end: {peak:?}");
}

async fn measure(side: &Side, tool: &str, clients: usize, time: Duration) -> Figures {
    let load = Load::open(side.port, &side.token, tool, clients).await;
    let before = cpu_time(side.pid);
    let Seen { mut delays, taken } = load.run(time).await;
    let used = cpu_time(side.pid) - before;
    delays.sort_unstable();
    let count = delays.len();
    Figures {
        micros: used.as_secs_f64() * 1e6 / count as f64,
        rate: count as f64 / taken.as_secs_f64(),
        middle: delays[count / 2],
        late: delays[count * 99 / 100],
    }
}

fn row(pairs: &[[Figures; 2]]) -> String {
    let middle = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        (values[values.len() / 2], values[0], values[values.len() - 1])
    };
    let of = |side: usize| middle(pairs.iter().map(|pair| pair[side].micros).collect()).0;
    let (ratio, least, most) = middle(pairs.iter().map(|[a, b]| b.micros / a.micros).collect());
    let rate = middle(pairs.iter().map(|[a, b]| b.rate / a.rate).collect()).0;
    let added = |delay: fn(&Figures) -> Duration| {
        let micros = |figures| delay(figures).as_secs_f64() * 1e6;
        middle(pairs.iter().map(|[a, b]| micros(b) - micros(a)).collect()).0
    };
    format!(
        "| {:.1} µs | {:.1} µs | {ratio:.2} ({least:.2} … {most:.2}) | {rate:.2} | {:.0}, {:.0} µs |",
        of(0),
        of(1),
        added(|figures| figures.middle),
        added(|figures| figures.late),
    )
}

fn side_of(gateway: &Program) -> Side {
    Side {
        port: gateway.port,
        pid: gateway.pid(),
        token: gateway.token.clone(),
    }
}

impl Proxy {
    fn start(server: u16) -> Self {
        let own = std::env::current_exe().expect("the path of this program");
        let port = Self::port(server).to_string();
        let child = Command::new(own)
            .args(["byte-proxy", &port, &server.to_string()])
            .spawn();
        Self(child.expect("the byte proxy starts"))
    }

    /// Where it listens: some way from the server.
    fn port(server: u16) -> u16 {
        if server > 40_000 {
            server - 20_000
        } else {
            server + 20_000
        }
    }

    fn side(&self, server: u16) -> Side {
        Side {
            port: Self::port(server),
            pid: self.0.id(),
            token: String::new(),
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // It has nothing to lose.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
