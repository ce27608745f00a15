#!/bin/sh
# Name, in one line, what this machine lacks to build jird, with the Debian package that brings it.
# usage: check_prerequisites.sh PYTHON
python=${1:-python3}
missing=""

lacks() { # what, package
    missing="${missing:+$missing, }$1 (apt install $2)"
}

if ! command -v "$python" >/dev/null 2>&1; then
    lacks "Python 3.11 or newer" "python3 python3-venv python3-dev"
elif ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    lacks "Python 3.11 or newer, not $("$python" -c 'import platform; print(platform.python_version())')" python3
else
    "$python" -c 'import ensurepip, venv' 2>/dev/null || lacks "Python's venv" python3-venv
    "$python" -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")))' ||
        lacks "Python's C headers" python3-dev
fi

compiler=${CC:-cc}
if ! command -v "$compiler" >/dev/null 2>&1; then
    lacks "a C compiler" "gcc libc6-dev"
elif ! printf '#include <stdio.h>\nint main(void) { return 0; }\n' | "$compiler" -xc -fsyntax-only - 2>/dev/null; then
    lacks "the C library's headers" libc6-dev
fi

[ -z "$missing" ] && exit 0
echo "jird cannot be built here; it needs: $missing" >&2
exit 1
