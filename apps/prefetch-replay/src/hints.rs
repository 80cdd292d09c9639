// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What `Link` headers ask a browser to prefetch (RFC 8288).

/// The URLs of `<URL>; rel=prefetch` in one header's value.
pub fn prefetches(value: &str) -> Vec<String> {
    let mut rest = value;
    let mut urls = Vec::new();
    while let Some((_, after)) = rest.split_once('<') {
        let Some((url, after)) = after.split_once('>') else {
            break;
        };
        let end = end_of_link(after);
        if is_prefetch(&after[..end]) {
            urls.push(url.trim().to_owned());
        }
        rest = &after[end..];
    }
    urls
}

/// Up to the comma that no quotes are around.
fn end_of_link(parameters: &str) -> usize {
    let mut quoted = false;
    let comma = parameters.bytes().position(|b| {
        quoted ^= b == b'"';
        b == b',' && !quoted
    });
    comma.unwrap_or(parameters.len())
}

fn is_prefetch(parameters: &str) -> bool {
    let relation = |parameter: &str| {
        let (name, value) = parameter.split_once('=')?;
        let named = name.trim().eq_ignore_ascii_case("rel");
        let value = value.trim().trim_matches('"').to_ascii_lowercase();
        named.then(|| value.split_whitespace().any(|v| v == "prefetch"))
    };
    // The first counts, says the RFC.
    parameters.split(';').find_map(relation).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_all_shapes() {
        assert_eq!(prefetches("</next>; rel=prefetch"), ["/next"]);
        assert_eq!(prefetches("</a,b>;REL=\"next Prefetch\" , </c>; rel=preload, </d>; title=\"x, <y>; rel=prefetch\"; rel=prefetch"), ["/a,b", "/d"]);
        for none in [
            "",
            "</a>",
            "</a>; rel=dns-prefetch",
            "</a; rel=prefetch",
            "</a>; rel=next; rel=prefetch",
        ] {
            assert_eq!(prefetches(none), [] as [&str; 0], "{none}");
        }
    }
}
