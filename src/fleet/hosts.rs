//! The hosts in a JSON document: a record, a record with its host's name, or a cluster's list of nodes.

use serde::Deserialize;

use crate::host::{self, Record};
use crate::types::plain::plain_types;

use super::split::Piece;
use super::{Host, nodes};

/// A record with the name of its host, as `gpuenv fleet job` gathers them.
#[derive(Deserialize)]
struct Named {
    #[serde(alias = "name", alias = "node")]
    host: String,
    /// None: the probe failed on that host.
    record: Option<Record>,
}

/// The name alone, where the record cannot be read.
#[derive(Deserialize)]
struct Name {
    #[serde(alias = "name", alias = "node")]
    host: String,
}

/// A named record says so at its very beginning.
const BEGINNING: usize = 400;

/// The hosts of a document that stands in `source`. A file with one host gives it its name: `alone`.
/// What another program wrote before the lines is the name of what has none itself.
pub fn of_document(piece: &Piece, source: &str, alone: bool) -> Vec<Host> {
    let place = || match &piece.name {
        Some(name) => name.clone(),
        None if alone => source.to_string(),
        None => format!("{source}:{}", piece.line),
    };
    let unreadable = |why: String| vec![Host { name: place(), record: Err(why) }];
    if !piece.whole {
        return unreadable("the JSON is cut off".to_string());
    }
    let Ok(text) = std::str::from_utf8(&piece.bytes) else { return unreadable("this is not UTF-8".to_string()) };
    let text = text.trim().trim_start_matches('\u{feff}');
    let head = &text.as_bytes()[..text.len().min(BEGINNING)];
    let says = |word: &[u8]| head.windows(word.len()).any(|window| window == word);
    // What a filter made of a list may begin with its items.
    if says(b"\"apiVersion\"") || says(b"\"items\"") {
        return nodes::of_list(text).unwrap_or_else(unreadable);
    }
    if says(b"\"record\"") {
        return match serde_json::from_str::<Named>(text) {
            Ok(Named { host, record: Some(record) }) => vec![Host { name: host, record: checked(record) }],
            Ok(Named { host, record: None }) => {
                let why = "`gpuenv probe` failed on this host and wrote no record".to_string();
                vec![Host { name: host, record: Err(why) }]
            }
            Err(error) => {
                let why = plain_types(&error.to_string());
                let name = serde_json::from_str::<Name>(text).map_or_else(|_| place(), |named| named.host);
                vec![Host { name, record: Err(why) }]
            }
        };
    }
    let record = match serde_json::from_str::<Record>(text) {
        Ok(record) => checked(record),
        Err(_) => match (host::read_any(text), serde_json::from_str::<Name>(text)) {
            (Err(_), Ok(Name { host })) => {
                let why = "only the name of this host stands here: run `gpuenv probe` on it and gather its record";
                return vec![Host { name: host, record: Err(why.to_string()) }];
            }
            // The reader of single hosts knows what is wrong.
            (read, _) => read.map_err(|error| error.to_string()),
        },
    };
    vec![Host { name: place(), record }]
}

fn checked(record: Record) -> Result<Record, String> {
    match record.format {
        0 => Err("this host record does not state its `format`".to_string()),
        format if format > host::record::FORMAT => {
            Err(format!("the record has format {format}, which a newer gpuenv wrote"))
        }
        _ => record.excess().map_or(Ok(record), Err),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<(String, Result<(), String>)> {
        let piece = Piece { line: 7, bytes: text.as_bytes().to_vec(), whole: true, name: None };
        of_document(&piece, "hosts.ndjson", false).into_iter().map(|host| (host.name, host.record.map(drop))).collect()
    }

    #[test]
    fn records_have_names_or_places() {
        assert_eq!(of("{\"format\": 1}"), [("hosts.ndjson:7".to_string(), Ok(()))]);
        assert_eq!(of("{\"host\": \"a\", \"record\": {\"format\": 1}}"), [("a".to_string(), Ok(()))]);
        for broken in ["{\"format\": 99}", "{\"format\": 1, \"x\": 2}", "{}", "{\"host\": \"a\", \"record\": 1}"] {
            assert!(of(broken)[0].1.is_err(), "{broken}");
        }
        let failed = of("{\"host\":\"node7\",\"record\":null}");
        assert_eq!(failed[0].0, "node7");
        assert!(failed[0].1.as_ref().is_err_and(|why| why.contains("failed on this host")), "{failed:?}");
        assert_eq!(of("{\"host\": \"b\", \"record\": {\"format\": 1, \"x\": 2}}")[0].0, "b");
        assert_eq!(of("{\"host\": \"c\"}")[0].0, "c");
    }
}
