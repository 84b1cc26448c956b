//! Progress of one request: the server's, relayed, and mcpr's own while the server is silent.

use std::time::Duration;

use mcpr_protocol::{Edit, Notification, Object, RawJson, Rope, key, notification};
use serde::Serialize;
use tokio::time::Instant;

/// How often a client that asked for progress hears something while the server is silent:
/// clients cut silent calls after five minutes (HTTP-06).
const PULSE: Duration = Duration::from_secs(30);

/// The progress of one request.
pub(crate) struct Progress {
    /// The client's token; without one there is no progress.
    token: Option<RawJson>,
    began: Instant,
    /// The last value sent; values must rise (2025-11-25, progress).
    last: Option<f64>,
    /// Notices of mcpr's own so far; `None` once the server has spoken for itself.
    pulses: Option<u32>,
}

/// The parameters of a notice of mcpr's own.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Notice<'a> {
    progress_token: &'a RawJson,
    progress: f64,
    message: String,
}

impl Progress {
    pub(crate) fn new(token: Option<RawJson>, began: Instant) -> Self {
        Self {
            token,
            began,
            last: None,
            pulses: Some(0),
        }
    }

    /// The server's notice under the client's token, if it is one about this request and rises.
    pub(crate) fn relay(&mut self, notification: &Notification, id: u64) -> Option<Rope> {
        let token = self.token.as_ref()?;
        if &*notification.method != notification::PROGRESS {
            return None;
        }
        let params = Object::read(notification.params.as_ref()?).ok()?;
        let told = params.get(key::PROGRESS_TOKEN)?;
        // Some servers give it back as a string.
        if told.to_text().as_deref().unwrap_or(told.as_str()) != id.to_string() {
            return None;
        }
        let value = params.get("progress")?.as_str().parse::<f64>().ok()?;
        self.pulses = None;
        if self.last.is_some_and(|last| value <= last) {
            return None;
        }
        self.last = Some(value);
        let params = Edit::new(&params)
            .set(key::PROGRESS_TOKEN, token.clone())
            .finish();
        Some(Notification::text(notification::PROGRESS, params))
    }

    /// When mcpr speaks itself if the server does not.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.token.as_ref()?;
        self.pulses.map(|pulses| self.began + PULSE * (pulses + 1))
    }

    /// A notice of mcpr's own, if it is time for one.
    pub(crate) fn synthetic(&mut self, now: Instant, server: &str) -> Option<Rope> {
        if now < self.due()? {
            return None;
        }
        let pulses = self.pulses? + 1;
        self.pulses = Some(pulses);
        let value = f64::from(pulses) * 1e-6; // Below whatever a server may begin with.
        self.last = Some(value);
        let waited = (now - self.began).as_secs();
        let text = format!("waiting for {server}, {waited} s");
        let notice = Notice {
            progress_token: self.token.as_ref()?,
            progress: value,
            message: text,
        };
        Some(Notification::text(
            notification::PROGRESS,
            RawJson::render(&notice).into(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notice(token: u64, progress: &str) -> Notification {
        let text = format!(r#"{{"progressToken":{token},"progress":{progress},"x":1E2}}"#);
        Notification::new(notification::PROGRESS, Some(RawJson::trusted(text)))
    }

    fn text(rope: Option<Rope>) -> Option<String> {
        rope.map(|rope| String::from_utf8(rope.into_bytes().to_vec()).unwrap())
    }

    #[tokio::test]
    async fn b17_the_client_gets_its_own_token_back_with_its_type() {
        let mut progress = Progress::new(Some(RawJson::from_static("\"7\"")), Instant::now());

        let relayed = text(progress.relay(&notice(12, "0.5"), 12)).unwrap();

        assert_eq!(
            relayed,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"7","progress":0.5,"x":1E2}}"#
        );
        assert!(progress.relay(&notice(13, "0.6"), 12).is_none(), "another call's");
        assert!(progress.relay(&notice(12, "0.5"), 12).is_none(), "not risen");
    }

    #[tokio::test]
    async fn b17_a_server_may_give_the_token_back_as_a_string() {
        let mut progress = Progress::new(Some(RawJson::from_static("7")), Instant::now());
        let params = RawJson::from_static(r#"{"progressToken":"12","progress":1}"#);
        let note = Notification::new(notification::PROGRESS, Some(params));
        assert!(progress.relay(&note, 13).is_none());
        let relayed = text(progress.relay(&note, 12)).unwrap();
        assert!(relayed.contains(r#""progressToken":7"#), "{relayed}");
    }

    #[tokio::test(start_paused = true)]
    async fn http_06_a_silent_server_is_spoken_for_until_it_speaks() {
        let mut progress = Progress::new(Some(RawJson::from_static("7")), Instant::now());
        assert!(progress.synthetic(Instant::now(), "git").is_none());

        tokio::time::advance(PULSE).await;
        let spoken = text(progress.synthetic(Instant::now(), "git")).unwrap();
        assert!(
            spoken.contains("waiting for git, 30 s") && spoken.contains("\"progressToken\":7"),
            "{spoken}"
        );
        assert!(progress.synthetic(Instant::now(), "git").is_none());

        assert!(progress.relay(&notice(1, "1"), 1).is_some());
        assert!(progress.due().is_none());
    }
}
