//! What was found as text for people and as JSON. Pure.

use serde_json::{Value, json};

use super::point::{Finding, Findings, NotPassed};
use crate::cli::output::{ADDED, DIM, HEAD, REMOVED, WARNING, count, styled};
use crate::visible::name;

/// A list by area, one line for each point, and below it what came instead.
pub(crate) fn text(findings: &Findings) -> String {
    let Findings { protocol, peer, name: own_name, .. } = findings;
    let own_name = own_name.as_ref().map(|own| format!(", which calls itself {}", name(own)));
    let mut text = format!("{protocol}: {}{}\n", name(peer), own_name.unwrap_or_default());
    for note in &findings.notes {
        text += &format!("{}\n", name(note));
    }
    let width = findings.findings.iter().map(|finding| finding.point.id.len()).max().unwrap_or_default();
    let mut area = "";
    for finding in &findings.findings {
        if finding.point.area != area {
            area = finding.point.area;
            text += &format!("\n{}\n", styled(HEAD, area));
        }
        text += &line(finding, width);
    }
    text + "\n" + &summary(findings)
}

/// A message in the words of a report.
pub(crate) fn excerpt(message: &Value) -> String {
    const LONGEST: usize = 200;
    let text = match message {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// The columns are the result, the id and the sentence.
fn line(finding: &Finding, width: usize) -> String {
    let word = format!("{:<7}", finding.word());
    let style = match finding.word() {
        "pass" => ADDED,
        "FAIL" => REMOVED,
        "differs" => WARNING,
        _ => DIM,
    };
    let indent = " ".repeat(2 + 7 + 2 + width + 2);
    let mut line =
        format!("  {}  {:<width$}  {}\n", styled(style, &word), finding.point.id, finding.point.what);
    match &finding.outcome {
        Ok(()) => {}
        Err(NotPassed::Failed { expected, came }) => {
            line += &format!("{indent}expected: {}\n{indent}came: {}\n", name(expected), name(came));
        }
        Err(NotPassed::Skipped(why)) => line += &format!("{indent}{}\n", name(why)),
    }
    line
}

fn summary(findings: &Findings) -> String {
    let points = |word| count(u64::try_from(findings.count(word)).unwrap_or(u64::MAX), "point");
    let mut parts = vec![format!("{} passed", points("pass"))];
    for (word, ending) in
        [("FAIL", "failed"), ("differs", "different from what is recommended"), ("skipped", "skipped")]
    {
        if findings.count(word) > 0 {
            parts.push(format!("{} {ending}", findings.count(word)));
        }
    }
    let verdict = if findings.conforms() { "it conforms" } else { "it does not conform" };
    format!("{}: {verdict}", parts.join(", "))
}

pub(crate) fn json(findings: &Findings) -> Value {
    let points: Vec<Value> = findings.findings.iter().map(point).collect();
    json!({
        "conforms": findings.conforms(),
        "protocol": findings.protocol,
        "peer": findings.peer,
        "name": findings.name,
        "notes": findings.notes,
        "passed": findings.count("pass"),
        "failed": findings.count("FAIL"),
        "different": findings.count("differs"),
        "skipped": findings.count("skipped"),
        "points": points,
    })
}

fn point(finding: &Finding) -> Value {
    let Finding { point, outcome } = finding;
    let mut listed = json!({
        "id": point.id,
        "area": point.area,
        "what": point.what,
        "weight": point.weight.name(),
        "result": if finding.has_failed() { "fail" } else { finding.word() },
    });
    match outcome {
        Ok(()) => {}
        Err(NotPassed::Failed { expected, came }) => {
            listed["expected"] = json!(expected);
            listed["came"] = json!(came);
        }
        Err(NotPassed::Skipped(why)) => listed["why"] = json!(why),
    }
    listed
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::commands::scripts::conform::point::{Point, Weight, failed, skipped};

    pub(crate) fn sample() -> Findings {
        let point = |id, weight| Point { id, area: "Errors", what: "Something is so", weight };
        let finding = |id, weight, outcome| Finding { point: point(id, weight), outcome };
        Findings {
            protocol: "claude".into(),
            peer: "127.0.0.1:1".into(),
            name: Some("an <editor>".into()),
            notes: vec!["wrote a file".into()],
            findings: vec![
                finding("good", Weight::Required, Ok(())),
                finding("bad", Weight::Required, Err(failed("a \"b\"", "\u{1b}[31m<c>"))),
                finding("other", Weight::Recommended, Err(failed("x", "y"))),
                finding("not-here", Weight::Required, Err(skipped("there is none"))),
            ],
        }
    }

    #[test]
    fn the_columns_line_up_and_nothing_controls_the_terminal() {
        let text = anstream::adapter::strip_str(&text(&sample())).to_string();
        let column = |line: &str| text.lines().find(|found| found.contains(line)).unwrap().find("Something");
        assert_eq!(column("good"), column("not-here"));
        assert!(text.contains("FAIL     bad ") && text.contains("expected: a \"b\""), "{text}");
        assert!(!text.contains('\u{1b}'), "{text:?}");
        assert!(text.ends_with("it does not conform"), "{text}");
    }

    #[test]
    fn only_required_points_decide() {
        let mut findings = sample();
        assert!(!findings.conforms());
        findings.findings.remove(1);
        assert!(findings.conforms());
        assert_eq!(json(&findings)["points"][1]["result"], "fail");
        findings.findings.remove(0);
        assert!(!findings.conforms(), "nothing was seen to work");
    }
}
