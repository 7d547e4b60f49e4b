#!/usr/bin/env bash
# What a machine with NVIDIA GPUs says of gpuenv: builds it, records the host, and runs `gpuenv verify` against a lock
# that matches and against locks and environments that are wrong on purpose, each of which must be refused by the check
# that is about it. In further environments verify must say what torch does there.
#
#   tests/gpu-host.sh [FOLDER]     FOLDER (default: gpu-host-report) receives host.json, without serials and UUIDs,
#                                  every report, and summary.txt
#
# GPUENV names a finished program where there is no Rust toolchain, PYTHON the interpreter that holds torch.
# Exit code: 0 everything as expected, 1 something was not, 3 there is no NVIDIA GPU to ask.
set -uo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-gpu-host-report}
mkdir -p "$out" && out=$(cd "$out" && pwd) || exit 4

if [ -z "${GPUENV:-}" ]; then
  (cd "$here" && cargo build --release) || exit 4
  GPUENV=$here/target/release/gpuenv
fi
python=${PYTHON:-$(command -v python3 || true)}
with_python=()
[ -n "$python" ] && with_python=(--python "$python")

failed=0
summary=$out/summary.txt
: >"$summary"
say() { printf '%s\n' "$*" | tee -a "$summary"; }

# run NAME COMMAND...: its output into files, its exit code in $code, its time in $seconds.
run() {
  local name=$1 began ended
  shift
  began=$(date +%s.%N)
  "$@" >"$out/$name.json" 2>"$out/$name.err"
  code=$?
  ended=$(date +%s.%N)
  seconds=$(awk -v a="$began" -v b="$ended" 'BEGIN { printf "%.2f", b - a }')
}

# failures FILE: the ids of the checks that failed.
failures() {
  awk -F'"' '$2 == "id" { id = $4 } $2 == "status" && $4 == "fail" && id != "" { print id; id = "" }' "$1" | sort -u | tr '\n' ' '
}

# expect NAME CODE [CHECK...]: the last run ended like this, and one of these checks failed.
expect() {
  local name=$1 wanted=$2 found verdict=ok
  shift 2
  found=$(failures "$out/$name.json")
  [ "$code" = "$wanted" ] || verdict=UNEXPECTED
  if [ $# -gt 0 ] && [ "$verdict" = ok ]; then
    verdict=UNEXPECTED
    for check in "$@"; do case " $found" in *" $check "*) verdict=ok ;; esac; done
  fi
  [ "$verdict" = ok ] || failed=1
  say "$(printf '%-10s %-28s exit %s (wanted %s) in %s s%s' "$verdict" "$name" "$code" "$wanted" "$seconds" "${found:+, failed: $found}")"
}

run probe "$GPUENV" probe --full "${with_python[@]}" --anonymous --format json
cp "$out/probe.json" "$out/host.json"
say "probe in $seconds s, exit $code"
if ! grep -q '"uuid": "GPU-' "$out/host.json"; then
  say "no NVIDIA GPU answers here: nothing to verify"
  exit 3
fi

# A spec for this host, and its lock.
cd "$out" || exit 4
rm -f gpuenv.toml gpuenv.lock
run init "$GPUENV" init --host host.json --force --format json
[ "$code" = 0 ] || { say "init failed with exit $code"; cat init.json init.err; exit 1; }
run lock "$GPUENV" lock --fresh --format json
[ "$code" = 0 ] || { say "no lock for this host, exit $code"; cat lock.json lock.err; exit 1; }

verify() { # verify NAME [OPTION...]
  local name=$1
  shift
  run "$name" "$GPUENV" verify "$@" --format json
}

verify matching-quick --quick
expect matching-quick 0
verify matching "${with_python[@]}"
expect matching 0
verify matching-full --full "${with_python[@]}"
expect matching-full 0
"$GPUENV" verify "${with_python[@]}" >matching.txt 2>&1

