//! The colours, by the terminal's colour depth and for dark and light backgrounds. Without colours everything is still
//! distinguishable: by signs, bold, underline and inverse.

use ratatui::style::{Color, Modifier, Style};

use crate::paint::Ink;

/// How many colours the terminal has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// No colours, or none wanted.
    None,
    /// The sixteen colours of the terminal's theme.
    Sixteen,
    /// The fixed 256 colours.
    Indexed,
    /// True colour.
    True,
}

impl Depth {
    /// From the environment, by the usual conventions.
    pub fn from_env(variable: impl Fn(&str) -> Option<String>) -> Depth {
        let term = variable("TERM").unwrap_or_default();
        let colorterm = variable("COLORTERM").unwrap_or_default();
        if variable("NO_COLOR").is_some_and(|value| !value.is_empty()) || term == "dumb" {
            Depth::None
        } else if colorterm.contains("truecolor") || colorterm.contains("24bit") || term.ends_with("-direct")
        {
            Depth::True
        } else if term.contains("256color") {
            Depth::Indexed
        } else {
            Depth::Sixteen
        }
    }
}

/// The terminal's background.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ground {
    /// Light on dark.
    Dark,
    /// Dark on light.
    Light,
}

impl Ground {
    /// From `COLORFGBG`, which some terminals set; dark if it is not set.
    pub fn from_env(variable: impl Fn(&str) -> Option<String>) -> Ground {
        let value = variable("COLORFGBG").unwrap_or_default();
        match value.rsplit(';').next() {
            Some("7" | "15") => Ground::Light,
            _ => Ground::Dark,
        }
    }
}

/// The style of each element.
#[derive(Debug, Clone)]
pub struct Palette {
    pub(crate) plain: Style,
    pub(crate) quiet: Style,
    pub(crate) strong: Style,
    pub(crate) good: Style,
    pub(crate) bad: Style,
    pub(crate) warning: Style,
    pub(crate) accent: Style,
    /// The bars at the top and the bottom.
    pub(crate) bar: Style,
    pub(crate) key: Style,
    pub(crate) selected: Style,
    pub(crate) cursor: Style,
    pub(crate) hunk: Style,
    pub(crate) hunk_here: Style,
    pub(crate) fold: Style,
    pub(crate) added: Style,
    pub(crate) added_word: Style,
    pub(crate) removed: Style,
    pub(crate) removed_word: Style,
    pub(crate) absent: Style,
    pub(crate) comment: Style,
    pub(crate) found: Style,
    pub(crate) hidden: Style,
    pub(crate) popup: Style,
    coloured_code: bool,
    inks: [Style; 7],
}

impl Palette {
    /// The palette for a terminal.
    pub fn new(depth: Depth, ground: Ground) -> Palette {
        match depth {
            Depth::None => Palette::colourless(),
            Depth::Sixteen => Palette::sixteen(),
            Depth::Indexed | Depth::True => Palette::full(depth, ground),
        }
    }

    pub(crate) fn ink(&self, ink: Ink) -> Style {
        let at = match ink {
            Ink::Comment => 0,
            Ink::Text => 1,
            Ink::Number => 2,
            Ink::Keyword => 3,
            Ink::Function => 4,
            Ink::Type => 5,
            Ink::Attribute => 6,
        };
        self.inks.get(at).copied().unwrap_or_default()
    }

    /// Whether changed lines keep the colours of their code.
    pub(crate) fn colours_changes(&self) -> bool {
        self.coloured_code
    }

    fn colourless() -> Palette {
        let (plain, bold) = (Style::new(), Style::new().add_modifier(Modifier::BOLD));
        let (dim, inverse) =
            (Style::new().add_modifier(Modifier::DIM), Style::new().add_modifier(Modifier::REVERSED));
        let line = Style::new().add_modifier(Modifier::UNDERLINED);
        Palette {
            plain,
            quiet: dim,
            strong: bold,
            good: bold,
            bad: bold,
            warning: bold,
            accent: bold,
            bar: inverse,
            key: inverse.add_modifier(Modifier::BOLD),
            selected: inverse,
            cursor: bold,
            hunk: dim,
            hunk_here: bold,
            fold: dim,
            added: plain,
            added_word: line,
            removed: plain,
            removed_word: line,
            absent: dim,
            comment: bold,
            found: inverse,
            hidden: inverse,
            popup: plain,
            coloured_code: false,
            inks: [plain; 7],
        }
    }

    fn sixteen() -> Palette {
        let fg = |colour| Style::new().fg(colour);
        let inverse = Modifier::REVERSED;
        Palette {
            good: fg(Color::Green),
            bad: fg(Color::Red),
            warning: fg(Color::Yellow),
            accent: fg(Color::Cyan),
            hunk: fg(Color::Cyan),
            hunk_here: fg(Color::Cyan).add_modifier(Modifier::BOLD),
            added: fg(Color::Green),
            added_word: fg(Color::Green).add_modifier(inverse),
            removed: fg(Color::Red),
            removed_word: fg(Color::Red).add_modifier(inverse),
            comment: fg(Color::Yellow),
            found: Style::new().fg(Color::Black).bg(Color::Yellow),
            hidden: fg(Color::Magenta).add_modifier(inverse),
            inks: [
                fg(Color::DarkGray),
                fg(Color::Green),
                fg(Color::Magenta),
                fg(Color::Blue),
                fg(Color::Cyan),
                fg(Color::Yellow),
                fg(Color::Cyan),
            ],
            ..Palette::colourless()
        }
    }

