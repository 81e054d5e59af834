#!/bin/sh
# build.sh FOLDER: the workloads about waiting, on one thread and with -Dpreview_mt, with what holds a thread up in C.
set -eu
mkdir -p "$1"
cc -O2 -c ../c/hold.c -o "$1/crystal_hold.o"
export CRYSTAL_CACHE_DIR="$1/crystal.cache"
crystal build --release --link-flags "$1/crystal_hold.o" -o "$1/crystal_waiting" waiting.cr
crystal build --release --link-flags "$1/crystal_hold.o" -Dpreview_mt -o "$1/crystal_waiting_mt" waiting.cr
