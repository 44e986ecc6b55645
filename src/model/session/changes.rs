//! The agent's changes in a session, in numbers, as the review has told them.
//!
//! Data only, changed by `reduce::review`.

use crate::model::changes::{FileTotals, Totals};
use crate::model::effort::Tally;
use crate::model::ids::EntryId;
use std::collections::{BTreeMap, BTreeSet};

/// The agent's changes in this session, in numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// The disk is looked at before and after each turn.
    pub is_on: bool,
    /// Why it is not looked at any more.
    pub(in crate::model) off: Option<String>,
    /// It will be once there is room on the disk.
    pub(in crate::model) waits: bool,
    /// Of the whole session, against the last accepted state.
    pub totals: Totals,
    /// The files of the newest turns that have changed something, a few.
    pub newest: Vec<FileTotals>,
    /// Hunks of earlier runs that nobody has decided.
    pub left_before: u64,
    /// Something appeared that did not come through the client: it can be reviewed only afterwards.
    pub after: bool,
    /// Turns that changed something.
    pub turns: BTreeMap<u64, Totals>,
    /// Turns whose prompt went out before the snapshot was finished.
    pub uncovered_turns: BTreeSet<u64>,
    /// What has become of the session's directory, where it was gone or another one at the end of a turn.
    pub displaced: Option<String>,
    /// Turns that have ended and are still being looked at.
    pub(in crate::model) ending: BTreeSet<u64>,
    /// What was done in the newest turn.
    pub(in crate::model) tally: Tally,
    /// What the transcript says of turns.
    pub(in crate::model) entries: Vec<EntryId>,
}
