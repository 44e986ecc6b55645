//! What the host could not or would not do, as the model knows it.
//!
//! Knows no numbers of the protocol; those are the codec's. Invariant: the words are the host's own.

use crate::host::fs::FsError;
use crate::host::pty::SpawnError;
use crate::model::refusal::{Reason, Refusal, Subject};
use std::path::Path;

/// Why a file was not read or written.
pub(super) fn file(error: &FsError) -> Refusal {
    let about = |path: &Path| Subject::Path(path.to_string_lossy().into_owned());
    let (why, about) = match error {
        FsError::Relative(path) => (Reason::BadParams, about(path)),
        FsError::BadPath(_) => (Reason::BadParams, Subject::Nothing),
        FsError::Outside(path) => (Reason::Outside, about(path)),
        FsError::NotText(path) => (Reason::NotText, about(path)),
        FsError::IsDirectory(path) => (Reason::IsDirectory, about(path)),
        FsError::NotRegular { path, .. } | FsError::Private(path) | FsError::Replaced(path) => {
            (Reason::DeniedByPolicy, about(path))
        }
        FsError::NotWanted(path) | FsError::Ending(path) => (Reason::TurnOver, about(path)),
        FsError::Changed(path) | FsError::ChangedTwice { path, .. } => (Reason::Changed, about(path)),
        FsError::Exists(path) => (Reason::Exists, about(path)),
        FsError::TooLarge { path, .. } | FsError::TooFar { path, .. } => (Reason::TooLarge, about(path)),
        FsError::NotFound(path) => (Reason::NotFound, about(path)),
        FsError::Os { path, .. } | FsError::Left { path, .. } => (Reason::Failed, about(path)),
    };
    Refusal::new(why, error.to_string()).about(about)
}

/// Why a command was not started.
pub(super) fn start(error: &SpawnError) -> Refusal {
    let why = match error {
        SpawnError::Invalid(_) => Reason::BadParams,
        SpawnError::TooMany(_) => Reason::TooMany,
        _ => Reason::Failed,
    };
    Refusal::new(why, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::codec::Codec as _;
    use crate::agent::codec::v1::V1;
    use serde_json::{Value, json};

    #[test]
    fn r_346_r_347_what_the_host_says_gets_a_number_and_data() {
        let at = |path: &str| Path::new(path).to_owned();
        let path = |reason: &str| json!({ "reason": reason, "path": "/a" });
        for (error, code, data) in [
            (FsError::Relative(at("a")), -32602, json!({ "path": "a" })),
            (FsError::BadPath("empty"), -32602, Value::Null),
            (FsError::Outside(at("/a")), -32602, path("outside_workspace")),
            (FsError::Private(at("/a")), -32602, path("denied_by_policy")),
            (FsError::NotText(at("/a")), -32602, path("not_text")),
            (FsError::IsDirectory(at("/a")), -32602, path("is_directory")),
            (FsError::NotRegular { path: at("/a"), what: "a FIFO" }, -32602, path("denied_by_policy")),
            (FsError::TooLarge { path: at("/a"), limit: 1 }, -32602, path("too_large")),
            (FsError::TooFar { path: at("/a"), line: 2, limit: 1 }, -32602, path("too_large")),
            (FsError::NotWanted(at("/a")), -32603, path("turn_over")),
            (FsError::Ending(at("/a")), -32603, path("turn_over")),
            (FsError::Changed(at("/a")), -32603, path("changed")),
            (FsError::ChangedTwice { path: at("/a"), beside: at("/b") }, -32603, path("changed")),
            (FsError::Exists(at("/a")), -32602, path("exists")),
            (FsError::NotFound(at("/a ü")), -32002, json!({ "uri": "file:///a%20%C3%BC" })),
            (FsError::Os { path: at("/a"), source: std::io::Error::other("x") }, -32603, json!({ "path": "/a" })),
        ] {
            let sent = V1.refuse(&file(&error));
            assert_eq!((sent.code, sent.data.unwrap_or_default()), (code, data), "{error}");
            assert_eq!(sent.message, error.to_string());
        }
        assert_eq!(V1.refuse(&start(&SpawnError::Invalid("no".into()))).code, -32602);
        assert_eq!(V1.refuse(&start(&SpawnError::TooMany(256))).code, -32603);
    }
}
