//! A server built on the SDK's crate for HTTP and WebSocket, for the end-to-end tests: it starts the command for each
//! connection and moves messages between the two.
//!
//! `sdk_server [--http2] [--tls CERTIFICATE KEY] COMMAND…` listens at a port of the system's choice, which it prints, until
//! its input ends. It shares no code with the client.

use agent_client_protocol::{Channel, TransportFrame};
use agent_client_protocol_http::AcpHttpServer;
use futures_core::Stream;
use hyper::server::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::service::TowerToHyperService;
use std::error::Error;
use std::io::{self, Read as _, Write as _};
use std::pin::Pin;
use std::process::Stdio;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;
use tokio::process::Command;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

trait Pipe: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Pipe for T {}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let is_http_2 = args.first().is_some_and(|arg| arg == "--http2");
    if is_http_2 {
        args.remove(0);
    }
    let mut tls = None;
    if args.first().is_some_and(|arg| arg == "--tls") && args.len() > 3 {
        tls = Some(acceptor(&args[1], &args[2], is_http_2)?);
        args.drain(..3);
    }
    if args.is_empty() {
        return Err("usage: sdk_server [--http2] [--tls CERTIFICATE KEY] COMMAND…".into());
    }
    let router = AcpHttpServer::new(move || agent(&args)).into_router();
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    writeln!(io::stdout(), "{}", listener.local_addr()?.port())?;
    io::stdout().flush()?;
    std::thread::spawn(|| {
        // End of input: nobody is left to serve.
        let _ = io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    loop {
        let (tcp, _) = listener.accept().await?;
        tcp.set_nodelay(true)?;
        let (service, tls) = (TowerToHyperService::new(router.clone()), tls.clone());
        tokio::spawn(async move {
            let stream: Box<dyn Pipe> = match tls {
                None => Box::new(tcp),
                Some(tls) => match tls.accept(tcp).await {
                    Ok(stream) => Box::new(stream),
                    // The client says why.
                    Err(_) => return,
                },
            };
            let io = TokioIo::new(stream);
            if is_http_2 {
                drop(http2::Builder::new(TokioExecutor::new()).serve_connection(io, service).await);
            } else {
                drop(http1::Builder::new().serve_connection(io, service).with_upgrades().await);
            }
        });
    }
}

fn acceptor(certificate: &str, key: &str, is_http_2: bool) -> Result<TlsAcceptor, Box<dyn Error>> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_file_iter(certificate)?.collect();
    let provider = Arc::new(rustls_graviola::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let mut config = config.with_no_client_auth().with_single_cert(chain?, PrivateKeyDer::from_pem_file(key)?)?;
    config.alpn_protocols = vec![if is_http_2 { b"h2".to_vec() } else { b"http/1.1".to_vec() }];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// The SDK's end of a channel whose other end is a fresh process.
fn agent(command: &[String]) -> Channel {
    let (ours, theirs) = Channel::duplex();
    let (mut from_client, to_client) = ours.into_parts();
    let child = Command::new(&command[0]).args(&command[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = child else { return theirs };
    let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else { return theirs };
    tokio::spawn(async move {
        let mut lines = BufReader::new(stdout).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            if to_client.unbounded_send(TransportFrame::parse_json(&line)).is_err() {
                return;
            }
        }
    });
    tokio::spawn(async move {
        while let Some(frame) = std::future::poll_fn(|cx| Pin::new(&mut from_client).poll_next(cx)).await {
            let Ok(line) = frame.to_json() else { continue };
            if stdin.write_all(format!("{line}\n").as_bytes()).await.is_err() {
                break;
            }
        }
        drop(stdin);
        // How it ends is of no use.
        let _ = child.wait().await;
    });
    theirs
}
