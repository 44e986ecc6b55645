//! Addresses of the web as patterns see them.
//!
//! Invariant: what could be read in two ways is matched by no pattern that allows.

use crate::rules::pattern::{Spec, is_host};

/// An address of the web.
#[derive(Debug, Default)]
pub(super) struct Address {
    host: String,
    /// From the `/` after the host on.
    path: String,
    /// `https`, its default port, no name before the host, and nothing that could be read in two ways.
    is_plain: bool,
    /// Everybody reads the same host in it.
    is_sure: bool,
}

impl Address {
    pub(super) fn read(text: &str) -> Self {
        let text = text.trim();
        let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
        let rest = rest.trim_start_matches(['/', '\\']);
        let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let (user, place) = authority.rsplit_once('@').map_or((None, authority), |(user, place)| (Some(user), place));
        let (host, port) = place.rsplit_once(':').map_or((place, None), |(host, port)| (host, Some(port)));
        let host = host.to_ascii_lowercase();
        let is_odd = text.contains(|c: char| c == '\\' || c.is_whitespace() || c.is_control());
        let is_number = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit()) && !port.is_empty();
        let is_literal =
            place.starts_with('[') && place.bytes().all(|byte| byte.is_ascii_hexdigit() || b"[]:.".contains(&byte));
        // Machines of one's own network are called otherwise, too.
        let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let is_label = |label: &str| !label.is_empty() && label.bytes().all(is_of_name);
        let mut labels = host.strip_suffix('.').unwrap_or(&host).split('.');
        let is_name = labels.all(is_label) && port.is_none_or(is_number);
        let lower = path.to_ascii_lowercase();
        let is_plain = scheme.eq_ignore_ascii_case("https")
            && text.get(..8).is_some_and(|start| start.eq_ignore_ascii_case("https://"))
            && !text.get(8..).is_some_and(|rest| rest.starts_with(['/', '\\']))
            && user.is_none()
            && port.is_none_or(|port| port == "443")
            && is_host(&host)
            && !is_odd
            && !lower.contains("..")
            && !lower.contains("%2e")
            && !lower.contains("%2f")
            && !lower.contains("%5c");
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        Self { host, path, is_plain, is_sure: !is_odd && (is_name || is_literal) }
    }

    /// Whether a pattern with its host, or with all of it, can allow it.
    pub(super) const fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Whether a pattern with a host may be for it although it does not match: who fetches it may read another one.
    pub(super) fn may_match(&self, spec: &Spec) -> bool {
        !self.is_sure && matches!(spec, Spec::Domain { .. } | Spec::Url(_))
    }

    pub(super) fn matches(&self, spec: &Spec) -> bool {
        match spec {
            Spec::Any => true,
            Spec::Url(glob) => self.is_plain && glob.matches(&format!("{}{}", self.host, self.path)),
            spec => self.is_plain && Self::is_at(&self.host, spec),
        }
    }

    /// By any scheme, port and name before the host.
    pub(super) fn matches_wide(&self, spec: &Spec) -> bool {
        match spec {
            Spec::Any => true,
            Spec::Url(glob) => glob.matches(&format!("{}{}", self.host, self.path)),
            spec => Self::is_at(self.host.trim_end_matches('.'), spec),
        }
    }

    /// Whether a pattern is for something of its host, whatever the path.
    pub(super) fn is_at_host_of(&self, spec: &Spec) -> bool {
        match spec {
            Spec::Any => true,
            Spec::Url(glob) => glob.text().split('/').next() == Some(self.host.trim_end_matches('.')),
            spec => Self::is_at(self.host.trim_end_matches('.'), spec),
        }
    }

    /// Whether programs may take its host for another one than is written there.
    pub(super) fn may_be_another(&self) -> bool {
        self.host.contains('%') || !self.host.is_ascii()
    }

    fn is_at(host: &str, spec: &Spec) -> bool {
        match spec {
            Spec::Domain { host: named, is_below: false } => host == named,
            Spec::Domain { host: named, is_below: true } => {
                host.strip_suffix(named.as_str()).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
            }
            _ => false,
        }
    }
}
