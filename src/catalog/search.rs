//! Rows by the words in them.

use serde_json::Value;

use crate::types::first;

use super::fact::{Cite, Fact};
use super::lookup::nearest;
use super::tables::Catalog;

/// A row that holds all the words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Its kind, as catalog files write it.
    pub kind: &'static str,
    /// As it is cited.
    pub fact: Fact,
}

impl Catalog {
    /// The rows in which every word occurs, upper and lower case alike; those whose id holds all of them come first.
    pub fn search(&self, words: &[String]) -> Vec<Hit> {
        let words: Vec<String> = words.iter().flat_map(|word| word.split_whitespace()).map(str::to_lowercase).collect();
        let mut hits: Vec<(bool, Hit)> = Vec::new();
        self.each(&mut |kind, row| {
            let id = row.id().to_lowercase();
            let in_id = words.iter().all(|word| id.contains(word.as_str()));
            let text = if in_id { String::new() } else { row.text().to_lowercase() };
            if in_id
                || words.iter().all(|word| kind == word || id.contains(word.as_str()) || text.contains(word.as_str()))
            {
                hits.push((!in_id, Hit { kind, fact: row.fact(self) }));
            }
        });
        first(hits, |(later, _)| !later).into_iter().map(|(_, hit)| hit).collect()
    }

    /// The ids that come nearest to a name.
    pub fn ids_like(&self, name: &str) -> Vec<String> {
        let mut ids = Vec::new();
        self.each(&mut |_, row| ids.push(row.id()));
        nearest(&name.to_lowercase(), ids.into_iter().map(|id| (id.to_lowercase(), id)))
    }

    /// Every row of every table, without its type.
    fn each(&self, see: &mut dyn FnMut(&'static str, &dyn Told)) {
        fn all<'c, R: Cite + 'c>(
            kind: &'static str,
            rows: impl IntoIterator<Item = &'c R>,
            see: &mut dyn FnMut(&'static str, &dyn Told),
        ) {
            rows.into_iter().for_each(|row| see(kind, row));
        }
        all("gpu", &self.gpus, see);
        all("branch", &self.branches, see);
        all("driver", &self.drivers, see);
        all("toolkit", &self.toolkits, see);
        all("windows_driver", &self.windows_drivers, see);
        all("ptx_isa", &self.ptx_isas, see);
        all("compat", &self.compats, see);
        all("cudnn", &self.cudnns, see);
        all("nccl", &self.nccls, see);
        all("build", self.builds.iter(), see);
        all("other_build", &self.other_builds, see);
        all("companion", self.companions.iter(), see);
        all("source_build", &self.source_builds, see);
        all("finished_wheel", &self.finished_wheels, see);
        all("listing", self.listings.iter(), see);
        all("practice", &self.practices, see);
        all("libraries", self.libraries.iter(), see);
        all("extension", &self.extensions, see);
        all("os", &self.oses, see);
        all("image", self.images.iter(), see);
        all("image_require", &self.image_requires, see);
        all("module", &self.modules, see);
        all("service", &self.services, see);
        all("asks", self.asks.iter(), see);
        all("shared_module", &self.shared_modules, see);
        all("ptxas", &self.ptxases, see);
        all("python", &self.pythons, see);
        all("python_patch", &self.python_patches, see);
        all("rule", &self.rules, see);
        all("law", &self.laws, see);
        all("diagnosis", &self.diagnoses, see);
        all("clue", &self.clues, see);
        all("source", &self.sources, see);
    }
}

/// A row without its type.
trait Told {
    fn id(&self) -> String;
    fn fact(&self, catalog: &Catalog) -> Fact;
    /// Its values, one after the other.
    fn text(&self) -> String;
}

impl<R: Cite> Told for R {
    fn id(&self) -> String {
        super::Row::id(self)
    }

    fn fact(&self, catalog: &Catalog) -> Fact {
        catalog.cite(self)
    }

    fn text(&self) -> String {
        values(serde_json::to_value(self).unwrap_or_default())
    }
}

/// Every text within a value, a line each.
fn values(value: Value) -> String {
    let mut text = String::new();
    let mut rest = vec![value];
    while let Some(value) = rest.pop() {
        match value {
            Value::String(value) => text.extend([&value, "\n"]),
            Value::Array(values) => rest.extend(values),
            Value::Object(fields) => rest.extend(fields.into_iter().map(|(_, value)| value)),
            _ => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::BUILTIN;

    #[test]
    fn every_table_is_searched() {
        let mut seen = 0;
        BUILTIN.each(&mut |_, _| seen += 1);
        assert_eq!(seen, BUILTIN.rows().count());
    }

    #[test]
    fn all_words_must_occur_and_ids_come_first() {
        let ids = |words: &[&str]| -> Vec<String> {
            let words: Vec<String> = words.iter().map(ToString::to_string).collect();
            BUILTIN.search(&words).into_iter().map(|hit| hit.fact.id).collect()
        };
        assert_eq!(ids(&["rtx", "5090 D", "v2"]), ["gpu NVIDIA GeForce RTX 5090 D v2 12.0"]);
        assert!(ids(&["12.4.1"])[0].contains("12.4.1"));
        assert!(ids(&["rule", "driver"]).iter().any(|id| id == "cuda-12-driver"));
        assert_eq!(ids(&["nosuchword"]), Vec::<String>::new());
    }
}
