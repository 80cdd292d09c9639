// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! One client's way to the server: a connection that is opened when it is needed, and again when it has ended.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};

use anyhow::{bail, Context};

use crate::connection::{Connection, Reply};

/// Where all clients go.
#[derive(Debug, Clone)]
pub struct Server {
    pub address: SocketAddr,
    pub host: String,
}

impl Server {
    /// Of `http://HOST:PORT`, or of `http://HOST`, which is port 80.
    pub fn find(url: &str) -> anyhow::Result<Self> {
        let Some(host) = url.strip_prefix("http://").map(|h| h.trim_end_matches('/')) else {
            bail!("the server '{url}' must be http://HOST:PORT");
        };
        let port = if host.rsplit_once(':').is_some_and(|(_, p)| !p.contains(']')) {
            ""
        } else {
            ":80"
        };
        let mut found = format!("{host}{port}")
            .to_socket_addrs()
            .with_context(|| format!("the server '{url}' is not to be found"))?;
        Ok(Self {
            address: found.next().context("the server has no address")?,
            host: host.to_owned(),
        })
    }
}

/// Host, where a log names it, and path of a URL.
pub fn split(url: &str) -> (Option<&str>, &str) {
    match url.split_once("://") {
        Some((_, rest)) if !url.starts_with('/') => {
            let slash = rest.find('/').unwrap_or(rest.len());
            let path = if slash == rest.len() { "/" } else { &rest[slash..] };
            (Some(&rest[..slash]), path)
        }
        _ => (None, url),
    }
}

/// What a hint on `page` names, as the log would; None: it is of another site.
pub fn resolve(page: &str, hint: &str) -> Option<String> {
    let (site, path) = (split(page).0, split(hint));
    match path {
        (None, path) if path.starts_with('/') && !path.starts_with("//") => {
            Some(format!("{}{path}", origin(page, site)))
        }
        (Some(host), _) if Some(host) == site => Some(hint.to_owned()),
        _ => None,
    }
}

fn origin<'a>(page: &'a str, site: Option<&str>) -> &'a str {
    let scheme = page.find("://").map_or(0, |at| at + 3);
    site.map_or("", |site| &page[..scheme + site.len()])
}

/// What all requests of one kind say.
#[derive(Debug)]
pub struct Lane {
    server: Server,
    agent: String,
    purpose: &'static str,
    /// Requests without a reply at a time.
    depth: usize,
    connection: Option<Connection>,
}

impl Lane {
    pub fn new(server: &Server, agent: String, purpose: &'static str, depth: usize) -> Self {
        Self {
            server: server.clone(),
            agent,
            purpose,
            depth,
            connection: None,
        }
    }

    /// Asks for all of `urls`; `arrived` gets each reply by the URL's index as it is there.
    /// The server cannot be reached, or gives no reply on a fresh connection.
    pub async fn fetch(
        &mut self,
        urls: &[String],
        referrer: Option<&str>,
        mut arrived: impl FnMut(usize, Reply),
    ) -> io::Result<()> {
        let mut done = 0;
        while done < urls.len() {
            let fresh = self.connection.is_none();
            if fresh {
                self.connection = Some(Connection::open(self.server.address).await?);
            }
            let before = done;
            let result = self.go_on(urls, referrer, &mut done, &mut arrived).await;
            if let Err(e) = result {
                // An idle connection may have been closed by the server; a fresh one has no excuse.
                self.connection = None;
                if fresh && done == before {
                    return Err(e);
                }
            }
        }
        Ok(())
    }

    async fn go_on(
        &mut self,
        urls: &[String],
        referrer: Option<&str>,
        done: &mut usize,
        arrived: &mut impl FnMut(usize, Reply),
    ) -> io::Result<()> {
        let mut sent = *done;
        while *done < urls.len() {
            let next = urls.len().min(*done + self.depth);
            let requests: String = urls[sent..next].iter().map(|url| self.request(url, referrer)).collect();
            sent = next;
            let Some(connection) = &mut self.connection else {
                break;
            };
            if !requests.is_empty() {
                connection.send(&requests).await?;
            }
            let reply = connection.receive().await?;
            if reply.last {
                self.connection = None;
            }
            arrived(*done, reply);
            *done += 1;
        }
        Ok(())
    }

    fn request(&self, url: &str, referrer: Option<&str>) -> String {
        let (host, path) = split(url);
        let host = host.unwrap_or(&self.server.host);
        let referrer = referrer.map_or(String::new(), |page| {
            let (site, path) = split(page);
            format!("Referer: http://{}{path}\r\n", site.unwrap_or(&self.server.host))
        });
        let (agent, purpose) = (&self.agent, self.purpose);
        format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: {agent}\r\n{referrer}{purpose}\r\n")
    }

    /// Bytes that came over the connection of now.
    pub fn received(&self) -> u64 {
        self.connection.as_ref().map_or(0, |c| c.received)
    }

    /// What is under way is not wanted any more.
    pub fn hang_up(&mut self) {
        self.connection = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_servers_and_of_proxies() {
        assert_eq!(split("/a?u=http://x/"), (None, "/a?u=http://x/"));
        assert_eq!(split("http://cnn.com/a"), (Some("cnn.com"), "/a"));
        assert_eq!(split("http://cnn.com"), (Some("cnn.com"), "/"));
        assert_eq!(resolve("/a", "/b").as_deref(), Some("/b"));
        assert_eq!(resolve("http://cnn.com/a", "/b").as_deref(), Some("http://cnn.com/b"));
        assert_eq!(
            resolve("http://cnn.com/a", "http://cnn.com/b").as_deref(),
            Some("http://cnn.com/b")
        );
        for other in ["//x/b", "http://x/b", "b"] {
            assert_eq!(resolve("/a", other), None, "{other}");
        }
    }

    #[test]
    fn a_server_has_a_port() {
        let port = |url| Server::find(url).map(|s| s.address.port()).ok();
        assert_eq!(port("http://127.0.0.1:8080/"), Some(8080));
        assert_eq!(port("http://[::1]"), Some(80));
        assert_eq!(port("https://127.0.0.1"), None);
    }
}
