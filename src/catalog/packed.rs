//! The form in which a catalog travels: one file that a program reads at its start without parsing a text.
//!
//! A header says what it is, for which reader, how long it is, and a checksum; behind it lie each text once, and each
//! table row by row with numbers in place of texts (see `words::packed`). What lies behind that is the signature,
//! which is the business of whoever installs the file.
//!
//! [`READER`] is the version of this form. Its major changes where an earlier reader would misunderstand a row: a field
//! that must not be overlooked, another order, a new word of a vocabulary. Its minor changes where it may overlook what is
//! new: a field at the end of a row, a table. Readers take any minor of their major: a row ends where its length
//! says, a table of an unknown kind is passed over, and what an earlier minor lacks is none, false or empty.

use std::borrow::Cow;
use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::row_reader;
use super::tables::{Catalog, Table, TableVisitor};
use super::wheels::Digests;
use crate::types::packed;
use crate::types::version::Written;
use crate::types::{Text, Version};

/// The form that this program reads and writes: major and minor.
pub const READER: (u16, u16) = (2, 2);
/// No catalog is larger, its signature included: ten times today's.
pub const MAX_BYTES: u64 = 8 << 20;
/// Bytes of the header.
pub const HEADER: usize = 48;

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
    /// All texts, one behind the other, and how long each is.
    texts: &'a str,
    text_lengths: Vec<u16>,
    /// The same of versions.
    versions: &'a str,
    version_lengths: Vec<u16>,
    #[serde(borrow)]
    tables: Vec<PackedTable<'a>>,
}

/// The rows of one kind, each with its length.
#[derive(Serialize, Deserialize)]
struct PackedTable<'a> {
    kind: &'a str,
    rows: u32,
    #[serde(borrow)]
    bytes: &'a [u8],
}

/// Packs a catalog, without a signature.
pub fn pack(catalog: &Catalog) -> Result<Vec<u8>, postcard::Error> {
    let (packer, numbered) = packed::write(|| {
        let mut packer = Packer::default();
        catalog.clone().each_table(&mut packer).map(|()| packer)
    });
    let (packer, texts, versions) = (packer?, numbered.texts.all, numbered.versions.all);
    let tables = packer.0.iter().map(|(kind, rows, bytes)| PackedTable { kind, rows: *rows, bytes }).collect();
    let lengths = |all: &[&str]| all.iter().map(|text| u16::try_from(text.len())).collect::<Result<Vec<_>, _>>();
    let too_long = |_| postcard::Error::SerializeBufferFull;
    let body = postcard::to_allocvec(&Body {
        reader: &catalog.reader,
        digest: &catalog.digest,
        gpu_index: &catalog.gpu_index,
        wheel_digests: &catalog.wheel_digests.0,
        text_lengths: lengths(&texts).map_err(too_long)?,
        texts: &texts.concat(),
        version_lengths: lengths(&versions).map_err(too_long)?,
        versions: &versions.concat(),
        tables,
    })?;
    let mut bytes = Header::write(&catalog.version, &body);
    bytes.extend(body);
    Ok(bytes)
}

/// Reads a packed catalog that was read as a whole when it was installed: each table when it is first asked for. What lies
/// behind it is not looked at. The bytes are kept for the rest of the process: its texts are parts of them.
pub fn unpack(bytes: &'static [u8]) -> Result<Catalog, Refused> {
    unpack_with(bytes, false)
}

/// The same to the last row, at once.
pub fn unpack_whole(bytes: &'static [u8]) -> Result<Catalog, Refused> {
    unpack_with(bytes, true)
}

