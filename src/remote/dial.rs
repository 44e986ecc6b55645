//! A connection to a host, encrypted unless it is this machine.

use super::saying::reason;
use super::tls;
use super::web::Web;
use socket2::{SockRef, TcpKeepalive};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// How long it may take until a connection stands.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);
/// How long nothing may go over a connection before the system asks whether the other end is there (S-091).
const SILENCE: Duration = Duration::from_secs(30);

pub(super) trait Pipe: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Pipe for T {}

pub(super) struct Dialled {
    pub stream: Box<dyn Pipe>,
    /// Which of the protocols that were offered the server has chosen.
    pub protocol: Option<Vec<u8>>,
}

/// Connects within a time; offers these protocols where the connection is encrypted.
pub(super) async fn dial(web: &Web, protocols: &[&[u8]]) -> Result<Dialled, String> {
    let dialled = timeout(PATIENCE, open(web, protocols)).await;
    dialled.unwrap_or_else(|_| Err(format!("no answer within {} s", PATIENCE.as_secs())))
}

async fn open(web: &Web, protocols: &[&[u8]]) -> Result<Dialled, String> {
    let tcp = TcpStream::connect((web.host.as_str(), web.port)).await.map_err(|error| reason(&error))?;
    // Messages are short and waited for; where it cannot be said they are sent all the same.
    let _ = tcp.set_nodelay(true);
    let _ = SockRef::from(&tcp).set_tcp_keepalive(&TcpKeepalive::new().with_time(SILENCE));
    if !web.is_secure {
        return Ok(Dialled { stream: Box::new(tcp), protocol: None });
    }
    let stream = tls::over(tcp, &web.host, protocols).await?;
    let protocol = stream.get_ref().1.alpn_protocol().map(<[u8]>::to_vec);
    Ok(Dialled { stream: Box::new(stream), protocol })
}
