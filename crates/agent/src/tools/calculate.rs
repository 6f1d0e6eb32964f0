//! `calculate`: arithmetic on decimal numbers, with a parser of its own. Nothing else can be expressed.

use super::ToolContext;
use super::answer::Answer;
use super::arguments::{ParameterKind, ToolArguments, required};
use super::toolbox::{AgentTools, LocalTool};
use crate::permissions::ToolKind;

const LONGEST: usize = 1000;
const DEEPEST: u32 = 50;

pub(crate) const TOOLS: &[LocalTool] = &[LocalTool {
    name: "calculate",
    kind: ToolKind::Read,
    about: "Compute an expression: + - * / % **, parentheses, sqrt abs min max round, pi and e.",
    parameters: &[required("expression", ParameterKind::Text, "Such as `(1.5 + 2) ** 2 / max(3, 4)`.")],
    run,
}];

fn run(_: &AgentTools, arguments: &ToolArguments<'_>, _: &ToolContext) -> Answer {
    let expression = arguments.needed("expression");
    Ok(format!("{expression} = {}", shown(calculate(expression)?)))
}

/// Whole numbers without a fraction as far as they are exact.
fn shown(number: f64) -> String {
    /// Above this, not every whole number is one of these.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number == 0.0 {
        "0".to_owned()
    } else if number.abs() > EXACT || number.abs() < 1e-9 {
        format!("{number:e}")
    } else {
        format!("{number}")
    }
}

pub(crate) fn calculate(expression: &str) -> Result<f64, String> {
    if expression.len() > LONGEST {
        return Err(format!("the expression is longer than {LONGEST} bytes"));
    }
    let mut parser = Parser { rest: expression, depth: 0 };
    let number = parser.sum()?;
    parser.skip_spaces();
    if let Some(odd) = parser.rest.chars().next() {
        return Err(parser.unexpected(odd, expression));
    }
    if number.is_finite() { Ok(number) } else { Err("the result is not a finite number".to_owned()) }
}

struct Parser<'a> {
    rest: &'a str,
    depth: u32,
}

impl<'a> Parser<'a> {
    fn unexpected(&self, odd: char, whole: &str) -> String {
        let at = whole.len().saturating_sub(self.rest.len()) + 1;
        format!(
            "`{odd}` at position {at} is not expected; there are numbers, + - * / % **, parentheses, sqrt abs min max round, pi and e"
        )
    }

