//! The form in which a catalog travels: one file that a program reads at its start without parsing a text.
//!
//! A header says what it is, for which reader, how long it is, and a checksum; behind it lie each text once, and each
//! table row by row with numbers in place of texts (see `types::packed`). What lies behind that is the signature,
//! which is the business of whoever installs the file.
//!
//! [`READER`] is the version of this form. Its major changes where an earlier reader would misunderstand a row: a field
//! that must not be overlooked, another order, a new word of a vocabulary. Its minor changes where it may overlook what is
//! new: a field at the end of a row, a table. Readers take any minor of their major: a row ends where its length
//! says, a table of an unknown kind is passed over, and what an earlier minor lacks is none, false or empty.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::apart;
use super::row_reader::PackedRows;
use super::table::Holder;
use super::tables::{Catalog, TableVisitor};
use super::wheels::Digests;
use crate::types::packed::{self, Numbered, Numbering, Parts};
use crate::types::prose;
use crate::types::{Text, Version};

/// The form that this program reads and writes: major and minor.
pub const READER: (u16, u16) = (12, 0);
/// No catalog is larger, its signature included: ten times today's.
pub const MAX_BYTES: u64 = 8 << 20;
/// Bytes of the header.
pub const HEADER: usize = 48;
/// The level of deflation that makes the smallest file.
pub const SMALL: u8 = 10;

/// What such a file begins with. The byte beyond ASCII and the line end show what a transfer as text would spoil.
const MAGIC: &[u8; 8] = b"gpuenv\xC2\n";
/// Bytes of the catalog's version in the header.
const VERSION: usize = 24;

/// Why a file is not a catalog that can be read here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// It is something else.
    OtherFile,
    /// It was packed for a later reader.
    Later(u16),
    /// It was packed for a reader that is given up.
    Earlier(u16),
    /// Its end is missing.
    Truncated,
    /// It is not what was packed.
    Damaged,
    /// It asks for another gpuenv.
    Requires(String),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::OtherFile => f.write_str("it is not a catalog file"),
            Refused::Later(major) => write!(f, "it has format {major}, and this gpuenv reads format {}", READER.0),
            Refused::Earlier(major) => {
                write!(
                    f,
                    "it has format {major}, which this gpuenv does not read any more: it reads format {}",
                    READER.0
                )
            }
            Refused::Truncated => f.write_str("its end is missing"),
            Refused::Damaged => f.write_str("it is damaged: its content does not match its checksum"),
            Refused::Requires(wanted) => write!(f, "it requires gpuenv {wanted}"),
        }
    }
}

/// What the first bytes say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The catalog's version.
    pub version: String,
    /// Bytes of the packed catalog, the header included.
    pub length: usize,
    checksum: u32,
}

impl Header {
    /// Reads it.
    pub fn read(bytes: &[u8]) -> Result<Header, Refused> {
        let number = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]));
        if bytes.len() < MAGIC.len() || !bytes.starts_with(MAGIC) {
            return Err(Refused::OtherFile);
        }
        if bytes.len() < HEADER {
            return Err(Refused::Truncated);
        }
        let (major, length, checksum) = (number(8) as u16, number(12) as usize, number(16));
        match major.cmp(&READER.0) {
            std::cmp::Ordering::Less => return Err(Refused::Earlier(major)),
            std::cmp::Ordering::Greater => return Err(Refused::Later(major)),
            std::cmp::Ordering::Equal => {}
        }
        let version = bytes[HEADER - VERSION..HEADER].split(|byte| *byte == 0).next().unwrap_or_default();
        let version = str::from_utf8(version).ok().filter(|text| Version::parse(text).is_ok());
        let version = version.ok_or(Refused::Damaged)?.to_string();
        if length < HEADER || length as u64 > MAX_BYTES {
            return Err(Refused::Damaged);
        }
        Ok(Header { version, length, checksum })
    }

    fn write(version: &str, body: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(READER.0.to_le_bytes());
        bytes.extend(READER.1.to_le_bytes());
        bytes.extend(((HEADER + body.len()) as u32).to_le_bytes());
        bytes.extend(crc32fast::hash(body).to_le_bytes());
        bytes.resize(HEADER - VERSION, 0);
        bytes.extend(version.bytes().take(VERSION - 1));
        bytes.resize(HEADER, 0);
        bytes
    }
}

