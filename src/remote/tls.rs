//! Encryption of a connection, with the certificates that this machine trusts.
//!
//! Invariant: why a certificate does not hold is said in words, and names in it are shown short and without control
//! characters.

use crate::base::date::rfc3339;
use crate::base::sanitize;
use std::io;
use std::sync::{Arc, OnceLock};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{CertificateError, ClientConfig, Error, RootCertStore};

/// Names in a certificate that are shown, and the characters of each.
const NAMES: usize = 3;
const NAME: usize = 80;

type Config = Result<Arc<ClientConfig>, String>;

/// Encrypts what goes over a connection to this host, which chooses one of these protocols.
pub(super) async fn over(stream: TcpStream, host: &str, protocols: &[&[u8]]) -> Result<TlsStream<TcpStream>, String> {
    static CONFIG: OnceLock<Config> = OnceLock::new();
    // Certificates are read from the disk.
    let config = tokio::task::spawn_blocking(|| CONFIG.get_or_init(config).clone()).await;
    let config = config.map_err(|error| error.to_string())??;
    let name = ServerName::try_from(host.to_owned()).map_err(|_| format!("`{host}` is no name of a host"))?;
    let mut config = ClientConfig::clone(&config);
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    let encrypted = TlsConnector::from(Arc::new(config)).connect(name, stream).await;
    encrypted.map_err(|error| why_not(&error, host))
}

/// In words for the person, with what they can do.
fn why_not(error: &io::Error, host: &str) -> String {
    let Some(error) = error.get_ref().and_then(|error| error.downcast_ref::<Error>()) else {
        return format!("the connection cannot be encrypted: {error}");
    };
    match error {
        Error::InvalidCertificate(error) => {
            let why = match error {
                CertificateError::NotValidForNameContext { presented, .. } => {
                    let names: Vec<String> = presented.iter().take(NAMES).map(|name| shown(name)).collect();
                    let names = if names.is_empty() { "no host".to_owned() } else { names.join(", ") };
                    return format!("its certificate is for {names}, not for {host}; use a name that it has");
                }
                CertificateError::NotValidForName => return format!("its certificate is not for {host}"),
                CertificateError::ExpiredContext { not_after, .. } => {
                    let day = rfc3339(std::time::Duration::from_secs(not_after.as_secs()));
                    format!("its certificate has expired ({})", day.get(..10).unwrap_or_default())
                }
                CertificateError::Expired => "its certificate has expired".to_owned(),
                CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                    return "its certificate does not hold yet; is the clock of this machine right?".to_owned();
                }
                CertificateError::UnknownIssuer => {
                    return "its certificate is from an authority that this machine does not trust; SSL_CERT_FILE can \
                            name a file with that authority's certificate"
                        .to_owned();
                }
                CertificateError::Revoked => "its certificate has been revoked".to_owned(),
                other => format!("its certificate does not hold: {}", sanitize::line(&other.to_string())),
            };
            format!("{why}; ask who runs the server")
        }
        Error::InvalidMessage(_) => {
            "the connection cannot be encrypted: what came is no encryption (a server without it is reached by http: or \
             ws: on this machine)"
                .to_owned()
        }
        other => format!("the connection cannot be encrypted: {}", sanitize::line(&other.to_string())),
    }
}

/// A name in a certificate comes as `DnsName("example.com")`.
fn shown(name: &str) -> String {
    let inner = name.split_once('(').map_or(name, |(_, rest)| rest.trim_end_matches(')')).trim_matches('"');
    sanitize::line(inner).chars().take(NAME).collect()
}

fn config() -> Config {
    if !can_encrypt() {
        return Err("this processor is too old for encryption here (it needs AES and AVX2)".to_owned());
    }
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    let (trusted, _) = roots.add_parsable_certificates(found.certs);
    if trusted == 0 {
        return Err("no certificates are found that this machine trusts; SSL_CERT_FILE can name them".to_owned());
    }
    let provider = Arc::new(rustls_graviola::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.map_err(|error| error.to_string())?.with_root_certificates(roots).with_no_client_auth();
    Ok(Arc::new(config))
}

/// Whether the processor has what the library takes for granted.
fn can_encrypt() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        has!("aes") && has!("pclmulqdq") && has!("avx") && has!("avx2") && has!("bmi1") && has!("bmi2") && has!("adx")
    }
    #[cfg(not(target_arch = "x86_64"))]
    true
}
