//! Thousands of requests that are meant to harm, and honest clients beside them who notice nothing (SEC-05).

mod attack;

use std::time::Duration;

use futures_util::future::join_all;
use mcpr_tests::client::{Session, Stateless};
use mcpr_tests::fuzz::Dice;
use mcpr_tests::http::Request;
use mcpr_tests::{Brood, Client, Fake, Footprint, Program, extent, figure, gateway, is_long};
use serde_json::{Value, json};
use tokio::time::{Instant, interval, sleep, timeout};

use crate::{SLACK, text};
use attack::{Kind, Plan};

/// How many attackers there are at the same time, each with one attack after the other.
const ATTACKERS: usize = 32;

/// How long an honest client waits between two calls, as one does who thinks.
const THINKING: Duration = Duration::from_millis(400);

/// What an honest client takes for a gateway that hangs.
const HANGING: Duration = Duration::from_secs(5);

/// How much slower the slowest hundredth of the calls of honest clients may be beside an attack.
const SLOWER: u32 = 3;

/// A gateway with its clients, honest and otherwise.
struct World {
    _fake: Fake,
    gateway: Program,
    honest: Vec<Client>,
    plan: Plan,
}

impl World {
    async fn new(clients: usize) -> Self {
        let fake = Fake::script().tool("t").stdio();
        let share = clients + ATTACKERS;
        let connections = 4 * share;
        let limits = json!({
            "connections": connections,
            "requestBody": "1MiB",
            "perPrincipal": { "connections": share },
        });
        let builder = gateway().server("a", fake.entry()).own("limits", limits);
        let gateway = builder.program(&Brood::new()).await;
        gateway.run().await;
        let (one, attackers) = (token(&gateway).await, token(&gateway).await);
        let mut honest = Vec::new();
        for n in 0..clients {
            honest.push(client(&gateway, &one, n).await);
        }
        let plan = Plan {
            port: gateway.port,
            connections,
            token: attackers.clone(),
            session: Session::open(gateway.port, &attackers, "2025-11-25").await.id,
        };
        Self {
            _fake: fake,
            gateway,
            honest,
            plan,
        }
    }

    /// Has all honest clients call until then, and gives how long each call took.
    async fn calls(&self, until: Instant) -> Vec<Duration> {
        let all = self.honest.iter().zip(0_u64..);
        let took = all.map(async |(client, n)| {
            let mut took = Vec::new();
            // Not all in the same moment.
            sleep(THINKING.mul_f64(Dice::new(n).below(1000) as f64 / 1000.0)).await;
            while Instant::now() < until {
                let begun = Instant::now();
                let call = timeout(HANGING, client.call("a_t", r#"{"n":1}"#)).await;
                let answer = call.expect("an honest client is answered soon").message();
                assert_eq!(text(&answer), r#"{"n":1}"#);
                took.push(begun.elapsed());
                sleep(THINKING).await;
            }
            took
        });
        join_all(took).await.concat()
    }

    /// Sends so many attacks in this time, or as fast as can be, and gives how many of each kind were sent.
    async fn attacks(&self, count: usize, span: Duration) -> Vec<(Kind, usize)> {
        let _silent = self.plan.strangers().await;
        let each = count / ATTACKERS;
        let pause = span
            .checked_div(u32::try_from(each).expect("a small number"))
            .unwrap_or_default();
        let attackers = (0..ATTACKERS as u64).map(async |attacker| {
            let mut dice = Dice::new(attacker);
            let mut clock = (!pause.is_zero()).then(|| interval(pause));
            let mut done = Vec::new();
            for _ in 0..each {
                if let Some(clock) = &mut clock {
                    clock.tick().await;
                }
                done.extend(self.plan.attack(&mut dice).await);
            }
            done
        });
        let done = join_all(attackers).await.concat();
        Kind::ALL
            .map(|kind| (kind, done.iter().filter(|one| **one == kind).count()))
            .into()
    }
}

/// A token of its own.
async fn token(gateway: &Program) -> String {
    let made = gateway.operate("tokens/create", &json!({ "name": "t" })).await;
    made["secret"].as_str().expect("a secret").to_owned()
}

/// A client of one of the eras in turn.
async fn client(gateway: &Program, token: &str, n: usize) -> Client {
    let port = gateway.port;
    match n % 2 {
        0 => Client::Session(Session::open(port, token, "2025-11-25").await),
        _ => Client::Stateless(Stateless {
            port,
            token: token.to_owned(),
        }),
    }
}

/// How long all but the slowest hundredth took at most.
fn p99(mut took: Vec<Duration>) -> Duration {
    took.sort();
    took[(took.len() * 99 / 100).min(took.len() - 1)]
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_ten_thousand_hostile_requests_harm_nobody_else() {
    let world = World::new(extent(8, 50)).await;
    let (span, count) = extent((Duration::from_secs(3), 640), (Duration::from_secs(120), 10_016));
    // What buffers and the allocator keep for the largest requests is there after the first of them.
    world.attacks(count / 4, Duration::ZERO).await;
    let quiet = p99(world.calls(Instant::now() + span / 3).await);
    let before = world.gateway.footprint();

    let paced = if is_long() { span } else { Duration::ZERO };
    let (beside, attacks) = tokio::join!(world.calls(Instant::now() + span), world.attacks(count, paced));

    let alive = Request::new("GET", "/readyz").send(world.gateway.port).await;
    assert_eq!(alive.status(), 200, "{}", world.gateway.complaints());
    let after = before.is_kept_by(world.gateway.pid(), SLACK).await;
    let beside = p99(beside);
    // Each kind has about the same share.
    let few = count / Kind::ALL.len() / 2;
    assert!(attacks.iter().all(|(_, sent)| *sent > few), "{attacks:?}");
    figure("hostile requests", format_args!("{attacks:?}"));
    figure(
        "p99 of honest clients, quiet and beside them",
        format_args!("{quiet:?}, {beside:?}"),
    );
    figure(
        "memory before and after, in MiB",
        format_args!("{}, {}", mib(before), mib(after)),
    );
    assert!(
        !is_long() || beside <= quiet * SLOWER,
        "{beside:?} in place of {quiet:?}"
    );
    let calls: Value = world.honest[0].call("a_t", "{}").await.message();
    assert_eq!(text(&calls), "{}");
}

fn mib(footprint: Footprint) -> usize {
    footprint.memory >> 20
}