/// What follows the header.
#[derive(Serialize, Deserialize)]
struct Body<'a> {
    /// The versions of gpuenv that it is for.
    reader: &'a str,
    digest: &'a str,
    gpu_index: &'a str,
    #[serde(borrow)]
    wheel_digests: &'a [u8],
    /// All texts, one behind the other, and where each ends.
    texts: &'a str,
    #[serde(borrow)]
    text_ends: &'a [u8],
    /// The same of versions.
    versions: &'a str,
    #[serde(borrow)]
    version_ends: &'a [u8],
    /// Sentences that few runs show.
    #[serde(borrow)]
    prose: &'a [u8],
    #[serde(borrow)]
    tables: Vec<PackedTable<'a>>,
}

/// The rows of one kind, or those of one package among them, each with its length.
#[derive(Serialize, Deserialize)]
struct PackedTable<'a> {
    kind: &'a str,
    head: &'a str,
    rows: u32,
    #[serde(borrow)]
    bytes: &'a [u8],
}

/// Packs a catalog, without a signature. What few commands read is deflated at some level: at [`SMALL`] for a file, at 0 for
/// what is compressed as a whole afterwards.
pub fn pack(catalog: &Catalog, level: u8) -> Result<Vec<u8>, postcard::Error> {
    let lies_apart = |kind: &str| apart::KINDS.contains(&kind);
    let (mut packed, numbered) = pack_groups(catalog, |kind, _| !lies_apart(kind))?;
    for (kind, head, ..) in pack_groups(catalog, |kind, _| lies_apart(kind))?.0 {
        let (apart, numbered) = pack_groups(catalog, |of, other| (of, other) == (kind, &head))?;
        for (kind, head, rows, bytes) in apart {
            packed.push((kind, head, rows, apart::pack(&bytes, &numbered, level)?));
        }
    }
    let Numbering { texts, versions, prose } = numbered;
    let (texts, versions) = (texts.all, versions.all);
    let tables = packed.iter().map(|(kind, head, rows, bytes)| PackedTable { kind, head, rows: *rows, bytes });
    let body = postcard::to_allocvec(&Body {
        reader: &catalog.reader,
        digest: &catalog.digest,
        gpu_index: &catalog.gpu_index,
        wheel_digests: &catalog.wheel_digests.0,
        text_ends: &packed::ends(&texts),
        texts: &texts.concat(),
        version_ends: &packed::ends(&versions),
        versions: &versions.concat(),
        prose: &prose::deflate(&prose.all, level)?,
        tables: tables.collect(),
    })?;
    let mut bytes = Header::write(&catalog.version, &body);
    bytes.extend(body);
    Ok(bytes)
}

/// Reads a packed catalog that was read as a whole when it was installed: its rows when they are first asked for. What lies
/// behind it is not looked at. The bytes are kept for the rest of the process: its texts are parts of them.
pub fn unpack(bytes: &'static [u8]) -> Result<Catalog, Refused> {
    read(bytes, Trust::File)
}

/// The same of the one that is built in: nothing can have happened to it that did not happen to the whole program.
pub fn unpack_own(bytes: &'static [u8]) -> Result<Catalog, Refused> {
    read(bytes, Trust::Program)
}

/// The same to the last row, at once.
pub fn unpack_whole(bytes: &'static [u8]) -> Result<Catalog, Refused> {
    read(bytes, Trust::Nobody)
}

/// What is known of a packed catalog.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// Nothing: each row is looked at.
    Nobody,
    /// It was installed, and may have been damaged since.
    File,
    /// It is a part of this program.
    Program,
}

