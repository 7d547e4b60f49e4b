//! Tables that few questions read lie apart in a packed catalog: deflated, each group with texts of its own. A command inflates
//! those that it reads.

use serde::{Deserialize, Serialize};

use crate::types::packed::{Numbered, Numbering, Parts, ends};
use crate::types::prose;

/// Their kinds.
pub const KINDS: [&str; 5] = ["clue", "diagnosis", "finished_wheel", "image_require", "other_build"];
/// No table is larger once it is inflated: some twenty times today's.
const MAX_BYTES: usize = 8 << 20;

/// What is deflated.
#[derive(Serialize, Deserialize)]
struct Body<'a> {
    texts: &'a str,
    #[serde(borrow)]
    text_ends: &'a [u8],
    versions: &'a str,
    #[serde(borrow)]
    version_ends: &'a [u8],
    #[serde(borrow)]
    prose: &'a [u8],
    #[serde(borrow)]
    rows: &'a [u8],
}

/// Rows, and what the numbers in them count in.
pub fn pack(rows: &[u8], numbered: &Numbering, level: u8) -> Result<Vec<u8>, postcard::Error> {
    let (texts, versions) = (&numbered.texts.all, &numbered.versions.all);
    let body = postcard::to_allocvec(&Body {
        texts: &texts.concat(),
        text_ends: &ends(texts),
        versions: &versions.concat(),
        version_ends: &ends(versions),
        // Deflated with the rest, once.
        prose: &prose::deflate(&numbered.prose.all, 0)?,
        rows,
    })?;
    Ok(miniz_oxide::deflate::compress_to_vec(&body, level))
}

/// The same again, kept for the rest of the process; none where the bytes are something else.
pub fn open(bytes: &[u8]) -> Option<(&'static [u8], &'static Numbered)> {
    let body = miniz_oxide::inflate::decompress_to_vec_with_limit(bytes, MAX_BYTES).ok()?;
    let body: Body<'static> = postcard::from_bytes(body.leak()).ok()?;
    let texts = Parts { all: body.texts, ends: body.text_ends };
    let versions = Parts { all: body.versions, ends: body.version_ends };
    Some((body.rows, Numbered::new(texts, versions, body.prose)))
}
