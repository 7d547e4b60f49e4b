//! Who says it: a sentence that an overlay brings is a stranger's, and stands nowhere among gpuenv's own as if it were one.
//!
//! Whatever prints a row prints what this has made of it, so the overlay's place and the quotes are in every answer, in
//! explanations and in JSON alike.

use std::collections::HashMap;

use crate::catalog::tables::{Catalog, Row};
use crate::types::Text;
use crate::types::prose::Prose;

/// Has each sentence of these rows, by kind and id, say where it stands: `site.toml:12 says: "…"`.
pub fn attribute(laid: &mut Catalog, places: &HashMap<(&str, &str), String>) {
    let brings = |kind: &str| places.keys().any(|(of, _)| *of == kind);
    macro_rules! of {
        ($($kind:literal: $table:ident.$sentence:ident),+) => {
            $(if brings($kind) {
                for row in laid.$table.to_mut() {
                    if let Some(at) = places.get(&($kind, row.id().as_str())) {
                        row.$sentence = row.$sentence.said_by(at);
                    }
                }
            })+
        };
    }
    of!(
        "rule": rules.says,
        "asks": asks.says,
        "module": modules.says,
        "service": services.says,
        "practice": practices.says,
        "source_build": source_builds.cxx,
        "source": sources.note
    );
}

/// A text of a row that is a sentence.
trait Sentence {
    /// The same with who says it. It is quoted as a whole: no quote of its own ends it.
    fn said_by(&self, at: &str) -> Self;
}

impl Sentence for Text {
    fn said_by(&self, at: &str) -> Text {
        match self.is_empty() {
            true => *self,
            false => format!("{at} says: \"{}\"", self.replace('"', "'")).into(),
        }
    }
}

impl Sentence for Prose {
    fn said_by(&self, at: &str) -> Prose {
        Text::from(&**self).said_by(at).as_str().into()
    }
}

impl<T: Sentence> Sentence for Option<T> {
    fn said_by(&self, at: &str) -> Self {
        self.as_ref().map(|text| text.said_by(at))
    }
}
