//! Encryption of a connection, with the certificates that this machine trusts.

use std::sync::{Arc, OnceLock};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

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
    encrypted.map_err(|error| format!("the connection cannot be encrypted: {error}"))
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
