#!/bin/sh
# build.sh FOLDER NAME [FLAG]: the ring as FOLDER/NAME, the workloads about waiting as FOLDER/NAME_waiting, and those
# about channels as FOLDER/NAME_channels.
set -eu
folder=$1 name=$2 flag=${3:-}
mkdir -p "$folder"
# With what holds a thread up in C.
cc -O2 -c ../c/hold.c -o "$folder/$name.hold.o"
ghc -v0 -Wall -O2 $flag -rtsopts -outputdir "$folder/$name.objects" -o "$folder/$name" Ring.hs
ghc -v0 -Wall -O2 $flag -rtsopts -outputdir "$folder/$name.waiting.objects" -o "$folder/${name}_waiting" Waiting.hs "$folder/$name.hold.o"
ghc -v0 -Wall -O2 $flag -rtsopts -package stm -outputdir "$folder/$name.channels.objects" -o "$folder/${name}_channels" Channels.hs