    fn skip_spaces(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn take(&mut self, token: &str) -> bool {
        self.skip_spaces();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn sum(&mut self) -> Result<f64, String> {
        let mut value = self.product()?;
        loop {
            if self.take("+") {
                value += self.product()?;
            } else if self.take("-") {
                value -= self.product()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn product(&mut self) -> Result<f64, String> {
        let mut value = self.signed()?;
        loop {
            self.skip_spaces();
            let is_power = self.rest.starts_with("**");
            if !is_power && self.take("*") {
                value *= self.signed()?;
            } else if self.take("/") {
                let by = self.signed()?;
                value = if by == 0.0 { Err("division by zero")? } else { value / by };
            } else if self.take("%") {
                let by = self.signed()?;
                // The sign is that of the divisor, as in Python.
                value = if by == 0.0 { Err("division by zero")? } else { value - by * (value / by).floor() };
            } else {
                return Ok(value);
            }
        }
    }

    /// A sign binds less than a power: `-2 ** 2` is -4.
    fn signed(&mut self) -> Result<f64, String> {
        self.nested(|parser| {
            if parser.take("-") {
                Ok(-parser.signed()?)
            } else if parser.take("+") {
                parser.signed()
            } else {
                parser.power()
            }
        })
    }

    /// From the right: `2 ** 3 ** 2` is 512.
    fn power(&mut self) -> Result<f64, String> {
        let base = self.atom()?;
        if self.take("**") { Ok(base.powf(self.signed()?)) } else { Ok(base) }
    }

    fn nested(&mut self, inner: impl FnOnce(&mut Self) -> Result<f64, String>) -> Result<f64, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("the expression is nested more than {DEEPEST} deep"));
        }
        let value = inner(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn atom(&mut self) -> Result<f64, String> {
        if self.take("(") {
            let value = self.sum()?;
            return if self.take(")") { Ok(value) } else { Err("a `)` is missing".to_owned()) };
        }
        let is_letter = |character: char| character.is_ascii_alphabetic();
        let letters = self.rest.find(|character| !is_letter(character)).unwrap_or(self.rest.len());
        if letters > 0 {
            let (name, rest) = self.rest.split_at(letters);
            self.rest = rest;
            return self.named(name);
        }
        self.number()
    }

    fn named(&mut self, name: &str) -> Result<f64, String> {
        match name {
            "pi" => return Ok(std::f64::consts::PI),
            "e" => return Ok(std::f64::consts::E),
            "sqrt" | "abs" | "round" | "min" | "max" => {}
            other => return Err(format!("there is no `{other}`; there are sqrt abs min max round pi e")),
        }
        if !self.take("(") {
            return Err(format!("`{name}` needs parentheses"));
        }
        let mut values = vec![self.sum()?];
        while self.take(",") {
            values.push(self.sum()?);
        }
        if !self.take(")") {
            return Err("a `)` is missing".to_owned());
        }
        match (name, values.as_slice()) {
            ("sqrt", [value]) if *value < 0.0 => Err("the square root of a negative number".to_owned()),
            ("sqrt", [value]) => Ok(value.sqrt()),
            ("abs", [value]) => Ok(value.abs()),
            ("round", [value]) => Ok(value.round_ties_even()),
            ("round", [value, digits]) if digits.fract() == 0.0 && digits.abs() <= 15.0 => {
                let scale = 10_f64.powf(*digits);
                Ok((value * scale).round_ties_even() / scale)
            }
            ("min", values) => Ok(values.iter().copied().fold(f64::INFINITY, f64::min)),
            ("max", values) => Ok(values.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
            _ => Err(format!("`{name}` has the wrong number of arguments")),
        }
    }

    fn number(&mut self) -> Result<f64, String> {
        let bytes = self.rest.as_bytes();
        let digits = |from: usize| bytes.iter().skip(from).take_while(|byte| byte.is_ascii_digit()).count();
        let mut end = digits(0);
        if bytes.get(end) == Some(&b'.') {
            end += 1 + digits(end + 1);
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let exponent = digits(end + 1 + sign);
            if exponent > 0 {
                end += 1 + sign + exponent;
            }
        }
        let (text, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        match text.parse::<f64>() {
            Ok(number) => {
                self.rest = rest;
                Ok(number)
            }
            Err(_) => Err(match self.rest.chars().next() {
                Some(odd) => format!("`{odd}` where a number should be"),
                None => "the expression ends where a number should be".to_owned(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn arithmetic_is_as_in_python() {
        for (expression, expected) in [
            ("1 + 2 * 3", 7.0),
            ("(1+2)*3", 9.0),
            ("2 ** 3 ** 2", 512.0),
            ("-2 ** 2", -4.0),
            ("2 ** -1", 0.5),
            ("-7 % 3", 2.0),
            ("7 % -3", -2.0),
            ("10 / 4", 2.5),
            ("1.5e3 + .5", 1500.5),
            ("2e", f64::NAN),
            ("sqrt(16) + abs(-3)", 7.0),
            ("min(3, 1, 2) + max(4)", 5.0),
            ("round(2.5) + round(3.14159, 2)", 5.14),
            ("2 * pi / pi", 2.0),
            (" - - 3 ", 3.0),
        ] {
            match calculate(expression) {
                Ok(found) => assert!((found - expected).abs() < 1e-9, "{expression} is {found}"),
                Err(error) => assert!(expected.is_nan(), "{expression}: {error}"),
            }
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (expression, wanted) in [
            ("1 / 0", "division by zero"),
            ("1 % 0", "division by zero"),
            ("sqrt(-1)", "negative"),
            ("2 +", "ends where a number"),
            ("(1", "`)` is missing"),
            ("import os", "there is no `import`"),
            ("1 $ 2", "`$` at position 3"),
            ("9 ** 9 ** 9", "not a finite"),
            ("sqrt(1, 2)", "wrong number"),
            ("", "ends where"),
        ] {
            let error = calculate(expression).unwrap_err();
            assert!(error.contains(wanted), "{expression}: {error}");
        }
        assert!(calculate(&"(".repeat(500)).unwrap_err().contains("nested"));
        assert!(calculate(&"-".repeat(500)).unwrap_err().contains("nested"));
        assert!(calculate(&"1+".repeat(5000)).unwrap_err().contains("longer"));
        assert_eq!(shown(6.0), "6");
        assert_eq!(shown(1e300), "1e300");
    }

    proptest! {
        #[test]
        fn no_expression_panics(expression in "[0-9+*/%().,a-z e-]{0,80}") {
            let _ = calculate(&expression);
        }

        #[test]
        fn sums_are_sums(one in -1e6..1e6f64, two in -1e6..1e6f64) {
            let found = calculate(&format!("({one}) + ({two})")).unwrap();
            prop_assert!((found - (one + two)).abs() < 1e-6);
        }
    }
}
