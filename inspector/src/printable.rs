//! Names out of files. By itself, since the fuzz targets read MANIFESTs without a terminal.

/// A name out of a file as a terminal and a page can show it.
pub fn printable(name: &str) -> String {
    name.chars().fold(String::new(), |mut text, c| {
        if c.is_control() {
            text.extend(c.escape_default());
        } else {
            text.push(c);
        }
        text
    })
}
