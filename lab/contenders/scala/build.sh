#!/bin/sh
# build.sh version: which JDK would be used, or that there is none.
# build.sh FOLDER: fetches Pekko and the Scala compiler into FOLDER/pekko, compiles the contenders with them, and
# leaves a link to the JDK there, for the runs.
#
# The JDK is the one of the contenders in Java; without one, any of at least 17 will do.
set -eu
jdk=../java/build.sh
home=$(sh "$jdk" home 2>/dev/null || sh "$jdk" home 17)
if [ "$1" = version ]; then
    exec "$home/bin/java" --version
fi
to=$1/pekko
rm -rf "$to/jars" "$to/classes"
mkdir -p "$to/classes"
if ! mvn --quiet --batch-mode -Dmaven.repo.local="$to/repository" \
    org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
    -DoutputDirectory="$to/jars" >&2; then
    echo "Maven could not fetch Pekko: offline?" >&2
    exit 1
fi
rm -f "$to/jdk"
ln -s "$home" "$to/jdk"
exec "$home/bin/java" -cp "$to/jars/*" scala.tools.nsc.Main -deprecation \
    -cp "$to/jars/pekko-actor_2.13-1.7.0.jar" -usejavacp -d "$to/classes" Ring.scala Channels.scala