fn read(bytes: &'static [u8], trust: Trust) -> Result<Catalog, Refused> {
    let header = Header::read(bytes)?;
    let body = bytes.get(HEADER..header.length).ok_or(Refused::Truncated)?;
    if trust != Trust::Program && crc32fast::hash(body) != header.checksum {
        return Err(Refused::Damaged);
    }
    // The checksum guards against accidents alone: whatever the bytes are, reading them ends well.
    let body: Body<'static> = postcard::from_bytes(body).map_err(|_| Refused::Damaged)?;
    check_reader(body.reader)?;
    let texts = Parts { all: body.texts, ends: body.text_ends };
    let versions = Parts { all: body.versions, ends: body.version_ends };
    let mut catalog = Catalog {
        version: header.version.into(),
        reader: Text::of(body.reader),
        digest: Text::of(body.digest),
        gpu_index: Text::of(body.gpu_index),
        wheel_digests: Digests(Cow::Borrowed(body.wheel_digests)),
        ..Catalog::default()
    };
    let numbered = Numbered::new(texts, versions, body.prose);
    let mut tables = Unpacker { tables: body.tables, numbered, at_once: trust == Trust::Nobody };
    catalog.each_table(&mut tables).map(|()| catalog)
}

fn check_reader(wanted: &str) -> Result<(), Refused> {
    let here = semver::Version::parse(env!("CARGO_PKG_VERSION"));
    let is_met = semver::VersionReq::parse(wanted).is_ok_and(|wanted| here.is_ok_and(|here| wanted.matches(&here)));
    if is_met { Ok(()) } else { Err(Refused::Requires(wanted.chars().take(40).collect())) }
}

/// The kind of rows, what they are of, how many there are, and their bytes.
type Packed = (&'static str, String, u32, Vec<u8>);

/// The groups of some kinds and names, and what the numbers in their rows count in.
fn pack_groups(
    catalog: &Catalog,
    wanted: impl Fn(&str, &str) -> bool + Copy,
) -> Result<(Vec<Packed>, Numbering), postcard::Error> {
    let (packed, numbered) = packed::write(|| {
        let mut packer = Packer { wanted, packed: Vec::new() };
        catalog.clone().each_table(&mut packer).map(|()| packer.packed)
    });
    Ok((packed?, numbered))
}

/// What was packed so far.
struct Packer<W> {
    wanted: W,
    packed: Vec<Packed>,
}

impl<W: Fn(&str, &str) -> bool> TableVisitor for Packer<W> {
    type Error = postcard::Error;

    fn visit<H: Holder>(&mut self, kind: &'static str, holder: &mut H) -> Result<(), postcard::Error> {
        for (head, rows) in holder.groups().into_iter().filter(|(head, _)| (self.wanted)(kind, head)) {
            self.packed.push((kind, head.to_string(), rows.len() as u32, pack_rows(rows)?));
        }
        Ok(())
    }
}

/// The tables of a file; those of kinds that are not known here are passed over.
struct Unpacker {
    tables: Vec<PackedTable<'static>>,
    numbered: &'static Numbered,
    at_once: bool,
}

impl TableVisitor for Unpacker {
    type Error = Refused;

    fn visit<H: Holder>(&mut self, kind: &'static str, holder: &mut H) -> Result<(), Refused> {
        let tables = self.tables.iter().filter(|packed| packed.kind == kind);
        let packed = |table: &PackedTable<'static>| {
            let &PackedTable { head, rows: count, bytes, .. } = table;
            PackedRows { head, count, bytes, numbered: self.numbered, apart: apart::KINDS.contains(&kind) }
        };
        let packed: Vec<PackedRows> = tables.map(packed).collect();
        *holder = if self.at_once {
            let rows: Result<Vec<Vec<H::Row>>, _> = packed.into_iter().map(PackedRows::read).collect();
            rows.map_err(|_| Refused::Damaged)?.concat().into()
        } else {
            H::later(packed)
        };
        Ok(())
    }
}

