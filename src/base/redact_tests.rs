//! What is left out of a text, and what is not.

use super::*;

/// Each with the mask in place of what is a secret.
const SECRETS: &[(&str, &str)] = &[
    ("deploy --token=abcdef123456 now", "deploy --token=[redacted] now"),
    ("curl https://me:pass@host/", "curl https[redacted]host/"),
    ("redis://:hunter2@host/0", "redis[redacted]host/0"),
    ("hf_abcdefghijklmnopqrstuvwxyz01234567", "[redacted]"),
    ("npm_abcdefghijklmnopqrstuvwxyz0123456789", "[redacted]"),
    ("pypi-AgEIcHlwaS5vcmcCJDAwMDAwMDAw", "[redacted]"),
    ("gsk_abcdefghijklmnopqrstuvwx01234567", "[redacted]"),
    ("pplx-0123456789abcdef0123456789abcdef", "[redacted]"),
    ("r8_0123456789abcdefghijABCDEFGHIJ01234", "[redacted]"),
    ("dop_v1_0123456789abcdef0123456789abcdef", "[redacted]"),
    ("hvs.CAESIJ0123456789abcdefghij", "[redacted]"),
    ("ya29.a0AfH6SMBx0123456789abcdef", "[redacted]"),
    ("1//0gAbCdEfGhIjKlMnOpQrStUv", "[redacted]"),
    ("SG.abcdefghijklmnop1234.abcdefghijklmnopqrstuvwxyz012345", "[redacted]"),
    ("shpat_0123456789abcdef0123456789abcdef", "[redacted]"),
    ("lin_api_0123456789abcdefghijABCDEFGHIJ", "[redacted]"),
    ("client GOCSPX-0123456789abcdef_ABCDEF-ghij", "client [redacted]"),
    ("SK0123456789abcdef0123456789abcdef", "[redacted]"),
    ("figd_0123456789abcdefghij-ABCDE_FGHIJ", "[redacted]"),
    ("dp.pt.0123456789abcdefghijABCDEFGHIJ0123456789abc", "[redacted]"),
    ("dp.st.dev.0123456789abcdefghijABCDEFGHIJ0123456789", "[redacted]"),
    ("dckr_pat_0123456789abcdefghijABCDE", "[redacted]"),
    ("xapp-1-A0123456789-0123456789-abcdef", "[redacted]"),
    ("AGE-SECRET-KEY-1QQPQYQSZQGPQYQSZQGPQYQSZQGP", "[redacted]"),
    ("日本sk-abcdefghijklmnop1234", "日本[redacted]"),
    ("Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic [redacted]"),
    ("curl -H 'authorization: Bearer hunter' x", "curl -H 'authorization: Bearer [redacted]' x"),
    ("{\"Authorization\": \"Token abcd1234\"}", "{\"Authorization\": \"Token [redacted]\"}"),
    ("Authorization: Custom abcd1234efgh", "Authorization: Custom [redacted]"),
    ("Proxy-Authorization: 0123456789abcdef", "Proxy-Authorization: [redacted]"),
    ("-H 'Authorization: Digest username=\"me\", response=\"0a\"' x", "-H 'Authorization: Digest [redacted]' x"),
    ("Authorization: AWS4-HMAC-SHA256 Credential=A/b, Signature=c\nx", "Authorization: AWS4-HMAC-SHA256 [redacted]\nx"),
    ("Cookie: session=hunter2; theme=dark", "Cookie: [redacted]"),
    ("curl -H \"Set-Cookie: sid=hunter2; Path=/; HttpOnly\" x", "curl -H \"Set-Cookie: [redacted]\" x"),
    ("agent --password hunter2PW --fast", "agent --password [redacted] --fast"),
    ("agent --db-password 'a b' -v", "agent --db-password '[redacted]' -v"),
    ("agent --api-key \"a b\" -v", "agent --api-key \"[redacted]\" -v"),
    ("agent --password x", "agent --password [redacted]"),
    ("mysql -u root -phunter2 db", "mysql -u root -p[redacted] db"),
    ("sshpass -p hunter2 ssh host", "sshpass -p [redacted] ssh host"),
    ("docker login -u me -p hunter2 host", "docker login -u me -p [redacted] host"),
    ("curl -s -u me:hunter2 https://host", "curl -s -u me:[redacted] https://host"),
    ("machine host login me password hunter2", "machine host login me password [redacted]"),
    ("machine host\n  login me\n  password hunter\n", "machine host\n  login me\n  password [redacted]\n"),
    ("passphrase: correct-horse", "passphrase: [redacted]"),
    ("AccountName=a;AccountKey=abcd1234+/==;x", "AccountName=a;AccountKey=[redacted];x"),
    ("PASSWORD=\"a b\" run", "PASSWORD=\"[redacted]\" run"),
    ("password: 'a b c' # x", "password: '[redacted]' # x"),
    (r#"{"password": "a \"b\" c", "x": 1}"#, r#"{"password": "[redacted]", "x": 1}"#),
    (r#""{\"password\": \"a b\", \"x\": 1}""#, r#""{\"password\": \"[redacted]\", \"x\": 1}""#),
    ("MYSQL_PASS=hunter2 run", "MYSQL_PASS=[redacted] run"),
    ("https://hooks.slack.com/services/T0/B0/abcdef", "https://hooks.slack.com/services/[redacted]"),
    ("https://discord.com/api/webhooks/12345/ab-cd_ef", "https://discord.com/api/webhooks/[redacted]"),
    ("https://s3/x?X-Amz-Signature=0123456789&a=b", "https://s3/x?X-Amz-Signature=[redacted]&a=b"),
    ("http://localhost:1/cb?code=4/0AbCdEf&state=x", "http://localhost:1/cb?code=[redacted]&state=x"),
    ("wss://host/a?token=hunter2URL", "wss://host/a?token=[redacted]"),
    // Not the first one that might be.
    ("token: string, password: hunter2x", "token: string, password: [redacted]"),
];

const PLAIN: &[&str] = &[
    "git log --oneline",
    "the token of my love",
    "a key: b",
    "use --password to give it, or the --token option",
    "agent --password \"$PW\" is asked with --password-file x and --password $PW",
    "a bearer token, bearer authentication and a bearer tokens' list",
    "Authorization: required for this; Authorization: Bearer token, Authorization: `Bearer ${token}`",
    "The Authorization header: see below. Authorization: Basic authentication is used",
    "cookie: the thing that is baked; Cookie: none",
    "fn f(token: String, password: &str, secret: Option<String>) {}",
    "let style = RunStyle::from(Token::Accent); if token == expected {}",
    "interface Login { password: string; token: string | null }",
    "the login and password fields, password reset, a password manager",
    "password manager\n  passphrase needed\n",
    "mkdir -p dir && mysql -P 3306 --protocol tcp && cp -p a b",
    "docker run -u 1000:1000 image; curl --data-urlencode q=a https://host",
    "pypi-attestation-models, gsk_render_node_get_bounds, npm_config_registry, hf_hub_download, glob-based-matching",
    "max_tokens: 100000, tokenizer: something, secretary: somebody",
    "error?code=ENOENT of https://host/a?key=name",
    "see https://host:8080/a and user@host:path/to/file",
    "if token == \"and\" { secrets: inherit }",
    "日本語のテキスト: パスワード",
];

#[test]
fn what_looks_like_a_secret_is_left_out_and_nothing_else() {
    for (text, wanted) in SECRETS {
        assert_eq!(masked(text).as_deref(), Some(*wanted), "{text}");
        let (within, around) = (format!("before\n{text}\nafter"), format!("before\n{wanted}\nafter"));
        assert_eq!(masked(&within), Some(around), "{text}");
    }
    for text in PLAIN {
        assert_eq!(masked(text), None, "{text}");
    }
}

#[test]
fn what_two_shapes_have_in_common_is_left_out_once() {
    let text = "export API_KEY=sk-abcdefghijklmnop1234 GH=ghp_0123456789abcdefABCD";
    assert_eq!(masked(text).as_deref(), Some("export API_KEY=[redacted] GH=[redacted]"));
}

#[test]
fn an_option_announces_that_a_secret_follows() {
    for (word, is_so) in [
        ("--password", true),
        ("--api-key", true),
        ("-token", true),
        ("--password=x", false),
        ("--password-file", false),
        ("password", false),
        ("--max-tokens", false),
    ] {
        assert_eq!(announces(word), is_so, "{word}");
    }
}

/// Words stand in the table as they are compared.
#[test]
fn words_are_small_and_each_is_there_once() {
    let words: Vec<&str> = WORDS.split(' ').collect();
    assert!(words.is_sorted_by(|one, other| one < other), "{words:?}");
    assert!(words.iter().all(|word| !word.is_empty() && word.to_lowercase() == **word));
}
