// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The secret that both ends know, and what proves that an end knows it.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use hmac::{Hmac, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;
use thiserror::Error;

/// Bytes of a nonce and of a proof.
pub const LENGTH: usize = 32;
/// A shorter one could be guessed from one exchange.
const SHORTEST: usize = 32;

/// A number that is used once.
pub type Nonce = [u8; LENGTH];
/// What only a holder of the token can make of two nonces.
pub type Proof = [u8; LENGTH];

/// Why there is no token.
#[derive(Debug, Error)]
pub enum TokenError {
    #[error(
        "cannot read the token in {0}: {1}; make one with 'netnice-measure token {0}' and copy it to the other end"
    )]
    Unreadable(PathBuf, io::Error),
    #[error("others can read the token in {0}; run 'chmod 600 {0}', or make a new one if they may have")]
    Shared(PathBuf),
    #[error("the token in {0} has {1} characters, and fewer than {SHORTEST} can be guessed; make one with 'netnice-measure token FILE'")]
    Short(PathBuf, usize),
}

/// The shared secret.
#[derive(Clone)]
pub struct Token(Vec<u8>);

impl Token {
    /// Reads a file that only its owner may read.
    /// It cannot be read, others may read it, or it is too short.
    pub fn read(path: &Path) -> Result<Self, TokenError> {
        let unreadable = |e| TokenError::Unreadable(path.into(), e);
        let mode = fs::metadata(path).map_err(unreadable)?.permissions().mode();
        if mode & 0o077 != 0 {
            return Err(TokenError::Shared(path.into()));
        }
        let text = fs::read_to_string(path).map_err(unreadable)?;
        let text = text.trim();
        if text.len() < SHORTEST {
            return Err(TokenError::Short(path.into(), text.len()));
        }
        Ok(Self(text.into()))
    }

    /// Makes a new one of 256 bits, in a new file that only its owner may read.
    /// The file is there already or cannot be written.
    pub fn create(path: &Path) -> io::Result<()> {
        let random: Nonce = nonce().map_err(io::Error::other)?;
        let text: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        writeln!(file, "{text}")
    }

    /// What proves to know the token, for one purpose and two nonces.
    #[must_use]
    pub fn prove(&self, purpose: &str, server: &Nonce, client: &Nonce) -> Proof {
        mac(&self.0, &[purpose.as_bytes(), &[0], server, client])
    }
}

/// Authenticates `parts` under `key`.
#[must_use]
pub fn mac(key: &[u8], parts: &[&[u8]]) -> Proof {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes a key of any length");
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

/// Compares in a time that does not tell where they differ.
#[must_use]
pub fn same(one: &[u8], other: &[u8]) -> bool {
    one.ct_eq(other).into()
}

/// Fresh random bytes.
/// The kernel gives none.
pub fn nonce<const N: usize>() -> Result<[u8; N], getrandom::Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str, mode: u32) -> Result<Token, TokenError> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("token");
        fs::write(&path, text).expect("written");
        fs::set_permissions(&path, PermissionsExt::from_mode(mode)).expect("permitted");
        Token::read(&path)
    }

    #[test]
    fn a_new_one_is_taken() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("token");
        Token::create(&path).expect("created");
        assert_eq!(Token::read(&path).expect("a token").0.len(), 64);
        assert!(Token::create(&path).is_err(), "one that is in use is kept");
    }

    #[test]
    fn a_short_or_shared_one_is_not() {
        assert!(matches!(written("secret", 0o600), Err(TokenError::Short(_, 6))));
        assert!(matches!(written(&"x".repeat(64), 0o640), Err(TokenError::Shared(_))));
        assert!(matches!(
            Token::read(Path::new("/nowhere")),
            Err(TokenError::Unreadable(..))
        ));
    }

    #[test]
    fn a_proof_is_for_one_purpose_and_one_exchange() {
        let token = Token(b"x".repeat(32));
        let proof = token.prove("client", &[1; 32], &[2; 32]);
        assert!(same(&proof, &token.prove("client", &[1; 32], &[2; 32])));
        for other in [
            token.prove("server", &[1; 32], &[2; 32]),
            token.prove("client", &[3; 32], &[2; 32]),
            Token(b"y".repeat(32)).prove("client", &[1; 32], &[2; 32]),
        ] {
            assert!(!same(&proof, &other));
        }
    }

    #[test]
    fn hmac_is_that_of_rfc_4231() {
        let made = mac(b"Jefe", &[b"what do ya want ", b"for nothing?"]);
        let text: String = made.iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(text, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    }
}
