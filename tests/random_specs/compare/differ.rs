//! In what two outcomes of a step differ, by category.

use serde_json::Value;

use crate::run::Came;

/// The categories that say whether the answer is another one; the rest is how it is told.
pub const VERDICT: &[&str] = &["exit", "timeout", "status", "errors", "culprits", "stack", "lock"];

/// A category, and what stands in both.
pub struct Difference {
    pub category: String,
    pub left: String,
    pub right: String,
}

/// Everything in which two outcomes differ.
pub fn differences(left: &Came, right: &Came) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut differ = |category: &str, a: String, b: String| {
        if a != b {
            found.push(Difference { category: category.to_string(), left: a, right: b });
        }
    };
    differ("timeout", left.timed_out.to_string(), right.timed_out.to_string());
    differ("exit", format!("{:?}", left.code), format!("{:?}", right.code));
    let (a, b) = (&left.json, &right.json);
    for key in ["status", "stack", "targets", "wheels", "arch_list", "code", "alternatives", "gave_up", "reasons"] {
        differ(key, shown(&a[key]), shown(&b[key]));
    }
    differ("culprits", each(a, &["conflicts"], "culprits"), each(b, &["conflicts"], "culprits"));
    differ("further", each(a, &["further"], "culprits"), each(b, &["further"], "culprits"));
    for part in ["code", "facts", "explanation"] {
        let lists: &[&str] = &["conflicts", "further"];
        differ(&format!("{part} of conflicts"), each(a, lists, part), each(b, lists, part));
    }
    differ("fixes", each(a, &["fixes"], "changes"), each(b, &["fixes"], "changes"));
    differ("fixes' stack", each(a, &["fixes"], "stack"), each(b, &["fixes"], "stack"));
    differ("fixes' advice", each(a, &["fixes"], "advice"), each(b, &["fixes"], "advice"));
    differ("warning codes", each(a, &["warnings"], "code"), each(b, &["warnings"], "code"));
    differ("warning keys", each(a, &["warnings"], "keys"), each(b, &["warnings"], "keys"));
    differ("warning messages", each(a, &["warnings"], "message"), each(b, &["warnings"], "message"));
    differ("errors", each(a, &["errors"], "code"), each(b, &["errors"], "code"));
    differ("error messages", shown(&a["errors"]), shown(&b["errors"]));
    differ("other", rest(a), rest(b));
    differ("lock", lines(left), lines(right));
    found
}

fn shown(value: &Value) -> String {
    if value.is_null() { String::new() } else { value.to_string() }
}

/// One field of every entry of some lists.
fn each(document: &Value, lists: &[&str], field: &str) -> String {
    let entries = lists.iter().flat_map(|list| document[*list].as_array().into_iter().flatten());
    entries.map(|entry| shown(&entry[field])).collect::<Vec<_>>().join("\n")
}

/// What no category above is about.
fn rest(document: &Value) -> String {
    let Some(fields) = document.as_object() else { return shown(document) };
    let known = [
        "status",
        "stack",
        "targets",
        "wheels",
        "arch_list",
        "code",
        "alternatives",
        "gave_up",
        "reasons",
        "conflicts",
        "further",
        "fixes",
        "warnings",
        "errors",
        "culprits",
        "explanation",
        "facts",
    ];
    let left = fields.iter().filter(|(key, _)| !known.contains(&key.as_str()));
    left.map(|(key, value)| format!("{key} = {value}\n")).collect()
}

fn lines(came: &Came) -> String {
    came.lock.as_ref().map_or(String::new(), |lock| String::from_utf8_lossy(lock).into_owned())
}

/// The lines that one text has and the other lacks, for showing; texts on one line as they are.
pub fn pruned(difference: &Difference) -> (String, String) {
    let (left, right) = (&difference.left, &difference.right);
    let only = |of: &str, not: &str| {
        let known: Vec<&str> = not.lines().collect();
        of.lines().filter(|line| !known.contains(line)).collect::<Vec<_>>().join("\n")
    };
    let (a, b) = (only(left, right), only(right, left));
    if a.is_empty() && b.is_empty() { (left.clone(), right.clone()) } else { (a, b) }
}
