# shellcheck shell=sh disable=SC2034,SC2043,SC2154
# Written by `gpuenv export env` (digest 3b64844c1aa6e4cb); do not edit. Use it with:
#   . ./FILE
# Sourcing it again changes nothing; `gpuenv export env --deactivate` prints what undoes it.
# The toolkit is expected in /usr/local/cuda-12.4. If yours is elsewhere, set
# GPUENV_CUDA_HOME to its directory before sourcing this.
# Directories of CUDA toolkits go from LD_LIBRARY_PATH: what lies there would be loaded in place
# of what the wheels bring.
_gpuenv_home=${GPUENV_CUDA_HOME:-/usr/local/cuda-12.4}
_gpuenv_plan="$_gpuenv_home|"'|libraries|clean|TORCH_CUDA_ARCH_LIST=8.9+PTX|CUDAARCHS=89'
if [ "${_GPUENV_ACTIVE-}" != "$_gpuenv_plan" ]; then
  if [ -n "${_GPUENV_ACTIVE-}" ]; then
    for _gpuenv_name in CUDA_HOME PATH LD_LIBRARY_PATH LIBRARY_PATH TORCH_CUDA_ARCH_LIST CUDAARCHS; do
      eval "_gpuenv_was=\${_GPUENV_${_gpuenv_name}_WAS-} _gpuenv_old=\${_GPUENV_${_gpuenv_name}_OLD-}"
      case $_gpuenv_was in
        exported) eval "export $_gpuenv_name=\"\$_gpuenv_old\"" ;;
        shell) unset "$_gpuenv_name"; eval "$_gpuenv_name=\$_gpuenv_old" ;;
        unset) unset "$_gpuenv_name" ;;
      esac
      unset "_GPUENV_${_gpuenv_name}_WAS" "_GPUENV_${_gpuenv_name}_OLD"
    done
    unset _GPUENV_ACTIVE _gpuenv_name _gpuenv_was _gpuenv_old
  fi
  _gpuenv_exports=$(export -p)
  for _gpuenv_name in CUDA_HOME PATH LD_LIBRARY_PATH LIBRARY_PATH TORCH_CUDA_ARCH_LIST CUDAARCHS; do
    eval "_gpuenv_was=\${$_gpuenv_name+set} _gpuenv_old=\${$_gpuenv_name-}"
    case $_gpuenv_was$_gpuenv_name$_gpuenv_exports in
      setPATH*) _gpuenv_was=exported ;;
      set*" $_gpuenv_name="* | set*" $_gpuenv_name "*) _gpuenv_was=exported ;;
      set*) _gpuenv_was=shell ;;
      *) _gpuenv_was='unset' ;;
    esac
    eval "export _GPUENV_${_gpuenv_name}_WAS=\"\$_gpuenv_was\" _GPUENV_${_gpuenv_name}_OLD=\"\$_gpuenv_old\""
  done
  unset _gpuenv_exports _gpuenv_name _gpuenv_was _gpuenv_old
  export CUDA_HOME="$_gpuenv_home"
  export PATH="$CUDA_HOME/bin${PATH:+:$PATH}"
  _gpuenv_rest=${LD_LIBRARY_PATH-}:
  export LD_LIBRARY_PATH="$CUDA_HOME/lib64"
  while [ -n "$_gpuenv_rest" ]; do
    case ${_gpuenv_rest%%:*} in
      */cuda/lib64* | */cuda/[0-9]*/*lib64* | */cuda/extras/* | */cuda/targets/* | */cuda-[0-9]*/*lib64* | */cuda-[0-9]*/targets/* | */CUDA/[0-9]*/lib* | */math_libs/*lib64*) ;;
      *) LD_LIBRARY_PATH=$LD_LIBRARY_PATH${_gpuenv_rest:+:${_gpuenv_rest%%:*}}; LD_LIBRARY_PATH=${LD_LIBRARY_PATH%:} ;;
    esac
    _gpuenv_rest=${_gpuenv_rest#*:}
  done
  unset _gpuenv_rest
  _gpuenv_rest=${LIBRARY_PATH-}:
  export LIBRARY_PATH="$CUDA_HOME/lib64:$CUDA_HOME/lib64/stubs"
  while [ -n "$_gpuenv_rest" ]; do
    LIBRARY_PATH=$LIBRARY_PATH${_gpuenv_rest:+:${_gpuenv_rest%%:*}}
    LIBRARY_PATH=${LIBRARY_PATH%:}
    _gpuenv_rest=${_gpuenv_rest#*:}
  done
  unset _gpuenv_rest
  export TORCH_CUDA_ARCH_LIST='8.9+PTX'
  export CUDAARCHS=89
  export _GPUENV_ACTIVE="$_gpuenv_plan"
fi
unset _gpuenv_home _gpuenv_plan
