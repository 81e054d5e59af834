#!/bin/sh
# build.sh version: which gevent there is, for the first interpreter that has it.
# build.sh FILE: writes a program FILE that runs this interpreter.
#
# Not a link: an interpreter of a virtual environment knows by its own path that it is one.
set -eu

for python in python3 /usr/bin/python3; do
    if found=$("$python" -c 'import gevent, sys; print(sys.executable)' 2>/dev/null); then
        if [ "$1" = version ]; then
            exec "$found" -c 'import gevent, sys; print(f"gevent {gevent.__version__}, Python {sys.version.split()[0]}")'
        fi
        # What is there may be a link to an interpreter, which must not be written through.
        rm -f "$1"
        printf '#!/bin/sh\nexec "%s" "$@"\n' "$found" >"$1"
        chmod +x "$1"
        exit
    fi
done
echo "neither the python3 of the path nor /usr/bin/python3 has gevent" >&2
exit 1
