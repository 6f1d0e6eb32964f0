//! What was found as JUnit XML, which every CI reads. Pure.

use super::point::{Finding, Findings, NotPassed, Weight};

pub(crate) fn document(findings: &Findings) -> String {
    let suite = format!("linkspan conform {}", findings.protocol);
    let violations = findings.count("FAIL");
    let skipped = findings.count("skipped") + findings.count("differs");
    let cases: String = findings.findings.iter().map(|finding| case(&findings.protocol, finding)).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"{}\" tests=\"{}\" \
         failures=\"{violations}\" errors=\"0\" skipped=\"{skipped}\">\n{cases}  </testsuite>\n</testsuites>\n",
        escaped(&suite),
        findings.findings.len(),
    )
}

fn case(protocol: &str, finding: &Finding) -> String {
    let point = finding.point;
    let head = format!(
        "    <testcase classname=\"{}.{}\" name=\"{}: {}\"",
        escaped(protocol),
        escaped(point.area),
        escaped(point.id),
        escaped(point.what)
    );
    let inside = match &finding.outcome {
        Ok(()) => return head + "/>\n",
        // JUnit has no word for a difference that fails nothing.
        Err(NotPassed::Failed { expected, came }) if point.weight == Weight::Recommended => {
            let why = format!("recommended: expected {expected}; came {came}");
            format!("<skipped message=\"{}\"/>", escaped(&why))
        }
        Err(NotPassed::Failed { expected, came }) => {
            let message = escaped(&format!("expected {expected}; came {came}"));
            format!("<failure message=\"{message}\"/>")
        }
        Err(NotPassed::Skipped(why)) => format!("<skipped message=\"{}\"/>", escaped(why)),
    };
    format!("{head}>{inside}</testcase>\n")
}

/// For text and for attributes. XML cannot contain most control characters, not even escaped.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\n' | '\t' | '\r' => escaped += &format!("&#{};", u32::from(character)),
            control if control.is_control() || matches!(control, '\u{fffe}' | '\u{ffff}') => {
                escaped.push(char::REPLACEMENT_CHARACTER);
            }
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::scripts::conform::report::tests::sample;

    #[test]
    fn a_ci_can_read_it_whatever_a_peer_sent() {
        let xml = document(&sample());
        assert!(xml.contains("tests=\"4\" failures=\"1\" errors=\"0\" skipped=\"2\""), "{xml}");
        assert!(
            xml.contains("<failure message=\"expected a &quot;b&quot;; came \u{fffd}[31m&lt;c&gt;\"/>"),
            "{xml}"
        );
        assert!(!xml.contains('\u{1b}'));
        assert_eq!(xml.matches("<testcase").count(), 4);
    }
}
