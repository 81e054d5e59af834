#!/bin/sh
# build.sh FOLDER: the compiler writes beside its sources, so it gets copies.
set -eu
mkdir -p "$1/lwt_ring.sources"
cp mvar.ml ring.ml waiting.ml "$1/lwt_ring.sources"
cd "$1/lwt_ring.sources"
# Lwt_main refers to Mutex, hence -thread; the ring starts no second thread.
ocamlfind ocamlopt -thread -package lwt,lwt.unix -linkpkg -O3 -inline 200 mvar.ml ring.ml -o ../lwt_ring
ocamlfind ocamlopt -thread -package lwt,lwt.unix -linkpkg -O3 -inline 200 waiting.ml -o ../lwt_waiting
