//! JSON-RPC 2.0 over streams of bytes: frames, how they are told apart, our open requests, the trace of every line, and the tasks that
//! move bytes. Knows no ACP, no process and no model; all that a peer sends is bounded here before it is read.

pub mod duplex;
pub mod frame;
pub mod framing;
pub mod head;
pub mod json;
pub mod outbox;
pub mod peer;
pub mod pump;
pub mod route;
pub mod rpc_error;
pub mod stderr;
pub mod trace;

pub use frame::{Frame, Params, RawId};
pub use rpc_error::RpcError;
