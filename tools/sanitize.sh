#!/usr/bin/env bash
# Native code under sanitizers, built apart from everything else. Needs CMake and GCC (or, for `tests`, Clang).
#
#   tools/sanitize.sh tests             the C++ tests: AddressSanitizer and UndefinedBehaviorSanitizer, then
#                                       ThreadSanitizer
#   tools/sanitize.sh python [ARGS]     the module with the first two, under the Python tests of launcher and IK, or
#                                       under pytest ARGS
#
# CXX chooses the compiler (default g++), PYTHON the interpreter (default python3), CMAKE the program (default cmake).
# Kernels are machine code made at run time: no sanitizer looks into them, only at the code around them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
cxx=${CXX:-g++} python=${PYTHON:-python3} cmake=${CMAKE:-cmake}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

build() { # FOLDER SANITIZERS OPTIONS...
    "$cmake" -S "$root" -B "$1" -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_BUILD_TYPE=Release -DROBOMORPH_SANITIZE="$2" \
        "${@:3}" >"$work/configure.log" || { cat "$work/configure.log"; return 1; }
    "$cmake" --build "$1" --parallel 2 >"$work/build.log" || { cat "$work/build.log"; return 1; }
}

run_tests() {
    local sanitizers
    for sanitizers in address,undefined thread; do
        printf '== C++ tests, %s: %s\n' "$cxx" "$sanitizers"
        build "$work/$sanitizers" "$sanitizers" -DROBOMORPH_NATIVE_TESTS=ON
        UBSAN_OPTIONS=print_stacktrace=1 "$work/$sanitizers/native/tests/native_tests"
    done
}

run_python() {
    printf '== Python tests, %s: address,undefined\n' "$cxx"
    build "$work/module" address,undefined -DPython_EXECUTABLE="$(command -v "$python")"
    mkdir "$work/path"
    cp -r src/robomorph "$work/path/"
    rm -f "$work"/path/robomorph/runtime/_native*.so
    cp "$work"/module/_native*.so "$work/path/robomorph/runtime/"
    export PYTHONPATH="$work/path" ROBOMORPH_CACHE_DIR="$work/cache"
    # The interpreter's own pools would hide its objects from AddressSanitizer.
    export PYTHONMALLOC=malloc
    # Leaks: the interpreter leaves much behind at exit. Memory: some tests ask for more than there is.
    export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
    # The interpreter is not built with it, so the runtime comes first; with the C++ library, whose throw it looks for.
    local runtime
    runtime="$("$cxx" -print-file-name=libasan.so) $("$cxx" -print-file-name=libstdc++.so)"
    LD_PRELOAD=$runtime "$python" -c "
import robomorph.runtime._native as native
assert native.__file__.startswith('$work/path/'), f'{native.__file__} is not the module under test'"
    # Reports are printed by native code as the process ends: pytest must not hold them back.
    LD_PRELOAD=$runtime "$python" -m pytest -p no:cacheprovider --capture=sys -q "$@"
}

case "${1:-}" in
    tests) run_tests ;;
    python) shift; (($#)) || set -- tests/runtime tests/ik tests/api; run_python "$@" ;;
    *) sed -n '2,11s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