fn unpack_with(bytes: &'static [u8], at_once: bool) -> Result<Catalog, Refused> {
    let header = Header::read(bytes)?;
    let body = bytes.get(HEADER..header.length).ok_or(Refused::Truncated)?;
    if crc32fast::hash(body) != header.checksum {
        return Err(Refused::Damaged);
    }
    // The checksum guards against accidents alone: whatever the bytes are, reading them ends well.
    let body: Body<'static> = postcard::from_bytes(body).map_err(|_| Refused::Damaged)?;
    check_reader(body.reader)?;
    let texts = parts(body.texts, &body.text_lengths).ok_or(Refused::Damaged)?.leak();
    let versions = parts(body.versions, &body.version_lengths).ok_or(Refused::Damaged)?;
    let versions: Option<Vec<Written>> = versions.into_iter().map(Written::checked).collect();
    let versions = versions.ok_or(Refused::Damaged)?.leak();
    let mut catalog = Catalog {
        version: header.version.into(),
        reader: kept(body.reader),
        digest: kept(body.digest),
        gpu_index: kept(body.gpu_index),
        wheel_digests: Digests(Cow::Borrowed(body.wheel_digests)),
        ..Catalog::default()
    };
    let mut tables = Unpacker { tables: body.tables, texts, versions, at_once };
    catalog.each_table(&mut tables).map(|()| catalog)
}

/// A text that is part of a file that is kept; no copy is made of it.
fn kept(text: &'static str) -> Text {
    Text::of(Box::leak(Box::new(text)))
}

/// A text cut into parts of these lengths.
fn parts(mut text: &'static str, lengths: &[u16]) -> Option<Vec<&'static str>> {
    let mut parts = Vec::with_capacity(lengths.len());
    for length in lengths {
        let (part, rest) = text.split_at_checked(usize::from(*length))?;
        parts.push(part);
        text = rest;
    }
    Some(parts)
}

fn check_reader(wanted: &str) -> Result<(), Refused> {
    let here = semver::Version::parse(env!("CARGO_PKG_VERSION"));
    let is_met = semver::VersionReq::parse(wanted).is_ok_and(|wanted| here.is_ok_and(|here| wanted.matches(&here)));
    if is_met { Ok(()) } else { Err(Refused::Requires(wanted.chars().take(40).collect())) }
}

/// The kind of each table, its rows and their bytes.
#[derive(Default)]
struct Packer(Vec<(&'static str, u32, Vec<u8>)>);

impl TableVisitor for Packer {
    type Error = postcard::Error;

    fn visit<T: Clone + Serialize>(&mut self, kind: &'static str, table: &mut Table<T>) -> Result<(), postcard::Error> {
        self.0.push((kind, table.len() as u32, pack_rows(table)?));
        Ok(())
    }
}

/// The tables of a file; those of kinds that are not known here are passed over.
struct Unpacker {
    tables: Vec<PackedTable<'static>>,
    texts: &'static [&'static str],
    versions: &'static [Written],
    at_once: bool,
}

impl TableVisitor for Unpacker {
    type Error = Refused;

    fn visit<T>(&mut self, kind: &'static str, table: &mut Table<T>) -> Result<(), Refused>
    where
        T: Clone + DeserializeOwned + 'static,
    {
        if let Some(&PackedTable { rows, bytes, .. }) = self.tables.iter().find(|packed| packed.kind == kind) {
            let (texts, versions) = (self.texts, self.versions);
            let read = move || packed::read(texts, versions, || row_reader::rows(rows, bytes));
            *table = match self.at_once {
                true => read().map_err(|_| Refused::Damaged)?.into(),
                // It could be read when it was installed, and the checksum says that it is the same.
                false => Table::later(move || read().expect("rows of an installed catalog can be read")),
            };
        }
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
        pack(&BUILTIN).unwrap().leak()
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
        assert_eq!(unpack(pack(&later).unwrap().leak()).unwrap_err(), Refused::Requires(">=99".into()));
    }

    #[test]
    fn a_later_minor_adds_at_the_end_of_a_row() {
        #[derive(Serialize, Deserialize, PartialEq, Debug)]
        struct Old(u32, bool);
        #[derive(Serialize, Deserialize, PartialEq, Debug)]
        struct New(u32, bool, Option<u32>, Vec<u8>);
        let bytes = pack_rows(&[New(1, true, Some(7), vec![1, 2]), New(2, false, None, vec![])]).unwrap();
        assert_eq!(row_reader::rows::<Old>(2, &bytes).unwrap(), [Old(1, true), Old(2, false)]);
        let bytes = pack_rows(&[Old(1, true), Old(2, false)]).unwrap();
        assert_eq!(row_reader::rows::<New>(2, &bytes).unwrap()[0], New(1, true, None, vec![]));
        assert!(row_reader::rows::<Old>(u32::MAX, &bytes).is_err());
    }
}
