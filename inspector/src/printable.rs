//! Names out of files. By itself, since the fuzz targets read MANIFESTs without a terminal.

/// A name out of a file as a terminal and a page can show it.
pub fn printable(name: &str) -> String {
    name.chars().fold(String::new(), |mut text, c| {
        // Separators and marks that end or turn a line, too.
        let turns = matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if c.is_control() || turns {
            text.extend(c.escape_default());
        } else {
            text.push(c);
        }
        text
    })
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn what_would_end_or_turn_a_line_is_escaped() {
        let name = "a\u{1b}[31m\n\u{9b}\u{2028}\u{202e}b\u{2066}\u{200f}é";
        let shown = r"a\u{1b}[31m\n\u{9b}\u{2028}\u{202e}b\u{2066}\u{200f}é";
        assert_eq!(printable(name), shown);
    }
}
