#!/bin/sh
# Writes build.ninja: layoutc's edges, one for each manifest, and the program that is compiled of what they make.
# Ninja runs this again when layoutc.toml changes, or a folder of manifests does.
set -eu
cd "$(dirname "$0")"
LAYOUTC=${LAYOUTC:-layoutc}

edges=$("$LAYOUTC" outputs --format ninja)
outputs=$(echo "$edges" | sed -n 's/^build layoutc_outputs: phony //p')

{
    cat <<EOF
$edges

rule cc
  command = cc -std=c99 -O1 -Igenerated/c -MMD -MF \$out.d -c \$in -o \$out
  depfile = \$out.d
  deps = gcc

rule link
  command = cc \$in -o \$out

rule configure
  command = LAYOUTC='$LAYOUTC' sh configure.sh
  depfile = build.ninja.d
  generator = 1

build build.ninja: configure | configure.sh
build main.o: cc main.c || layoutc_outputs
EOF
    objects=main.o
    for source in $outputs; do
        case $source in
        */c/tests/*_test.c | */c/bench/*_bench.c | */c/mpi/*_mpi.c) ;; # programs, and what needs MPI
        *.c)
            echo "build $source.o: cc $source || layoutc_outputs"
            objects="$objects $source.o"
            ;;
        esac
    done
    echo "build farm: link $objects"
    echo "default farm"
} >build.ninja.new
echo build.ninja: layoutc.toml $(find layouts -type d) >build.ninja.d
mv build.ninja.new build.ninja

# What was made of manifests that are gone.
if [ -e .ninja_log ]; then
    ninja -t cleandead >/dev/null
fi
