#!/bin/sh
# build-nucleotides.sh FOLDER: the compiler writes beside its sources, so it gets a copy.
set -eu
mkdir -p "$1/ocaml_nucleotides.sources"
cp nucleotides.ml "$1/ocaml_nucleotides.sources"
cd "$1/ocaml_nucleotides.sources"
ocamlfind ocamlopt -O3 -unsafe -inline 200 nucleotides.ml -o ../ocaml_nucleotides
