//! Servers for tests, over loopback at ports of the system's choice: both versions of HTTP with answers that come in pieces, and
//! bytes as they are given.

use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

/// The body of an answer: pieces that the test gives.
pub struct Pieces(pub mpsc::Receiver<Bytes>);

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(cx).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }
}

/// Answers all requests like this; gives its address.
pub async fn answer<A, F>(is_http_2: bool, answer: A) -> String
where
    A: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
    F: Future<Output = Response<Pieces>> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://127.0.0.1:{}/acp", listener.local_addr().unwrap().port());
    tokio::spawn(async move {
        while let Ok((tcp, _)) = listener.accept().await {
            let answer = answer.clone();
            let service = service_fn(move |request| {
                let answer = answer(request);
                async { Ok::<_, Infallible>(answer.await) }
            });
            tokio::spawn(async move {
                let io = TokioIo::new(tcp);
                if is_http_2 {
                    drop(http2::Builder::new(TokioExecutor::new()).serve_connection(io, service).await);
                } else {
                    drop(http1::Builder::new().serve_connection(io, service).await);
                }
            });
        }
    });
    address
}

/// Says these bytes on each connection, once something was asked, and closes it; gives its address.
pub async fn say(bytes: &[u8]) -> (String, AbortHandle) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://127.0.0.1:{}/acp", listener.local_addr().unwrap().port());
    let bytes = bytes.to_vec();
    let saying = tokio::spawn(async move {
        while let Ok((mut tcp, _)) = listener.accept().await {
            assert!(tcp.read(&mut [0; 4096]).await.unwrap() > 0);
            // Who has had enough closes the connection.
            let _ = tcp.write_all(&bytes).await;
        }
    });
    (address, saying.abort_handle())
}
