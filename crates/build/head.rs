// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What an algorithm's file says of itself: the build script of the loader writes it into the table.

/// The first sentence of the comment that follows the licence's line, for users: without the names of source files.
pub fn head(text: &str) -> Option<String> {
    let (_, comment) = text.split_once("\n/*\n")?;
    let paragraph: Vec<&str> = comment
        .lines()
        .map(|line| line.trim_start_matches(" *").trim())
        .take_while(|line| !line.is_empty() && *line != "/")
        .collect();
    let paragraph = paragraph.join(" ");
    let sentence = paragraph.split(". ").next()?.trim_end_matches('.');
    (!sentence.is_empty()).then(|| without_files(sentence))
}

/// Brackets and clauses that name a header go.
fn without_files(sentence: &str) -> String {
    let names_file = |part: &str| {
        let mut words = part.split_whitespace().map(|word| word.trim_matches([',', '(', ')']));
        words.any(|word| word.ends_with(".h"))
    };
    let mut text = sentence.to_owned();
    for (start, _) in sentence.rmatch_indices(" (") {
        let end = sentence[start..]
            .find(')')
            .map_or(sentence.len(), |length| start + length + 1);
        if names_file(&sentence[start..end]) {
            text.replace_range(start..end, "");
        }
    }
    let clauses: Vec<&str> = text.split("; ").filter(|clause| !names_file(clause)).collect();
    clauses.join("; ")
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

    #[test]
    fn source_files_are_not_for_users() {
        for (sentence, said) in [
            ("Nice (OSDI 2002); nice.h is the paper's", "Nice (OSDI 2002)"),
            ("The core (../sender/a.h), again (twice)", "The core, again (twice)"),
            ("One (a, b), 1 to 4; 5 is in c.h, 6 in ../d.h", "One (a, b), 1 to 4"),
            ("One; two", "One; two"),
        ] {
            let file = format!("/* SPDX */\n/*\n * {sentence}.\n */\n");
            assert_eq!(head(&file).as_deref(), Some(said));
        }
    }
}
