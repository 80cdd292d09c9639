// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What an algorithm's file says of itself: the build script of the loader writes it into the table.

/// The first sentence of the comment that follows the licence's line.
pub fn head(text: &str) -> Option<String> {
    let (_, comment) = text.split_once("\n/*\n")?;
    let paragraph: Vec<&str> = comment
        .lines()
        .map(|line| line.trim_start_matches(" *").trim())
        .take_while(|line| !line.is_empty() && *line != "/")
        .collect();
    let paragraph = paragraph.join(" ");
    let sentence = paragraph.split(". ").next()?.trim_end_matches('.');
    (!sentence.is_empty()).then(|| sentence.to_owned())
}

#[cfg(test)]
mod tests {
    use super::head;

    #[test]
    fn the_head_is_the_first_sentence_after_the_licence() {
        let file = "/* SPDX */\n/*\n * Nice (OSDI 2002), sections 2.2 and\n * 2.3. More.\n *\n * Else.\n */\n";
        assert_eq!(head(file).as_deref(), Some("Nice (OSDI 2002), sections 2.2 and 2.3"));
        assert_eq!(head("/* SPDX */\n/*\n * One.\n */\n").as_deref(), Some("One"));
        assert_eq!(head("/* SPDX */\n#define X\n"), None);
    }
}