# Locks that are wrong on purpose.
cp gpuenv.lock good.lock
sed -E 's/(driver\.minimum = )"[^"]*"/\1"9999.99.99"/' good.lock >driver.lock
verify wrong-driver --lock driver.lock "${with_python[@]}"
expect wrong-driver 1 driver-minimum
sed -E 's/name = "[^"]*", compute-capability = "[^"]*"/name = "sm_35", compute-capability = "3.5"/; s/^(arch-list\.torch = )"[^"]*"/\1"3.5"/; s/^(arch-list\.cmake = )"[^"]*"/\1"35-real"/' good.lock >gpu.lock
verify wrong-gpu --lock gpu.lock "${with_python[@]}"
expect wrong-gpu 1 gpu-supported
sed -E 's/^(stack\.python = )"[^"]*"/\1"3.1"/' good.lock >python.lock
verify wrong-python --lock python.lock "${with_python[@]}"
expect wrong-python 1 python-version
if grep -q '"torch": {' host.json; then
  sed -E 's/^(stack\.torch = )"[^"]*"/\1"0.0.1+cu00"/; s/(package = "torch", version = )"[^"]*"/\1"0.0.1+cu00"/' \
    good.lock >torch.lock
  verify wrong-torch --full --lock torch.lock "${with_python[@]}"
  expect wrong-torch 1 python-package
fi
other=aarch64
[ "$(uname -m)" = x86_64 ] || other=x86_64
sed -E 's/^(target\.[^.]+\.arch = )"[^"]*"/\1"'"$other"'"/' good.lock >arch.lock
verify wrong-arch --lock arch.lock "${with_python[@]}"
expect wrong-arch 1 platform-arch

# Environments that are wrong on purpose.
export CUDA_VISIBLE_DEVICES=-1
verify hidden-gpu --quick
expect hidden-gpu 1
unset CUDA_VISIBLE_DEVICES
stubs=
for folder in /usr/local/cuda*/lib64/stubs; do [ -e "$folder/libcuda.so" ] && stubs=$folder; done
if [ -n "$stubs" ]; then
  decoy=$(mktemp -d)
  ln -s "$stubs/libcuda.so" "$decoy/libcuda.so.1"
  LD_LIBRARY_PATH=$decoy verify stub-libcuda --quick
  expect stub-libcuda 1 libcuda
  rm -rf "$decoy"
fi
CUDA_DISABLE_PTX_JIT=1 verify no-jit
say "with CUDA_DISABLE_PTX_JIT=1: exit $code, failed: $(failures no-jit.json)"

# Environments in which torch itself tells whether verify is right.
agrees() { # agrees NAME VARIABLE=VALUE...
  local name=$1 truth=1
  shift
  env "$@" "$python" -c 'import torch
x = torch.ones(64, 64, device="cuda")
assert float((x @ x).sum()) == 64 ** 3
torch.nn.Conv2d(1, 1, 3).cuda()(x[None, None]).cpu()' >/dev/null 2>&1 && truth=0
  run "$name" env "$@" "$GPUENV" verify "${with_python[@]}" --format json
  expect "$name" "$truth"
}
if grep -q '"torch": {' host.json; then
  for value in '' 5 0,0 0,5 5,0 abc GPU- MIG-11111111-1111-1111-1111-111111111111 -1,0; do
    agrees "visible-$value" CUDA_VISIBLE_DEVICES="$value"
  done
  for variable in CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_DEVICE_ORDER=pci_bus_id CUDA_DEVICE_ORDER= CUDA_FORCE_PTX_JIT=1 \
    CUDA_FORCE_PTX_JIT=2 CUDA_FORCE_JIT=1 CUDA_DISABLE_JIT=1 CUDA_CACHE_DISABLE=1 CUDA_MODULE_LOADING=EAGER \
    NVIDIA_VISIBLE_DEVICES=void NVIDIA_DRIVER_CAPABILITIES=utility 'NVIDIA_REQUIRE_CUDA=cuda>=99.0' \
    CUDA_MPS_PIPE_DIRECTORY=/nonexistent CUDA_HOME=/nonexistent PYTHONPATH=/nonexistent; do
    agrees "$(printf %s "$variable" | tr -c 'A-Za-z0-9._\n' -)" "$variable"
  done
fi

cat matching.txt
say "$([ "$failed" = 0 ] && echo 'everything as expected' || echo 'NOT everything as expected')"
exit "$failed"
