//! HTML as plain text: without scripts and tags, with line breaks where blocks are, and the addresses of links. Pure.
//! Not a parser of HTML: it never fails, and reads each byte once.

/// The text that a reader would see.
pub(super) fn to_text(html: &str) -> String {
    let mut page = Page::default();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        let (text, tag) = rest.split_at(at);
        page.text(text);
        rest = page.tag(tag);
    }
    page.text(rest);
    page.finish()
}

#[derive(Default)]
struct Page {
    out: String,
    /// In `pre`: white space is kept.
    pre: usize,
    /// A space is due before the next word.
    space: bool,
    link: Option<String>,
}

const BLOCKS: [&str; 25] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "br",
    "dd",
    "div",
    "dl",
    "dt",
    "figure",
    "footer",
    "form",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "main",
    "nav",
    "ol",
    "section",
    "table",
    "tr",
    "ul",
    "title",
];
const SKIPPED: [&str; 6] = ["script", "style", "noscript", "template", "svg", "iframe"];

impl Page {
    fn text(&mut self, text: &str) {
        let text = entities(text);
        if self.pre > 0 {
            self.out += &text;
            return;
        }
        if text.starts_with(char::is_whitespace) {
            self.space = true;
        }
        for word in text.split_whitespace() {
            if self.space && !self.out.is_empty() && !self.out.ends_with(char::is_whitespace) {
                self.out.push(' ');
            }
            self.out += word;
            self.space = true;
        }
        self.space = text.ends_with(char::is_whitespace) || (text.trim().is_empty() && self.space);
    }

    fn line(&mut self) {
        self.space = false;
        let trimmed = self.out.trim_end_matches([' ', '\t']).len();
        self.out.truncate(trimmed);
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    /// `tag` begins with `<`; returns what follows it.
    fn tag<'a>(&mut self, tag: &'a str) -> &'a str {
        if let Some(comment) = tag.strip_prefix("<!--") {
            return comment.split_once("-->").map_or("", |(_, rest)| rest);
        }
        let inside = tag.get(1..).unwrap_or_default();
        if !inside.starts_with(|first: char| first.is_ascii_alphabetic() || "/!?".contains(first)) {
            // A less-than sign in a text.
            self.text("<");
            return inside;
        }
        let Some((inside, rest)) = split_tag(inside) else { return "" };
        let (is_end, inside) = match inside.strip_prefix('/') {
            Some(inside) => (true, inside),
            None => (false, inside),
        };
        let name_end = inside.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(inside.len());
        let name = inside.get(..name_end).unwrap_or_default().to_ascii_lowercase();
        match name.as_str() {
            skipped if !is_end && SKIPPED.contains(&skipped) && !inside.ends_with('/') => {
                return after_end(rest, skipped);
            }
            "pre" => {
                self.line();
                self.pre = if is_end { self.pre.saturating_sub(1) } else { self.pre + 1 };
            }
            "h1" | "h2" | "h3" => {
                self.line();
                self.line();
                if !is_end {
                    self.out += if name == "h1" {
                        "# "
                    } else if name == "h2" {
                        "## "
                    } else {
                        "### "
                    };
                }
            }
            "li" if !is_end => {
                self.line();
                self.out += "- ";
            }
            "td" | "th" if is_end => self.space = true,
            "a" if !is_end => self.link = attribute(inside, "href"),
            "a" => {
                if let Some(link) = self.link.take().filter(|link| link.starts_with("http")) {
                    self.out += &format!(" ({link})");
                }
            }
            "p" => {
                self.line();
                self.line();
            }
            block if BLOCKS.contains(&block) => self.line(),
            _ => {}
        }
        rest
    }

    fn finish(self) -> String {
        let mut text = String::new();
        let mut blank = 0;
        for line in self.out.lines().map(str::trim_end) {
            blank = if line.is_empty() { blank + 1 } else { 0 };
            if blank < 2 {
                text += line;
                text.push('\n');
            }
        }
        text.trim().to_owned() + "\n"
    }
}

