//! What stands below the options of every `--help`: examples first, then what is good to know.

pub const GPUENV: &str = "\
Examples:
  gpuenv init --gpu \"RTX 4090\" --driver 550 --torch \"*\"
  gpuenv lock
  gpuenv export dockerfile -o Dockerfile
  gpuenv diagnose \"no kernel image is available for execution on the device\"

Exit codes: 0 yes; 1 proven no (conflict, lock out of date, machine does not match); 2 usage or bad input; 3 could not be determined; 4 reading or writing failed; 70 a bug in gpuenv, please report it
Environment: GPUENV_REPORT=narrated prints diagrams as sentences, for screen readers; COLUMNS sets the width; NO_COLOR turns colours off";

pub const INIT: &str = "\
Examples:
  gpuenv init --gpu \"RTX 4090\" --driver 550 --torch 2.8
  gpuenv init --gpu H100 --image nvidia/cuda --os ubuntu22.04
  gpuenv init --detect
  nvidia-smi | gpuenv init --host -
  gpuenv init --from pyproject.toml --from Dockerfile --gpu A100

Without any option it writes a commented file that locks as it is. A flag overrides what was found on a machine. An existing file is not replaced without --force; exit 2 names a value that cannot be read, or a GPU that the catalog does not know. A system that it does not know, or versions that cannot be had, are told by a warning.";

pub const LOCK: &str = "\
Examples:
  gpuenv lock
  gpuenv lock --check
  gpuenv lock --upgrade-package torch
  gpuenv lock --upgrade --dry-run
  gpuenv lock --apply-fix 1

Exit codes: 0 locked, or up to date; 1 a conflict, or --check found the lock out of date; 2 bad input; 3 it depends on a fact that is not known; 4 reading or writing failed";

pub const ADD: &str = "\
Examples:
  gpuenv add torch
  gpuenv add \"torch>=2.4,<2.8\" torchvision
  gpuenv add torch==2.5.1+cu124
  gpuenv add vllm --dry-run
  gpuenv add \"transformers>=4.50\"

A package that gpuenv chooses goes under [stack], an ordinary one, or one that the catalog does not know, under [packages]. Under [stack] a bare version or `==` is a prefix, as in gpuenv.toml: torch==2.4 is any 2.4.x; under [packages] it is what pip makes of it.
Layout and comments of gpuenv.toml are kept. A new conflict is printed, and then neither gpuenv.toml nor gpuenv.lock is written.
Exit codes: 0 done; 1 it would conflict; 2 bad input; 3 it depends on a fact that is not known; 4 reading or writing failed";

pub const REMOVE: &str = "\
Examples:
  gpuenv remove xformers
  gpuenv remove torchvision torchaudio --dry-run

Exit codes: those of `gpuenv add`; a package that is not there is bad input";

pub const TARGET: &str = "\
Examples:
  gpuenv target add lab --gpu \"RTX 3090\" --driver 550
  gpuenv target remove lab";

pub const TARGET_ADD: &str = "\
Examples:
  gpuenv target add lab --gpu \"RTX 3090\" --driver 550 --os ubuntu22.04
  gpuenv target add prod --gpu A100-PCIE-40GB --gpu \"H100 NVL\" --image nvidia/cuda --os ubuntu24.04
  gpuenv target add ci --gpu none --dry-run

A new conflict is printed, and then neither gpuenv.toml nor gpuenv.lock is written.";

pub const TARGET_REMOVE: &str = "\
Examples:
  gpuenv target remove lab
  gpuenv target remove lab --dry-run";

pub const EXPLAIN: &str = "\
Examples:
  gpuenv explain
  gpuenv explain torch
  gpuenv explain target.prod.driver
  gpuenv explain RTX 5090
  gpuenv explain cu126
  gpuenv explain driver-end-of-life
  gpuenv explain --graph mermaid";

pub const EXPORT: &str = "\
Examples:
  gpuenv export dockerfile -o Dockerfile
  gpuenv export requirements --target prod
  gpuenv export env --shell fish
  gpuenv export --check

Reads nothing but the lock. Without a format, every file that [export] of gpuenv.toml names is written. A file that gpuenv did not write is not replaced without --force; `uv` merges into a pyproject.toml.
Exit codes: 0 written, or all as it would be written; 1 --check found a difference; 2 bad input; 3 a fact is missing; 4 reading or writing failed";

pub const VERIFY: &str = "\
Examples:
  gpuenv verify
  gpuenv verify --quick --format json
  gpuenv verify --host host.json --target prod

Exit codes: 0 the machine can run the target; 1 proven that it cannot; 3 it could not be determined (no driver to ask, a probe that crashed); 2 bad input; 4 reading or writing failed
With several targets all are tried, and the one that matches is shown in full. `gpuenv explain CHECK-ID` says what a check looks at.";

pub const DIAGNOSE: &str = "\
Examples:
  gpuenv diagnose \"CUDA error: no kernel image is available for execution on the device\"
  gpuenv diagnose train.log
  python train.py 2>&1 | gpuenv diagnose

Exit codes: 0 the message is known; 3 it is not (what could be read from it is shown); 2 no text, or bad input; 4 reading failed
With a gpuenv.toml, what the text says of the machine is put into its target, and the proposed changes were resolved. Nothing is read from this machine.";

pub const DIFF: &str = "\
Examples:
  gpuenv diff
  gpuenv diff HEAD~5
  gpuenv diff old/gpuenv.lock gpuenv.lock --exit-code

Drivers that hosts need come first. Exit codes: 0 done; 1 something differs, with --exit-code; 2 no such file or revision";

