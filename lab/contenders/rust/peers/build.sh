#!/bin/sh
# build.sh TARGET-FOLDER PACKAGE…: one after the other, as packages that are built together get each other's features.
# The caller's target and flags are left out: the lab's paths and "built alike" would not hold with them.
set -eu
folder=$1
shift
for package; do
    env -u CARGO_BUILD_TARGET -u RUSTFLAGS cargo build --quiet --release --locked -p "$package" --target-dir "$folder"
done
