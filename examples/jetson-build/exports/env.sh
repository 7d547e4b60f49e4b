# shellcheck shell=sh disable=SC2034,SC2043,SC2154
# Written by `gpuenv export env` (digest 5f6b2c987ad6245d); do not edit. Use it with:
#   . ./FILE
# Sourcing it again changes nothing; `gpuenv export env --deactivate` prints what undoes it.
# The toolkit is expected in /usr/local/cuda-12.6. If yours is elsewhere, set
# GPUENV_CUDA_HOME to its directory before sourcing this.
_gpuenv_home=${GPUENV_CUDA_HOME:-/usr/local/cuda-12.6}
_gpuenv_plan="$_gpuenv_home|"'|libraries|TORCH_CUDA_ARCH_LIST=8.7|CUDAARCHS=87-real'
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
    LD_LIBRARY_PATH=$LD_LIBRARY_PATH${_gpuenv_rest:+:${_gpuenv_rest%%:*}}
    LD_LIBRARY_PATH=${LD_LIBRARY_PATH%:}
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
  export TORCH_CUDA_ARCH_LIST=8.7
  export CUDAARCHS=87-real
  export _GPUENV_ACTIVE="$_gpuenv_plan"
fi
unset _gpuenv_home _gpuenv_plan
