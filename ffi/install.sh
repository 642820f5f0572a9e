#!/usr/bin/env bash
# Installs the C library: header, shared and static library, and the file for pkg-config.
#
#   ffi/install.sh [--prefix DIR] [--destdir DIR] [--profile PROFILE]
#
# The prefix is /usr/local. The profile is `embed`: release, without link-time optimisation.
set -euo pipefail
cd "$(dirname "$0")/.."

prefix=/usr/local destdir='' profile=embed
while (($#)); do
  case $1 in
    --prefix) prefix=$2 && shift 2 ;;
    --destdir) destdir=$2 && shift 2 ;;
    --profile) profile=$2 && shift 2 ;;
    *) sed -n '2,6s/^# \{0,1\}//p' "$0" && exit 2 ;;
  esac
done

cargo build --locked -p plangate-ffi --lib --profile "$profile"
built="${CARGO_TARGET_DIR:-$PWD/target}/${profile/#dev/debug}"
abi=$(sed -n 's/^#define PLANGATE_ABI_VERSION //p' ffi/include/plangate.h)
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
to=$destdir$prefix

install -d "$to/include" "$to/lib/pkgconfig"
install -m 644 ffi/include/plangate.h "$to/include/"
install -m 644 "$built/libplangate.a" "$to/lib/"
install -m 755 "$built/libplangate.so" "$to/lib/libplangate.so.$version"
ln -sf "libplangate.so.$version" "$to/lib/libplangate.so.$abi"
ln -sf "libplangate.so.$abi" "$to/lib/libplangate.so"
sed -e "s|@prefix@|$prefix|" -e "s|@version@|$version|" ffi/plangate.pc.in > "$to/lib/pkgconfig/plangate.pc"
