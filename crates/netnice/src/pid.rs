// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The number of a process on the command line. As for renice(1), a name is none.

/// That of a process, as -p has it.
pub(crate) fn number(text: &str) -> Result<u32, String> {
    match text.parse::<i64>().map(u32::try_from) {
        Ok(Ok(number)) if (1..=i32::MAX.unsigned_abs()).contains(&number) => Ok(number),
        Ok(_) => Err(format!("processes have the numbers 1 to {}", i32::MAX)),
        Err(_) => Err("name a process by its number, as 'pidof NAME' prints it".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_a_number() {
        for (text, found) in [("1", Ok(1)), ("2147483647", Ok(i32::MAX.unsigned_abs()))] {
            assert_eq!(number(text), found);
        }
        for text in ["0", "-1", "2147483648", "4294967297"] {
            assert!(number(text).expect_err(text).contains("1 to 2147483647"), "{text}");
        }
        for text in ["rsync", "", "7z", "1.5"] {
            assert!(number(text).expect_err(text).contains("'pidof NAME'"), "{text}");
        }
    }
}
