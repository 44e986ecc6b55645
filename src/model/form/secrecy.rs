//! Whether a field sounds as if it asked for a secret.
//!
//! Looks at words only, never at what is typed. A name or a title is a *label*, in which short words count, too; a
//! description or a message is *prose*, in which only words that rarely mean something else do. In doubt it is a secret:
//! the person can look at what they type all the same.

/// Words of both labels and prose.
const WORDS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "passkey",
    "pwd",
    "secret",
    "token",
    "credential",
    "credentials",
    "creds",
    "apikey",
    "bearer",
    "mnemonic",
    "cvv",
    "cvc",
    "otp",
    "totp",
    "hotp",
    "mfa",
    "2fa",
    "jeton",
    "parola",
    "parolă",
    "senha",
    "sandi",
    "geheimnis",
    "geheimzahl",
    "secreto",
    "segredo",
    "segreto",
    "clave",
];
/// What such a word begins with, in languages that bend it.
const BEGINNINGS: &[&str] = &[
    "passwor",
    "kennwort",
    "zugangscode",
    "zugangsschlüssel",
    "contraseñ",
    "contrasen",
    "wachtwoord",
    "toegangscode",
    "lösenord",
    "losenord",
    "passord",
    "adgangskod",
    "kodeord",
    "salasan",
    "jelsz",
    "hasł",
    "heslo",
    "hesla",
    "lozink",
    "şifre",
    "sifre",
    "парол",
    "секрет",
    "токен",
    "κωδικ",
    "סיסמ",
];
/// Found anywhere, in scripts that set no blanks between words or whose signs are no letters.
const PIECES: &[&str] = &[
    "密码",
    "密碼",
    "密钥",
    "密鑰",
    "口令",
    "令牌",
    "验证码",
    "驗證碼",
    "パスワード",
    "暗証番号",
    "秘密鍵",
    "トークン",
    "合言葉",
    "비밀번호",
    "암호",
    "토큰",
    "รหัสผ่าน",
    "पासवर्ड",
    "كلمة المرور",
    "كلمة السر",
    "رمز عبور",
    "گذرواژه",
];
/// Words in a row.
const PHRASES: &[&[&str]] = &[
    &["api", "key"],
    &["private", "key"],
    &["access", "key"],
    &["secret", "key"],
    &["ssh", "key"],
    &["gpg", "key"],
    &["pgp", "key"],
    &["signing", "key"],
    &["encryption", "key"],
    &["decryption", "key"],
    &["master", "key"],
    &["service", "key"],
    &["account", "key"],
    &["deploy", "key"],
    &["license", "key"],
    &["licence", "key"],
    &["recovery", "key"],
    &["recovery", "code"],
    &["recovery", "codes"],
    &["recovery", "phrase"],
    &["backup", "code"],
    &["backup", "codes"],
    &["seed", "phrase"],
    &["seed", "words"],
    &["pass", "phrase"],
    &["pass", "word"],
    &["pass", "code"],
    &["access", "code"],
    &["security", "code"],
    &["verification", "code"],
    &["auth", "code"],
    &["authentication", "code"],
    &["authorization", "code"],
    &["authenticator", "code"],
    &["login", "code"],
    &["digit", "code"],
    &["sms", "code"],
    &["code", "sent"],
    &["one", "time"],
    &["two", "factor"],
    &["security", "answer"],
    &["connection", "string"],
    &["session", "cookie"],
    &["card", "number"],
    &["pin", "code"],
    &["pin", "number"],
    &["your", "pin"],
    &["the", "pin"],
    &["enter", "pin"],
    &["mot", "de", "passe"],
    &["mots", "de", "passe"],
    &["clé", "api"],
    &["cle", "api"],
    &["clé", "d", "api"],
    &["clé", "privée"],
    &["clé", "secrète"],
    &["cle", "privee"],
    &["phrase", "secrète"],
    &["chiave", "api"],
    &["chiave", "privata"],
    &["chiave", "segreta"],
    &["chave", "api"],
    &["chave", "de", "api"],
    &["chave", "secreta"],
    &["palavra", "passe"],
    &["api", "schlüssel"],
    &["privater", "schlüssel"],
    &["geheimer", "schlüssel"],
    &["kata", "sandi"],
    &["mật", "khẩu"],
];
/// Abbreviations that count where they are written in capitals.
const CAPITALS: &[&str] = &["pin", "pat", "tan"];
/// Words of labels alone.
const LABELS: &[&str] = &["auth", "authorization", "jwt", "pem", "dsn", "ssn", "privkey"];
/// Words that count at the end of a label.
const LAST: &[&str] = &["pass", "pin", "pat", "pw"];
/// What a word of a label has in it or ends with, as in `dbpassword` and `accesstoken`.
const INSIDE: &[&str] =
    &["password", "passwd", "passphrase", "apikey", "secretkey", "privatekey", "accesskey", "sshkey"];
