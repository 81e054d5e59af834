#!/bin/sh
# build.sh FOLDER NAME…: each NAME.cpp as FOLDER/NAME, with Boost.Fiber.
set -eu
folder=$1
shift
for name; do
    c++ -O2 -DNDEBUG -std=c++17 -Wall -Wextra -o "$folder/$name" "$name.cpp" -lboost_fiber -lboost_context -pthread
done
