// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What a URL is, by its looks: logs have no content types.

/// What pages embed: no page itself. The paper's were images.
const EMBEDDED: [&str; 30] = [
    "avif", "bmp", "css", "eot", "gif", "ico", "jpeg", "jpg", "js", "json", "m4a", "map", "mjs",
    "mp3", "mp4", "ogg", "otf", "png", "svg", "swf", "tif", "tiff", "ttf", "wasm", "wav", "webm",
    "webp", "woff", "woff2", "xml",
];

/// Whether the URL is a page: what one navigates to, not what a page embeds.
pub fn is_page(url: &str) -> bool {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    let name = path.rsplit('/').next().unwrap_or(path);
    let Some((_, extension)) = name.rsplit_once('.') else {
        return true;
    };
    !EMBEDDED.iter().any(|e| e.eq_ignore_ascii_case(extension))
}

/// Whether it looks generated for one request: a query, or a program's place.
pub(super) fn is_static(url: &str) -> bool {
    !url.contains('?') && !url.contains("/cgi-bin/")
}
