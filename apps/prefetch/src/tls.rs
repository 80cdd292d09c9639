// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Certificates, and HTTP/1.1 as the only protocol that is offered.

use std::path::Path;
use std::sync::Arc;

use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::TlsAcceptor;

use crate::config::Tls;
use crate::{Error, Result};

pub fn acceptor(files: &Tls) -> Result<TlsAcceptor> {
    let wrong = |path: &Path, e: String| Error::Tls(path.to_owned(), e);
    let (certificate, key) = (&files.certificate, &files.key);
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect)
        .map_err(|e| wrong(certificate, e.to_string()))?;
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|e| wrong(key, e.to_string()))?;
    let mut config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(chain, secret)
        .map_err(|e| wrong(certificate, e.to_string()))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
