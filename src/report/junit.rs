//! A verdict as JUnit XML, which test dashboards read: one suite a target, one case a check.

use std::fmt::Write;

use crate::types::name::is_unseen;
use crate::verify::{Check, Status, Verdict};

use super::screen::{markup, spelled_out};
use super::verdict::Judged;

impl Judged<'_> {
    /// The document.
    pub fn junit(&self) -> String {
        let mut xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"gpuenv verify\">\n".to_string();
        for verdict in std::iter::once(&self.best).chain(&self.others) {
            suite(&mut xml, verdict);
        }
        xml + "</testsuites>\n"
    }
}

fn suite(xml: &mut String, verdict: &Verdict) {
    let count = |status| verdict.checks.iter().filter(|check| check.status == status).count();
    let _ = writeln!(
        xml,
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">",
        escape(&verdict.target),
        verdict.checks.len(),
        count(Status::Fail),
        count(Status::Unknown),
        count(Status::Skip)
    );
    verdict.checks.iter().for_each(|check| case(xml, verdict, check));
    xml.push_str("  </testsuite>\n");
}

fn case(xml: &mut String, verdict: &Verdict, check: &Check) {
    let gpu = check.gpu.as_ref().map_or(String::new(), |gpu| format!(" [{gpu}]"));
    // Several packages have a check each.
    let of_package = |check: &&Check| check.id == "python-package" || check.id == "python-wheel";
    let package = Some(check).filter(of_package).and_then(|check| check.expected.as_deref()?.split(' ').next());
    let name = format!("{}{}{gpu}", check.id, package.map_or(String::new(), |package| format!(" [{package}]")));
    let _ = write!(xml, "    <testcase classname=\"{}\" name=\"{}\"", escape(&verdict.target), escape(&name));
    let message = escape(check.hint.as_deref().unwrap_or_default());
    let detail = escape(&told(check));
    let kind = check.action.as_str();
    let _ = match check.status {
        Status::Pass => writeln!(xml, "/>"),
        Status::Warn => writeln!(xml, "><system-out>{message}\n{detail}</system-out></testcase>"),
        Status::Skip => writeln!(xml, "><skipped message=\"{message}\"/></testcase>"),
        Status::Fail => writeln!(xml, "><failure type=\"{kind}\" message=\"{message}\">{detail}</failure></testcase>"),
        Status::Unknown => writeln!(xml, "><error type=\"{kind}\" message=\"{message}\">{detail}</error></testcase>"),
    };
}

fn told(check: &Check) -> String {
    let parts = [("expected", &check.expected), ("found", &check.found), ("evidence", &check.evidence)];
    let parts = parts.iter().filter_map(|(name, value)| Some(format!("{name}: {}", value.as_ref()?)));
    parts.collect::<Vec<_>>().join("\n")
}

/// Text for an attribute or an element. What XML cannot hold, or what would fool a reader, is spelled out.
fn escape(text: &str) -> String {
    let is_bad = |c: char| c != '\n' && is_unseen(c) || matches!(c, '\u{fffe}' | '\u{ffff}');
    markup(&spelled_out(text, |_, c| is_bad(c))).replace('\'', "&apos;").replace('\n', "&#10;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_breaks_out_of_an_element() {
        assert_eq!(escape("a<b>&\"'\n"), "a&lt;b&gt;&amp;&quot;&apos;&#10;");
        assert_eq!(escape("x\x1b[31m\0\u{ffff}"), "x\\u{1b}[31m\\u{0}\\u{ffff}");
    }
}