fn pack_rows<T: Serialize>(rows: &[T]) -> Result<Vec<u8>, postcard::Error> {
    let mut bytes = Vec::new();
    for row in rows {
        bytes.extend(postcard::to_allocvec(&postcard::to_allocvec(row)?)?);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::super::BUILTIN;
    use super::*;

    fn packed() -> &'static [u8] {
        pack(&BUILTIN, SMALL).unwrap().leak()
    }

    #[test]
    fn what_is_packed_is_read_again_to_the_last_row() {
        let bytes = packed();
        assert!((bytes.len() as u64) < MAX_BYTES / 4, "{}", bytes.len());
        let catalog = unpack(bytes).unwrap();
        assert_eq!(catalog.version, BUILTIN.version);
        assert_eq!((catalog.digest, catalog.gpu_index), (BUILTIN.digest, BUILTIN.gpu_index));
        assert_eq!(catalog.wheel_digests, BUILTIN.wheel_digests);
        let text = |catalog: &Catalog| serde_json::to_string(catalog).unwrap();
        assert_eq!(text(&catalog), text(&BUILTIN));
        assert_eq!(text(&unpack_whole(bytes).unwrap()), text(&BUILTIN));
    }

    #[test]
    fn no_changed_or_missing_byte_is_overlooked_and_none_does_harm() {
        let bytes = packed();
        for cut in [0, 7, 20, HEADER, HEADER + 1, bytes.len() / 2, bytes.len() - 1] {
            let wanted = if cut < MAGIC.len() { Refused::OtherFile } else { Refused::Truncated };
            assert_eq!(unpack(&bytes[..cut]).unwrap_err(), wanted, "{cut}");
        }
        for at in (HEADER..bytes.len()).step_by(bytes.len() / 50) {
            let mut changed = bytes.to_vec();
            changed[at] ^= 0x10;
            assert_eq!(unpack(changed.clone().leak()).unwrap_err(), Refused::Damaged, "{at}");
            // With the checksum made to match: nobody does that by accident, and still nothing breaks.
            let checksum = crc32fast::hash(&changed[HEADER..]).to_le_bytes();
            changed[16..20].copy_from_slice(&checksum);
            let _ = unpack_whole(changed.leak());
        }
    }

    #[test]
    fn another_major_is_refused_and_another_minor_is_read() {
        let mut bytes = packed().to_vec();
        bytes[10..12].copy_from_slice(&9u16.to_le_bytes());
        assert!(unpack(bytes.clone().leak()).is_ok());
        let (later, earlier) = (READER.0 + 1, READER.0 - 1);
        bytes[8..10].copy_from_slice(&later.to_le_bytes());
        assert_eq!(unpack(bytes.clone().leak()).unwrap_err(), Refused::Later(later));
        bytes[8..10].copy_from_slice(&earlier.to_le_bytes());
        assert_eq!(unpack(bytes.leak()).unwrap_err(), Refused::Earlier(earlier));
        let later = Catalog { reader: ">=99".into(), ..BUILTIN.clone() };
        assert_eq!(unpack(pack(&later, SMALL).unwrap().leak()).unwrap_err(), Refused::Requires(">=99".into()));
    }

    #[test]
    fn a_later_minor_adds_at_the_end_of_a_row() {
        #[derive(Serialize, Deserialize, PartialEq, Debug)]
        struct Old(u32, bool);
        #[derive(Serialize, Deserialize, PartialEq, Debug)]
        struct New(u32, bool, Option<u32>, Vec<u8>);
        let none = Parts { all: "", ends: &[] };
        let packed = |bytes: Result<Vec<u8>, _>, count| PackedRows {
            head: "",
            count,
            bytes: bytes.unwrap().leak(),
            numbered: Numbered::new(none, none, &[]),
            apart: false,
        };
        let new = || pack_rows(&[New(1, true, Some(7), vec![1, 2]), New(2, false, None, vec![])]);
        assert_eq!(packed(new(), 2).read::<Old>().unwrap(), [Old(1, true), Old(2, false)]);
        let old = || pack_rows(&[Old(1, true), Old(2, false)]);
        assert_eq!(packed(old(), 2).read::<New>().unwrap()[0], New(1, true, None, vec![]));
        assert!(packed(old(), u32::MAX).read::<Old>().is_err());
    }
}
