//! Hosts that people described in public, each judged against what they wanted to run.
//!
//! A folder of tests/verdicts holds the host's record, the spec (or in `expected.toml` an image) and what must come out:
//! the status, every check that fails, the action of the first of them, and checks that stay open.

use std::fs;
use std::path::Path;

use gpuenv::catalog::BUILTIN;
use gpuenv::verify::{self, Status};

use crate::common::{judge, parallel};

#[test]
fn hosts_in_public_reports_are_judged_right() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/verdicts");
    let mut folders: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    assert!(folders.len() >= 25, "there are {} situations", folders.len());
    let wrong: Vec<String> = parallel::each(&folders, |folder| try_one(folder).err()).into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn try_one(folder: &Path) -> Result<(), String> {
    let name = folder.file_name().unwrap().to_string_lossy().into_owned();
    let text = |file: &str| fs::read_to_string(folder.join(file)).map_err(|error| format!("{name}/{file}: {error}"));
    let expected: toml::Table = toml::from_str(&text("expected.toml")?).unwrap();
    assert!(expected["source"].as_str().unwrap().starts_with("https://"), "{name}");
    let host = serde_json::from_str(&text("host.json")?).unwrap();
    let verdict = match expected.get("image").and_then(|image| image.as_str()) {
        Some(image) => verify::judge_image(image, &judge::record(&host), &BUILTIN),
        None => judge::judge(&judge::lock(&text("gpuenv.toml")?), &host),
    };
    let ids = |status: Status| {
        let mut ids: Vec<&str> =
            verdict.checks.iter().filter(|check| check.status == status).map(|check| check.id).collect();
        ids.dedup();
        ids
    };
    let list = |key: &str| -> Vec<&str> {
        expected.get(key).and_then(|list| list.as_array()).into_iter().flatten().filter_map(|id| id.as_str()).collect()
    };
    let first = verdict.checks.iter().find(|check| check.status == Status::Fail);
    let action = first.map(|check| check.action.as_str());
    let found = (verdict.status.as_str(), ids(Status::Fail), action);
    let wanted =
        (expected["status"].as_str().unwrap(), list("fails"), expected.get("action").and_then(|text| text.as_str()));
    let open = ids(Status::Unknown);
    match found == wanted && list("unknown").iter().all(|id| open.contains(id)) {
        true => Ok(()),
        false => Err(format!("{name}: {found:?}, open {open:?}; expected {wanted:?}, open {:?}", list("unknown"))),
    }
}