/// The inside of a tag and what follows it; a `>` in quotes does not end it.
fn split_tag(inside: &str) -> Option<(&str, &str)> {
    let mut quote = None;
    for (at, letter) in inside.char_indices() {
        match (letter, quote) {
            ('>', None) => return Some((inside.get(..at)?, inside.get(at + 1..)?)),
            ('"' | '\'', None) => quote = Some(letter),
            (letter, Some(open)) if letter == open => quote = None,
            _ => {}
        }
    }
    None
}

/// What follows the end tag of an element whose content is not text.
fn after_end<'a>(rest: &'a str, name: &str) -> &'a str {
    let mut from = rest;
    while let Some(at) = from.find("</") {
        let after = from.get(at + 2..).unwrap_or_default();
        if after.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name)) {
            return after.split_once('>').map_or("", |(_, rest)| rest);
        }
        from = after;
    }
    ""
}

fn attribute(inside: &str, name: &str) -> Option<String> {
    let lower = inside.to_ascii_lowercase();
    let at = lower.find(&format!(" {name}="))? + name.len() + 2;
    let value = inside.get(at..)?;
    let value = match value.chars().next()? {
        quote @ ('"' | '\'') => value.get(1..)?.split(quote).next()?,
        _ => value.split([' ', '>', '\n']).next()?,
    };
    Some(entities(value))
}

fn entities(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        let (before, from) = rest.split_at(at);
        out += before;
        let end = from.char_indices().take(12).find(|(_, letter)| *letter == ';').map(|(end, _)| end);
        let found = end.and_then(|end| Some((character(from.get(1..end)?)?, from.get(end + 1..)?)));
        match found {
            Some((character, after)) => {
                out.push(character);
                rest = after;
            }
            None => {
                out.push('&');
                rest = from.get(1..).unwrap_or_default();
            }
        }
    }
    out + rest
}

fn character(name: &str) -> Option<char> {
    let number = |digits: &str, radix| u32::from_str_radix(digits, radix).ok().and_then(char::from_u32);
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "nbsp" => Some(' '),
        "ndash" => Some('–'),
        "mdash" => Some('—'),
        "hellip" => Some('…'),
        "copy" => Some('©'),
        "lsquo" => Some('‘'),
        "rsquo" => Some('’'),
        "ldquo" => Some('“'),
        "rdquo" => Some('”'),
        _ => match name.strip_prefix('#')? {
            hex if hex.starts_with(['x', 'X']) => number(hex.get(1..)?, 16),
            decimal => number(decimal, 10),
        },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_page_reads_as_its_reader_sees_it() {
        let html = "<!DOCTYPE html><html><head><title>T &amp; C</title><style>p { x: '</p>' }</style>\
                    <script>if (a < b) { alert('</div>') }</script></head><body><!-- <p>no</p> -->\n\
                    <h1>Big</h1><p>One  two\n<b>three</b>.</p><p>Four &#8211; f&#xfc;nf &unknown; 1 < 2</p>\
                    <ul><li>a<li><a title='>' href=\"https://x.org/?a=1&amp;b=2\">b</a></ul>\
                    <pre>  x\n    y</pre><table><tr><td>1</td><td>2</td></tr></table></body>";
        assert_eq!(
            to_text(html),
            "T & C\n\n# Big\n\nOne two three.\n\nFour – fünf &unknown; 1 < 2\n\n- a\n- b (https://x.org/?a=1&b=2)\n\n  x\n    y\n\n1 2\n"
        );
    }

    #[test]
    fn what_is_broken_ends_all_the_same() {
        for html in
            ["<", "<p", "<!--", "<script>", "<a href='", "&#;", "&#xffffffff;", "</", "<script></scrip"]
        {
            to_text(html);
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(html in "[<>/a-c!&#;x0-9\"' é-]{0,200}") {
            to_text(&html);
        }
    }
}
