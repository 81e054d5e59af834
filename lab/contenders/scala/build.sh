#!/bin/sh
# build.sh FOLDER: fetches Pekko and the Scala compiler into FOLDER/pekko, and compiles the contender with them.
set -eu
to=$1/pekko
mkdir -p "$to/classes"
mvn --quiet --batch-mode -Dmaven.repo.local="$to/repository" \
    org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
    -DoutputDirectory="$to/jars" >&2
exec java -cp "$to/jars/*" scala.tools.nsc.Main -deprecation -cp "$to/jars/pekko-actor_2.13-1.7.0.jar" \
    -usejavacp -d "$to/classes" Ring.scala
