#!/bin/sh
# build.sh FOLDER NAME [FLAG]: the program as FOLDER/NAME, with what holds a thread up in C.
set -eu
folder=$1 name=$2 flag=${3:-}
mkdir -p "$folder"
cc -O2 -c ../c/hold.c -o "$folder/$name.hold.o"
export CRYSTAL_CACHE_DIR="$folder/crystal.cache"
crystal build --release $flag --link-flags "$folder/$name.hold.o" -o "$folder/$name" ring.cr
