//! What may be spent, as it is written: `5 USD/day`, `2 USD/session`, or both with a comma between them.

/// Bytes of a unit.
const MAX_UNIT: usize = 20;

/// An amount and its unit.
#[derive(Clone, PartialEq, Debug)]
pub struct Amount(pub f64, pub String);

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Budget {
    pub day: Option<Amount>,
    pub session: Option<Amount>,
}

/// Nothing where it is no budget, or says a limit twice.
pub fn parse(text: &str) -> Option<Budget> {
    let mut budget = Budget::default();
    for limit in text.split(',') {
        let (amount, per) = limit.trim().rsplit_once('/')?;
        let place = match per.trim() {
            "day" => &mut budget.day,
            "session" => &mut budget.session,
            _ => return None,
        };
        if place.replace(self::amount(amount)?).is_some() {
            return None;
        }
    }
    Some(budget)
}

fn amount(text: &str) -> Option<Amount> {
    let (amount, unit) = text.trim().split_once(' ')?;
    let amount = amount.parse().ok().filter(|amount: &f64| amount.is_finite() && *amount > 0.0)?;
    let unit = unit.trim();
    let is_unit = !unit.is_empty() && unit.len() <= MAX_UNIT && unit.chars().all(char::is_alphanumeric);
    is_unit.then(|| Amount(amount, unit.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_a_unit_and_what_it_is_for() {
        let amount = |amount, unit: &str| Some(Amount(amount, unit.into()));
        let of_day = |amount| Some(Budget { day: amount, session: None });
        assert_eq!(parse("5 USD/day"), of_day(amount(5.0, "USD")));
        assert_eq!(parse(" 0.50  credits /day "), of_day(amount(0.5, "credits")));
        let both = Budget { day: amount(5.0, "USD"), session: amount(2.0, "EUR") };
        assert_eq!(parse("2 EUR/session, 5 USD/day"), Some(both));
        for bad in [
            "",
            "5",
            "5 USD",
            "5 USD/week",
            "-1 USD/day",
            "0 USD/day",
            "NaN USD/day",
            "inf USD/day",
            "5  /day",
            "USD/day",
            "5 USD/day,",
            "5 USD/day, 4 USD/day",
        ] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
