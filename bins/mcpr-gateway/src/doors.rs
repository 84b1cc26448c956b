//! The addresses, taken before anything is started.

use mcpr_config::{GatewayOptions, Paths};
use mcpr_core::front::http::{BindError, Bound, Door, Options, Tls, options};

use crate::claim::Claim;
use crate::manager::Passed;
use crate::problem::Problem;

/// The addresses of a gateway.
#[derive(Debug)]
pub(crate) struct Doors {
    /// Where clients come in; at least one.
    pub(crate) network: Vec<Bound>,
    /// Where the operator comes in, or why there is no such door.
    pub(crate) control: Result<Bound, BindError>,
    /// Whom the network's door lets in.
    pub(crate) door: Door,
    /// Whom the operator's door lets in.
    pub(crate) operators: Door,
    /// How the operator's door behaves; the network's may speak TLS on top.
    pub(crate) options: Options,
    /// The certificate of the network's door.
    pub(crate) tls: Option<Tls>,
    /// The right to the home.
    pub(crate) claim: Claim,
}

impl Doors {
    /// Takes them. Without a control socket a gateway works too, but not beside another one of the
    /// same user: the two would share a database, and nobody could tell which one answers.
    pub(crate) fn take(
        gateway: &GatewayOptions,
        network: Vec<Bound>,
        paths: &Paths,
        door: Door,
    ) -> Result<Self, Problem> {
        let tls = gateway
            .tls
            .as_ref()
            .map(|files| Tls::load(&files.cert, &files.key));
        let tls = tls.transpose()?;
        // Whoever has the home may clear its socket away, so that is found out first.
        let claim = Claim::of(&paths.database)?;
        let control = match Bound::unix(&paths.socket) {
            Err(error @ BindError::SocketInUse { .. }) => return Err(error.into()),
            control => control,
        };
        Ok(Self {
            network,
            control,
            door,
            operators: if gateway.control.token {
                Door::Guarded
            } else {
                Door::Control
            },
            options: options(gateway),
            tls,
            claim,
        })
    }

    /// The URLs of the endpoint; the first is the one to tell people.
    pub(crate) fn urls(&self) -> Vec<String> {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        let addresses = self.network.iter().filter_map(Bound::local_addr);
        addresses
            .map(|address| format!("{scheme}://{address}/mcp"))
            .collect()
    }

    /// The URL to tell people.
    pub(crate) fn url(&self) -> String {
        self.urls().into_iter().next().unwrap_or_default()
    }
}

/// The addresses for clients: those that the service manager passes, else the configured one.
pub(crate) fn network(gateway: &GatewayOptions, passed: Vec<Passed>) -> Result<Vec<Bound>, Problem> {
    if passed.is_empty() {
        return Ok(vec![Bound::tcp(gateway.listen)?]);
    }
    let bound = passed
        .into_iter()
        .map(|Passed { name, socket }| Bound::passed(&name, socket));
    Ok(bound.collect::<Result<_, _>>()?)
}
