//! Variables that change what a CUDA process sees or loads, from vLLM's collect_env or anybody's `env`.

use crate::host::anonymous::without_user;
use crate::host::environment::is_kept;

use super::seen::Seen;

/// `NAME=value` on a line of its own. This alone describes no host.
pub(super) fn read(lines: &[&str], seen: &mut Seen) {
    for line in lines {
        let line = line.trim();
        let line = line.strip_prefix("export ").unwrap_or(line);
        let Some((name, value)) = line.split_once('=') else { continue };
        if is_kept(name) {
            let value = without_user(value.trim().trim_matches(['"', '\'']));
            seen.record.environment.entry(name.to_string()).or_insert(value);
        }
    }
}
