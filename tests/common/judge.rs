//! Judging in a test: from the text of a spec and a record to a verdict.

use std::collections::BTreeMap;

use gpuenv::catalog::BUILTIN;
use gpuenv::host::Record;
use gpuenv::lock::{Lock, Renewed, Upgrade, renew};
use gpuenv::solve::engine::Steps;
use gpuenv::solve::problem::Problem;
use gpuenv::solve::request::Request;
use gpuenv::verify::{self, Check, Status, Verdict};
use gpuenv::{host, spec};
use serde_json::Value;

/// A host on which nothing is wrong: an H100 on bare metal, looked at by every probe.
pub fn healthy() -> Value {
    serde_json::from_str(include_str!("../verify/healthy.json")).unwrap()
}

/// The spec that host was made for.
pub const SPEC: &str = include_str!("../verify/gpuenv.toml");

/// The lock of a spec.
#[track_caller]
pub fn lock(text: &str) -> Lock {
    try_lock(text).unwrap_or_else(|other| panic!("{text}\n{other}"))
}

/// The same, or how it has none.
#[track_caller]
pub fn try_lock(text: &str) -> Result<Lock, String> {
    let spec = spec::parse(text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
    let rules = Problem::new(&BUILTIN);
    let (request, _) = Request::new(&spec, &rules).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
    match renew(&spec, &request, None, &Upgrade::Nothing, &Steps::new(1_000_000)) {
        Renewed::Lock(lock, _) => Ok(*lock),
        other => Err(format!("{other:?}")),
    }
}

/// A record from its JSON.
#[track_caller]
pub fn record(json: &Value) -> Record {
    host::read_any(&json.to_string()).unwrap_or_else(|error| panic!("{error}\n{json:#}"))
}

/// The verdict on a host for the only target of a lock.
#[track_caller]
pub fn judge(lock: &Lock, host: &Value) -> Verdict {
    let target = lock.target.keys().next().unwrap();
    verify::judge(lock, target, &record(host), &BUILTIN).unwrap()
}

/// How each check ended, by its id: the worst of several GPUs.
pub fn statuses(verdict: &Verdict) -> BTreeMap<&'static str, Status> {
    let mut found = BTreeMap::new();
    for check in &verdict.checks {
        let known = found.entry(check.id).or_insert(check.status);
        *known = (*known).max(check.status);
    }
    found
}

/// The first check of this id that ended worst.
#[track_caller]
pub fn worst<'v>(verdict: &'v Verdict, id: &str) -> &'v Check {
    let of_id = verdict.checks.iter().filter(|check| check.id == id);
    of_id.max_by_key(|check| check.status).unwrap_or_else(|| panic!("no check {id} in {verdict:#?}"))
}

/// Sets a value at a JSON pointer, making what leads to it; null takes it away.
#[track_caller]
pub fn set(host: &mut Value, pointer: &str, value: Value) {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    if host.pointer(parent).is_none() {
        set(host, parent, Value::Object(serde_json::Map::new()));
    }
    match host.pointer_mut(parent).unwrap() {
        Value::Object(map) if value.is_null() => {
            map.remove(name);
        }
        Value::Object(map) => {
            map.insert(name.to_string(), value);
        }
        Value::Array(items) => match name.parse::<usize>() {
            Ok(at) if value.is_null() => {
                items.remove(at);
            }
            Ok(at) if at < items.len() => items[at] = value,
            _ => items.push(value),
        },
        other => panic!("{pointer}: {other}"),
    }
}

/// The healthy host with some facts changed.
#[track_caller]
pub fn with(changes: &[(&str, Value)]) -> Value {
    let mut host = healthy();
    for (pointer, value) in changes {
        set(&mut host, pointer, value.clone());
    }
    host
}
