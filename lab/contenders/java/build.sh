#!/bin/sh
# build.sh version: which JDK with virtual threads (21 or later) there is, or that there is none.
# build.sh home [LEAST]: where it is, of a version of at least LEAST instead.
# build.sh FOLDER: compiles the contender with it into FOLDER/java, and leaves a link to it there, for the runs.
#
# The first one wins of JAVA_HOME, what the path has, and the folders in which systems keep JDKs, newest first.
set -eu
least=21
if [ "$1" = home ]; then
    least=${2:-$least}
fi

# The number before the first dot of the line JAVA_VERSION="25.0.3" in the file that every JDK brings.
version_of() {
    sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$1/release" 2>/dev/null || true
}

candidates() {
    echo "${JAVA_HOME:-}"
    compiler=$(command -v javac || true)
    [ -z "$compiler" ] || dirname "$(dirname "$(readlink -f "$compiler")")"
    for home in /usr/lib/jvm/* /opt/java/* /Library/Java/JavaVirtualMachines/*/Contents/Home; do
        echo "$(version_of "$home") $home"
    done | sort -rn | cut -d ' ' -f 2-
}

home=$(candidates | while read -r home; do
    version=$(version_of "$home")
    if [ -x "$home/bin/javac" ] && [ "${version:-0}" -ge "$least" ]; then
        echo "$home"
        break
    fi
done)
if [ -z "$home" ]; then
    echo "no JDK of at least $least in JAVA_HOME, on the path or in /usr/lib/jvm" >&2
    exit 1
fi
if [ "$1" = home ]; then
    echo "$home"
    exit
fi
if [ "$1" = version ]; then
    exec "$home/bin/java" --version
fi
mkdir -p "$1/java"
rm -f "$1/java/jdk"
ln -s "$home" "$1/java/jdk"
exec "$home/bin/javac" -Xlint:all -d "$1/java" Ring.java Waiting.java Tasks.java Sockets.java