const ENDINGS: &[&str] = &["token", "secret", "pwd", "passwort", "wachtwoord"];
/// Beside one of these a token is a piece of text that is counted.
const COUNTS: &[&str] = &[
    "max", "maximum", "min", "minimum", "count", "number", "limit", "budget", "per", "total", "usage", "window",
    "length", "size", "price", "cost",
];
/// What a label asks for where it is no secret, whatever the form is about.
const OPEN: &[&str] = &[
    "user",
    "username",
    "name",
    "login",
    "email",
    "mail",
    "host",
    "hostname",
    "server",
    "url",
    "uri",
    "port",
    "path",
    "file",
    "directory",
    "folder",
    "branch",
    "region",
    "domain",
    "database",
    "title",
    "description",
    "comment",
    "reason",
    "date",
    "language",
];

struct Word {
    text: String,
    is_capital: bool,
}

/// The words of a text, also of one that is written `likeThis`, `like_this` or `APIKey2`.
fn words(text: &str) -> Vec<Word> {
    let is_mark = |c: &char| ('\u{300}'..='\u{36f}').contains(c);
    let letters: Vec<char> = text.chars().filter(|c| !is_mark(c)).collect();
    let mut words: Vec<Word> = Vec::new();
    let mut from = 0;
    let mut push = |range: &[char]| {
        let whole: String = range.iter().collect();
        let trimmed = whole.trim_end_matches(|c: char| c.is_ascii_digit());
        let text = if trimmed.is_empty() { &whole } else { trimmed };
        if !text.is_empty() {
            let is_capital = text.chars().all(|c| !c.is_lowercase());
            words.push(Word { text: text.to_lowercase(), is_capital });
        }
    };
    for at in 0..letters.len() {
        let (before, here, after) = (at.checked_sub(1).map(|at| letters[at]), letters[at], letters.get(at + 1));
        let begins = before.is_some_and(|before| {
            here.is_uppercase() && (before.is_lowercase() || after.is_some_and(|after| after.is_lowercase()))
        });
        if !here.is_alphanumeric() {
            push(&letters[from..at]);
            from = at + 1;
        } else if begins {
            push(&letters[from..at]);
            from = at;
        }
    }
    push(&letters[from..]);
    words
}

fn is_one(of: &[&str], word: &Word) -> bool {
    of.contains(&word.text.as_str())
}

fn sounds(words: &[Word], text: &str, is_label: bool) -> bool {
    let is_secret = |at: usize, word: &Word| {
        let near = [at.checked_sub(1), Some(at + 1)].map(|at| at.and_then(|at| words.get(at)));
        let beside = |others: &[&str]| near.iter().flatten().any(|near| is_one(others, near));
        match word.text.as_str() {
            "token" => !beside(COUNTS),
            // A keyword.
            "clave" => !beside(&["palabra", "palabras"]),
            _ => {
                let begins = BEGINNINGS.iter().any(|beginning| word.text.starts_with(beginning));
                is_one(WORDS, word) || begins || word.is_capital && is_one(CAPITALS, word)
            }
        }
    };
    let is_labelled = |at: usize, word: &Word| {
        let has = INSIDE.iter().any(|part| word.text.contains(part));
        let ends = word.text != "token" && ENDINGS.iter().any(|end| word.text.ends_with(end));
        has || ends || is_one(LABELS, word) || at + 1 == words.len() && is_one(LAST, word)
    };
    let is_phrase = |phrase: &&[&str]| {
        words.windows(phrase.len()).any(|row| row.iter().zip(*phrase).all(|(word, wanted)| word.text == *wanted))
    };
    words.iter().enumerate().any(|(at, word)| is_secret(at, word) || is_label && is_labelled(at, word))
        || PHRASES.iter().any(is_phrase)
        || PIECES.iter().any(|piece| text.contains(piece))
}

/// Whether a name or a title says that it is for a secret.
pub fn label_sounds_secret(label: &str) -> bool {
    sounds(&words(label), label, true)
}

/// Whether a description or a message speaks of a secret.
pub fn prose_sounds_secret(prose: &str) -> bool {
    sounds(&words(prose), prose, false)
}

/// Whether a label asks for something that is no secret by itself.
pub fn label_is_open(label: &str) -> bool {
    words(label).iter().any(|word| is_one(OPEN, word))
}

#[cfg(test)]
#[path = "secrecy_tests.rs"]
mod tests;
