#!/bin/sh
# build.sh FOLDER NAME [FLAG]: the ring as FOLDER/NAME, and the workloads about waiting as FOLDER/NAME_waiting.
set -eu
folder=$1 name=$2 flag=${3:-}
mkdir -p "$folder"
# With what holds a thread up in C.
cc -O2 -c ../c/hold.c -o "$folder/$name.hold.o"
export CRYSTAL_CACHE_DIR="$folder/crystal.cache"
crystal build --release $flag -o "$folder/$name" ring.cr
crystal build --release $flag --link-flags "$folder/$name.hold.o" -o "$folder/${name}_waiting" waiting.cr
