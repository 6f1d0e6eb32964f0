//! HTTP for `fetch_url` and MCP servers: one request, with a guard on addresses, deadlines and limits. Must not know
//! what is fetched. Each request has a runtime of its own, because tools run on blocking threads.

use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::{Method, Request, Response, Uri};
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::Name;
use hyper_util::rt::TokioExecutor;
use linkspan_client::confirm::Cancellation;
use tower_service::Service;

use super::answer::ToolFailure;

const CONNECT_TIME: Duration = Duration::from_secs(10);
const TICK: Duration = Duration::from_millis(50);

pub(crate) struct HttpRequest {
    pub(crate) method: Method,
    pub(crate) uri: Uri,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// Which addresses may be connected to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Those of the public network.
    Public,
    /// Any.
    Anywhere,
}

/// The head of the response; its body is still to be read.
pub(crate) async fn send(request: HttpRequest, reach: Reach) -> Result<Response<Incoming>, String> {
    let host = request.uri.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
    if host.is_empty() || !matches!(request.uri.scheme_str(), Some("http" | "https")) {
        return Err(format!("{} is not an address of the form https://host/path", request.uri));
    }
    // The connector resolves names, but not addresses.
    if let Ok(address) = host.parse::<IpAddr>() {
        reach.check(address, &host).map_err(|error| error.to_string())?;
    }
    let mut connector = HttpConnector::new_with_resolver(GuardedResolver { reach });
    connector.enforce_http(false);
    connector.set_connect_timeout(Some(CONNECT_TIME));
    let connector = HttpsConnectorBuilder::new()
        .with_webpki_roots()
        .https_or_http()
        .enable_http1()
        .wrap_connector(connector);
    let client: Client<_, Full<Bytes>> = Client::builder(TokioExecutor::new()).build(connector);
    let mut built = Request::builder().method(request.method).uri(&request.uri);
    for (name, value) in &request.headers {
        built = built.header(name, value);
    }
    let built = built.body(Full::new(request.body.into())).map_err(|error| error.to_string())?;
    client
        .request(built)
        .await
        .map_err(|error| format!("{}: {}", without_secrets(&request.uri), with_causes(&error)))
}

/// An address as it may be told: a user's name and a query may hold keys.
pub(crate) fn without_secrets(uri: &Uri) -> String {
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{}://{host}{}", uri.scheme_str().unwrap_or_default(), uri.path())
}

/// The first bytes of a body, and whether there is more.
pub(crate) async fn read_body(mut body: Incoming, limit: usize) -> Result<(Vec<u8>, bool), String> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| format!("the answer broke off: {}", with_causes(&error)))?;
        if let Some(data) = frame.data_ref() {
            bytes.extend_from_slice(data);
            if bytes.len() > limit {
                bytes.truncate(limit);
                return Ok((bytes, true));
            }
        }
    }
    Ok((bytes, false))
}

/// Waits for it on this thread, at most for `time`, and not after a cancellation.
pub(crate) fn wait_for<T>(
    time: Duration,
    cancelled: &Cancellation,
    work: impl Future<Output = Result<T, String>>,
) -> Result<T, ToolFailure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("no network: {error}"))?;
    runtime.block_on(async {
        let is_cancelled = async {
            while !cancelled.is_cancelled() {
                tokio::time::sleep(TICK).await;
            }
        };
        tokio::select! {
            done = tokio::time::timeout(time, work) => match done {
                Ok(done) => done.map_err(ToolFailure::Error),
                Err(_) => Err(ToolFailure::Error(format!("no answer within {} s", time.as_secs()))),
            },
            () = is_cancelled => Err(ToolFailure::cancelled()),
        }
    })
}

fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

impl Reach {
    fn check(self, address: IpAddr, name: &str) -> io::Result<()> {
        if self == Reach::Anywhere || is_public(address) {
            return Ok(());
        }
        Err(io::Error::other(format!(
            "{name} is an address of this machine or of a private network, which is not fetched; the user can allow it \
             with `allow_private = true` under [fetch]"
        )))
    }
}

#[derive(Clone)]
struct GuardedResolver {
    reach: Reach,
}

type Addresses = std::vec::IntoIter<SocketAddr>;

impl Service<Name> for GuardedResolver {
    type Response = Addresses;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Addresses>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// What is connected to is what was checked: the name is not resolved again.
    fn call(&mut self, name: Name) -> Self::Future {
        let reach = self.reach;
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let mut refused = None;
            let mut allowed = Vec::new();
            for address in found {
                match reach.check(address.ip(), name.as_str()) {
                    Ok(()) => allowed.push(address),
                    Err(error) => refused = Some(error),
                }
            }
            match (allowed.is_empty(), refused) {
                (true, Some(error)) => Err(error),
                (true, None) => Err(io::Error::other(format!("{} has no address", name.as_str()))),
                (false, _) => Ok(allowed.into_iter()),
            }
        })
    }
}

/// Whether an address belongs to the public network.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || address.is_multicast()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 198 && (18..20).contains(&b));
    !is_special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let embedded = |high: u16, low: u16| {
        let ([one, two], [three, four]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(one, two, three, four))
    };
    match (a, b) {
        // Mapped and compatible addresses of IPv4, `::` and `::1`.
        (0, 0) if [c, d, e] == [0, 0, 0] && (f == 0xffff || f == 0) => f == 0xffff && embedded(g, h),
        // Translated to IPv4, well-known and local.
        (0x64, 0xff9b) => [c, d, e, f] == [0, 0, 0, 0] && embedded(g, h),
        (0x2002, _) => embedded(b, c),
        (0x2001, 0 | 0xdb8) => false,
        // What is handed out to networks.
        _ => (0x2000..0x4000).contains(&a),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_addresses_are_public() {
        for address in [
            "127.0.0.1",
            "127.9.9.9",
            "0.0.0.0",
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "192.0.0.1",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "fe80::1",
            "fc00::1",
            "fd12::1",
            "fec0::1",
            "ff02::1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2001:db8::1",
            "2001::1",
            "1::1",
        ] {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
        for address in [
            "1.1.1.1",
            "172.32.0.1",
            "93.184.216.34",
            "2606:4700::1111",
            "::ffff:1.1.1.1",
            "64:ff9b::101:101",
        ] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }
}
