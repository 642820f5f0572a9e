#!/usr/bin/env bash
# Installs the library into a folder, and builds the example in C by what pkg-config says: shared, and static.
set -euo pipefail
cd "$(dirname "$0")/../.."

at=$(mktemp -d)
trap 'rm -rf "$at"' EXIT
ffi/install.sh --destdir "$at" --prefix /opt/plangate --profile dev >/dev/null

export PKG_CONFIG_PATH="$at/opt/plangate/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$at"
read -ra flags <<<"$(pkg-config --cflags --libs plangate)"
gcc -std=c11 -Wall -Wextra -Werror examples/c/pay.c "${flags[@]}" -o "$at/pay"
lib="$at/opt/plangate/lib"
LD_LIBRARY_PATH="$lib" "$at/pay" plan | grep -q 'this will stop and ask before running it'

read -ra flags <<<"$(pkg-config --static --cflags --libs plangate)"
mkdir "$at/static" && mv "$lib/libplangate.a" "$at/static/"
gcc -std=c11 examples/c/pay.c "-L$at/static" "${flags[@]/-lplangate/-l:libplangate.a}" -o "$at/pay-static"
"$at/pay-static" plan | grep -q 'this will stop and ask before running it'
[ "$(readelf -d "$at/pay" | grep -o 'libplangate.so.1')" = libplangate.so.1 ]
echo "installed, and found by pkg-config"
