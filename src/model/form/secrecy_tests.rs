use super::*;

#[test]
fn r_430_labels_that_ask_for_a_secret_are_known() {
    for label in [
        "password", "PASSWORD", "dbPassword", "db_password_2", "userpassword", "pwd", "dbPwd", "PIN", "pin", "Card PIN", "pin1",
        "PAT", "GitHub PAT", "sshKey", "SSH key", "ssh-key", "personal access token", "accesstoken", "githubToken", "APIToken",
        "seed phrase", "seedPhrase", "recovery phrase", "API key", "apiKey", "APIKey", "API_KEY", "x-api-key", "OTP", "totp",
        "2FA", "2fa code", "passphrase", "user-passphrase", "client secret", "clientSecret", "client_secret", "bearer",
        "Authorization", "pass", "smtp_pass", "ACCESS_KEY", "private key", "verification code", "6-digit code", "One-time code",
        "connectionString", "credentials", "jwt", "license key", "mnemonic", "CVV", "card number", "encryption key",
        "Passwort", "Datenbankpasswort", "Kennwort", "API-Schlüssel", "mot de passe", "Clé API", "contraseña", "contrasen\u{303}a",
        "Clave", "senha", "palavra-passe", "Wachtwoord", "lösenord", "hasło", "heslo", "пароль", "Пароля", "токен", "şifre",
        "密码", "数据库密码", "パスワードを入力", "비밀번호", "salasana", "jelszó", "mật khẩu", "كلمة المرور", "סיסמה", "κωδικός", "रीसेट पासवर्ड",
    ] {
        assert!(label_sounds_secret(label), "{label}");
    }
}

#[test]
fn r_430_labels_that_ask_for_something_else_are_not_hidden() {
    for label in [
        "", "keyboard layout", "tokenizer", "author", "pinned version", "compass", "max_tokens", "maxOutputTokens", "token limit",
        "Token count", "max token", "key", "primary key", "sort_key", "publicKey", "secretary", "name", "passage", "pass rate",
        "bypass reason", "pattern", "patch", "path", "dispatch", "opinion", "spinner", "Pin to top", "zip code", "code style",
        "code", "seed", "hotkey", "monkey", "authority", "accessibility", "one", "time", "palabra clave", "mot", "colour",
        "database", "branch name", "commit message", "bearing", "tank", "2", "a", "Straße", "密度",
    ] {
        assert!(!label_sounds_secret(label), "{label}");
    }
}

#[test]
fn r_430_prose_that_speaks_of_a_secret_is_known_and_other_prose_is_not() {
    for prose in [
        "Enter your GitHub password to go on.", "Your personal access token (classic)", "Please type your PIN",
        "What is your pin?", "the 6-digit code from your app", "We sent you a code: the code sent by SMS", "A bearer token",
        "Paste your API key here", "the seed phrase of the wallet", "Gib dein Passwort ein", "Entrez votre mot de passe",
        "Introduce tu contraseña", "Введите пароль", "请输入密码", "パスワードを入力してください", "Two-factor authentication",
    ] {
        assert!(prose_sounds_secret(prose), "{prose}");
    }
    for prose in [
        "", "Which keyboard layout do you use?", "Who is the author?", "The pinned version of the compiler", "How many tokens?",
        "The token limit of one answer", "Shall I pass it on?", "Authorization is done by the server", "Pin the version",
        "Pat the dog",
        "Please accept the code of conduct", "It takes one hour of time", "Seed of the random numbers",
    ] {
        assert!(!prose_sounds_secret(prose), "{prose}");
    }
}

#[test]
fn words_are_found_however_they_are_joined() {
    let of = |text: &str| words(text).into_iter().map(|word| word.text).collect::<Vec<_>>();
    assert_eq!(of("likeThis"), ["like", "this"]);
    assert_eq!(of("APIKey2 like_this-too"), ["api", "key", "like", "this", "too"]);
    assert_eq!(of(" 2fa: 123 "), ["2fa", "123"]);
    assert_eq!(of("…"), [""; 0]);
}
