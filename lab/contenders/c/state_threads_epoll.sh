#!/bin/sh
# state_threads_epoll.sh FOLDER: the server on State Threads as FOLDER/state_threads_sockets.
#
# Debian's libst is built without epoll, and with select it has 1,024 descriptors. So the library is built here from
# Debian's copy of its source, which is fetched once with lists of its own, whatever the system's lists have.
set -eu
here=$(pwd)
mkdir -p "$1/state-threads/lists/partial" "$1/state-threads/cache"
cd "$1/state-threads"
if [ ! -f st-1.9/obj/libst.a ]; then
    echo 'deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian stable main' > sources
    options="-o Dir::Etc::SourceList=$PWD/sources -o Dir::Etc::SourceParts=/dev/null"
    options="$options -o Dir::State::Lists=$PWD/lists -o Dir::Cache=$PWD/cache -o APT::Sandbox::User="
    apt-get -qq $options update
    apt-get -qq $options source --download-only --tar-only st
    tar xzf st_1.9.orig.tar.gz
    make -C st-1.9 linux-optimized EXTRA_CFLAGS=-DMD_HAVE_EPOLL >make.log 2>&1
fi
cc -O2 -Wall -Wextra -I st-1.9/obj -o "$1/state_threads_sockets" "$here/state_threads_sockets.c" st-1.9/obj/libst.a \
    -z noexecstack
