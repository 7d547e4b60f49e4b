# Written by `gpuenv export env` (digest 91a4e2eb7a990788); do not edit. Use it with:
#   source FILE
# Sourcing it again changes nothing; `gpuenv export env --deactivate` prints what undoes it.
# The toolkit is expected in /usr/local/cuda-12.6. If yours is elsewhere, set
# GPUENV_CUDA_HOME to its directory before sourcing this.
set -l gpuenv_home /usr/local/cuda-12.6
test -n "$GPUENV_CUDA_HOME"; and set gpuenv_home "$GPUENV_CUDA_HOME"
set -l gpuenv_plan "$gpuenv_home|"'|libraries|TORCH_CUDA_ARCH_LIST=8.7|CUDAARCHS=87-real'
if test "$_GPUENV_ACTIVE" != "$gpuenv_plan"
    if test -n "$_GPUENV_ACTIVE"
        for name in CUDA_HOME PATH LD_LIBRARY_PATH LIBRARY_PATH TORCH_CUDA_ARCH_LIST CUDAARCHS
            set -l was _GPUENV_"$name"_WAS
            set -l old _GPUENV_"$name"_OLD
            switch "$$was"
                case exported
                    set -gx $name "$$old"
                case shell
                    set -eg $name
                    set -g $name "$$old"
                case unset
                    set -eg $name
            end
            set -eg $was
            set -eg $old
        end
        set -eg _GPUENV_ACTIVE
    end
    for name in CUDA_HOME PATH LD_LIBRARY_PATH LIBRARY_PATH TORCH_CUDA_ARCH_LIST CUDAARCHS
        set -l was unset
        set -l old ''
        if set -qg $name
            set was shell
            set -qgx $name; and set was exported
            set old "$$name"
        end
        set -gx _GPUENV_"$name"_WAS $was
        set -gx _GPUENV_"$name"_OLD "$old"
    end
    set -gx CUDA_HOME "$gpuenv_home"
    set -gx --path PATH "$CUDA_HOME/bin" $PATH
    set -gx --path LD_LIBRARY_PATH $LD_LIBRARY_PATH
    set -gx --path LD_LIBRARY_PATH "$CUDA_HOME/lib64" $LD_LIBRARY_PATH
    set -l paths
    for path in $LD_LIBRARY_PATH
        test -n "$path"; and set -a paths "$path"
    end
    set -gx --path LD_LIBRARY_PATH $paths
    set -gx --path LIBRARY_PATH $LIBRARY_PATH
    set -gx --path LIBRARY_PATH "$CUDA_HOME/lib64" "$CUDA_HOME/lib64/stubs" $LIBRARY_PATH
    set -l paths
    for path in $LIBRARY_PATH
        test -n "$path"; and set -a paths "$path"
    end
    set -gx --path LIBRARY_PATH $paths
    set -gx TORCH_CUDA_ARCH_LIST 8.7
    set -gx CUDAARCHS 87-real
    set -gx _GPUENV_ACTIVE "$gpuenv_plan"
end