    fn full(depth: Depth, ground: Ground) -> Palette {
        let tint = |dark: u32, light: u32| {
            let [_, red, green, blue] = if ground == Ground::Dark { dark } else { light }.to_be_bytes();
            match depth {
                Depth::True => Color::Rgb(red, green, blue),
                _ => indexed(red, green, blue),
            }
        };
        let fg = |dark, light| Style::new().fg(tint(dark, light));
        let bar = Style::new().fg(tint(0xc8_cdd8, 0x30_3642)).bg(tint(0x26_2b36, 0xe3_e6ec));
        let (bold, bg) = (Modifier::BOLD, |dark, light| Style::new().bg(tint(dark, light)));
        Palette {
            plain: Style::new(),
            quiet: fg(0x78_8090, 0x75_7b87),
            strong: Style::new().add_modifier(bold),
            good: fg(0x6f_cf8a, 0x1b_7a3a),
            bad: fg(0xf0_7f82, 0xb4_2a33),
            warning: fg(0xe8_b85c, 0x96_6200),
            accent: fg(0x6c_b6f5, 0x1a_66b0),
            bar,
            key: bar.fg(tint(0xf2_d48a, 0x7a_4f00)).add_modifier(bold),
            selected: bg(0x2e_3a50, 0xd2_e1f5).add_modifier(bold),
            cursor: bg(0x2a_3040, 0xe9_edf4),
            hunk: fg(0x8a_93a6, 0x5d_6675).bg(tint(0x1e_222b, 0xf0_f2f5)),
            hunk_here: fg(0x9c_cdfa, 0x12_5a9e).bg(tint(0x22_3049, 0xdc_e9f8)).add_modifier(bold),
            fold: fg(0x6b_7588, 0x7a_8290),
            added: bg(0x12_2f20, 0xdf_f5e4),
            added_word: bg(0x1f_6a3c, 0xa4_e3b4),
            removed: bg(0x3b_1a20, 0xfd_e3e4),
            removed_word: bg(0x86_2f3b, 0xf7_b4b9),
            absent: bg(0x17_1a20, 0xf4_f5f7),
            comment: fg(0xf2_d48a, 0x6d_4a00).bg(tint(0x33_2c18, 0xfb_f1d6)),
            found: Style::new().fg(tint(0x10_1010, 0x10_1010)).bg(tint(0xf5_c542, 0xff_d75e)),
            hidden: Style::new()
                .fg(tint(0xff_ffff, 0xff_ffff))
                .bg(tint(0xb0_3a8c, 0xa8_2f82))
                .add_modifier(bold),
            popup: Style::new(),
            coloured_code: true,
            inks: [
                fg(0x7d_8799, 0x6e_7781).add_modifier(Modifier::ITALIC),
                fg(0xa5_d6a0, 0x1f_6f43),
                fg(0xe5_a97a, 0x9a_4a00),
                fg(0xc3_9af0, 0x7a_3bb5),
                fg(0x7f_bcf5, 0x1a_5fb4),
                fg(0xe8_cf8b, 0x8a_6100),
                fg(0x80_d0cf, 0x0b_6f74),
            ],
        }
    }
}

/// The nearest of the 256 colours that all terminals share: the cube and the greys.
fn indexed(red: u8, green: u8, blue: u8) -> Color {
    let level = |value: u8| match value {
        0..48 => 0,
        48..115 => 1,
        _ => (value - 35) / 40,
    };
    let of_level = |level: u8| if level == 0 { 0 } else { 55 + 40 * i32::from(level) };
    let distance = |other: [i32; 3]| {
        let wanted = [red, green, blue].map(i32::from);
        wanted.iter().zip(other).map(|(one, other)| (one - other).pow(2)).sum::<i32>()
    };
    let cube = [red, green, blue].map(level);
    let mean = (i32::from(red) + i32::from(green) + i32::from(blue)) / 3;
    let grey = u8::try_from(((mean - 3) / 10).clamp(0, 23)).unwrap_or_default();
    let [r, g, b] = cube;
    if distance([8 + 10 * i32::from(grey); 3]) < distance(cube.map(of_level)) {
        Color::Indexed(232 + grey)
    } else {
        Color::Indexed(16 + 36 * r + 6 * g + b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn depth(variables: &[(&str, &str)]) -> Depth {
        Depth::from_env(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_environment_says_how_many_colours() {
        assert_eq!(depth(&[("TERM", "xterm")]), Depth::Sixteen);
        assert_eq!(depth(&[("TERM", "screen-256color")]), Depth::Indexed);
        assert_eq!(depth(&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")]), Depth::True);
        assert_eq!(depth(&[("COLORTERM", "truecolor"), ("NO_COLOR", "1")]), Depth::None);
        assert_eq!(depth(&[("TERM", "xterm"), ("NO_COLOR", "")]), Depth::Sixteen);
    }

    #[test]
    fn without_colours_there_are_none() {
        let text = format!("{:?}", Palette::new(Depth::None, Ground::Dark));
        for colour in ["fg: Some", "bg: Some", ".fg(", ".bg("] {
            assert!(!text.contains(colour), "{text}");
        }
    }

    #[test]
    fn the_nearest_fixed_colours_are_found() {
        assert_eq!(indexed(0, 0, 0), Color::Indexed(16));
        assert_eq!(indexed(255, 255, 255), Color::Indexed(231));
        assert_eq!(indexed(128, 128, 128), Color::Indexed(244));
        assert_eq!(indexed(0, 95, 0), Color::Indexed(22));
    }
}