pub const MATRIX: &str = "\
Examples:
  gpuenv matrix --gpu H100
  gpuenv matrix --torch 2.9 --format html -o matrix.html
  gpuenv matrix --gpu \"RTX 5090\" --torch 2.9
  gpuenv matrix --package jax --driver 550

Needs no gpuenv.toml; the overlays of the one here count. Every cell is what `gpuenv lock` answers for that build, GPU and driver: machine code for the GPU (native), only PTX, which the driver compiles (ptx), not known (unknown), or not at all (no), with the reason. `--format` takes csv, html and svg, too.";

pub const FLEET: &str = "\
Examples:
  gpuenv fleet check records/
  gpuenv fleet plan records/
  gpuenv fleet job slurm --partition gpu --nodes 16

gpuenv schedules nothing itself: an existing engine runs `gpuenv probe` on each node.";

pub const FLEET_CHECK: &str = "\
Examples:
  gpuenv fleet check records/
  gpuenv fleet check hosts.ndjson --format csv
  kubectl get nodes -o json | gpuenv fleet check -
  clush -w @gpu nvidia-smi | gpuenv fleet check - --target prod

Exit codes: 0 all hosts pass; 1 some cannot run the lock; 3 some could not be determined, records that cannot be read among them; 2 bad input or nothing to judge; 4 reading or writing failed
Sources: records of `gpuenv probe` (files, folders, NDJSON), `kubectl get nodes -o json`, the text of nvidia-smi and the like, also as pdsh, clush or `srun -l` prefix its lines; - = stdin
`--format` takes ndjson, csv and html, too.";

pub const FLEET_PLAN: &str = "\
Examples:
  gpuenv fleet plan records/
  gpuenv fleet plan hosts.ndjson --target prod
  kubectl get nodes -o json | gpuenv fleet plan - --format html -o plan.html

Reads gpuenv.toml, not the lock: the hosts replace the GPU, driver, system and processor of the target. Sources are those of `gpuenv fleet check`. `--format` takes csv and html, too.
Exit codes: 0 every host can run the spec as it is; 1 some can run nothing with the driver installed there; 3 of some it could not be determined; 2 bad input or no host; 4 reading or writing failed";

pub const FLEET_JOB: &str = "\
Examples:
  gpuenv fleet job slurm --partition gpu --nodes 16
  gpuenv fleet job kubernetes --image registry.example/gpuenv:0.1";

pub const PROBE: &str = "\
Examples:
  gpuenv probe
  gpuenv probe --anonymous -o host.json
  nvidia-smi -q | gpuenv probe --from -

Exit codes: 0 done, whatever was found; 2 bad input; 4 the record cannot be written
`--format` takes ndjson, too: a line for each record. Libraries of the driver are loaded in a child process with a time limit. The record holds no serial number, no secret of the environment and no name of a home folder: the home of its user is written ~, others home/user. Other paths stand in it as they are.";

pub const CATALOG: &str = "\
Examples:
  gpuenv catalog list
  gpuenv catalog show torch@2.8
  gpuenv catalog search rtx 5090

Without a command it counts the facts and how they are known. The overlays of the gpuenv.toml here, or in the nearest parent, are included.";

pub const CATALOG_LIST: &str = "\
Examples:
  gpuenv catalog list
  gpuenv catalog list gpus";

pub const CATALOG_SHOW: &str = "\
Examples:
  gpuenv catalog show torch@2.8.0+cu128
  gpuenv catalog show driver@570
  gpuenv catalog show \"RTX 5090\"";

pub const CATALOG_SEARCH: &str = "\
Examples:
  gpuenv catalog search rtx 5090
  gpuenv catalog search jetson torch";

pub const CATALOG_CHECK: &str = "\
Examples:
  gpuenv catalog check
  gpuenv catalog check site-catalog.toml

Exit codes: 0 no lint found anything; 1 a lint did; 2 a row or file that cannot be read; 4 there is no such file";

pub const CATALOG_INSPECT: &str = "\
Examples:
  gpuenv catalog inspect vllm-0.9.1-cp38-abi3-manylinux1_x86_64.whl
  gpuenv catalog inspect build/lib/my_ops.so
  gpuenv catalog inspect --overlay dist/my_ops-1.0-cp311-cp311-linux_x86_64.whl > site-catalog.toml

Nothing of the file is loaded or run. The row counts what most source files were compiled for; with --url it says where the wheel lies, else that it lies on the index that its version speaks of.
Exit codes: 0 done, whatever was found; 2 neither a library nor a wheel, damaged, or no row can be written; 4 it cannot be read";

pub const CATALOG_UPDATE: &str = "\
Examples:
  gpuenv catalog update gpuenv-catalog-2026.12.01
  gpuenv catalog update https://example.org/gpuenv-catalog-2026.12.01
  gpuenv catalog update --rollback 2026.12.01
  gpuenv catalog update

The signature, the reader version and every lint are checked before anything is written; what is refused leaves everything as it was. Locks keep their choices: `gpuenv lock --upgrade` makes use of what is new.
Exit codes: 0 done; 2 the file was refused; 4 it could not be read, fetched or written";

pub const SCHEMA: &str = "\
Examples:
  gpuenv schema
  gpuenv schema spec";

pub const COMPLETIONS: &str = "\
Examples:
  gpuenv completions bash > ~/.local/share/bash-completion/completions/gpuenv
  gpuenv completions zsh > ~/.zfunc/_gpuenv
  gpuenv completions fish > ~/.config/fish/completions/gpuenv.fish
  gpuenv completions powershell >> $PROFILE

The script asks the gpuenv on the PATH at every TAB, so it need not be made again after an update.";

pub const MAN: &str = "\
Examples:
  gpuenv man | man -l -
  gpuenv man lock
  gpuenv man -o ~/.local/share/man/man1";

#[cfg(test)]
mod tests;
