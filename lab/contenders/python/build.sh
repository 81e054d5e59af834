#!/bin/sh
# build.sh PACKAGE version: which one of it there is, for the first interpreter that has it.
# build.sh PACKAGE FILE: writes a program FILE that runs this interpreter.
#
# Not a link: an interpreter of a virtual environment knows by its own path that it is one.
set -eu

package=$1
for python in python3 /usr/bin/python3; do
    if found=$("$python" -c "import $package, sys; print(sys.executable)" 2>/dev/null); then
        if [ "$2" = version ]; then
            exec "$found" -c 'import importlib.metadata, sys
package = sys.argv[1]
print(f"{package} {importlib.metadata.version(package)}, Python {sys.version.split()[0]}")' "$package"
        fi
        # What is there may be a link to an interpreter, which must not be written through.
        rm -f "$2"
        printf '#!/bin/sh\nexec "%s" "$@"\n' "$found" >"$2"
        chmod +x "$2"
        exit
    fi
done
echo "neither the python3 of the path nor /usr/bin/python3 has $package" >&2
exit 1
