//! The verdict about a request of which only a text is known: an address, the tool of a server, or what else a tool is given.
//!
//! Invariants: what could be read in two ways is allowed by no rule that names something; a name with nothing in it is no name.

use super::address::Address;
use super::titles::{self, Titled};
use super::{Judge, Opinion};
use crate::rules::list::Among;
use crate::rules::pattern::{Match, Spec};
use crate::rules::tool::{Kind, is_of_server};
use crate::rules::{Doubt, shell};

impl<'a> Judge<'a, '_> {
    pub(super) fn text(&self, text: &str) -> Opinion<'a> {
        let tool = self.request.tool;
        let of_server = tool.of_server();
        let text = of_server.as_deref().unwrap_or(text);
        if shell::hides(text) {
            let any = self.narrowing().narrowed(tool, Among::Whole, |_| Match::Yes);
            return any.unwrap_or(Opinion::ask(Doubt::Deceptive));
        }
        match tool.kind {
            Kind::Fetch if !tool.is_web_search() => {
                let address = Address::read(text);
                let wide = |spec: &Spec| match address.matches_wide(spec) {
                    true => Match::Yes,
                    false if address.may_match(spec) => Match::Perhaps,
                    false => Match::No,
                };
                let opinion = self.by_rules(tool, wide, |spec| address.matches(spec));
                let is_special = text.contains("://") && !address.is_plain();
                if is_special && opinion.doubt == Some(Doubt::NoRule) { Opinion::ask(Doubt::Address) } else { opinion }
            }
            Kind::Other => {
                let titled = Titled::new(self.narrowing(), text);
                self.by_rules(tool, |spec| titled.is_against(spec), |spec| titles::allows(self.request, spec, text))
            }
            _ => {
                let wide = |spec: &Spec| if spec.is_for(text, true) { Match::Yes } else { Match::No };
                let is_whole = tool.kind != Kind::Mcp || is_of_server(text);
                self.by_rules(tool, wide, |spec| is_whole && spec.is_for(text, false))
            }
        }
    }
}
