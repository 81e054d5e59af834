#!/bin/sh
# build.sh FOLDER LIBRARY NAME…: each NAME.c as FOLDER/NAME, with that library.
set -eu
folder=$1 library=$2
shift 2
for name; do
    cc -O2 -Wall -Wextra -o "$folder/$name" "$name.c" "-l$library"
done
