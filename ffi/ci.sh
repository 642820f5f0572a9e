#!/usr/bin/env bash
# The tests of the C ABI and of the packages on it, from a fresh clone. What they need is installed: programs by the system's
# package manager, packages into folders that git ignores. What cannot be had is skipped, and said so at the end; with
# PLANGATE_STRICT set, that is a failure.
#
#   ffi/ci.sh                       all of it
#   ffi/ci.sh needs                 installs the programs, and nothing else
#   ffi/ci.sh c | installed | python | node
set -euo pipefail
cd "$(dirname "$0")/.."

step() { printf '\n== %s\n' "$*"; }
skipped=()
skip() { skipped+=("$*"); printf 'skipped: %s\n' "$*"; }
have() { command -v "$1" >/dev/null 2>&1; }
only=" ${*:-needs c installed python node} "
wants() { [[ $only == *" $1 "* ]]; }
target="${CARGO_TARGET_DIR:-$PWD/target}"

if wants needs; then
  step "what the tests of the C ABI need"
  need=()
  have gcc || need+=(gcc libc6-dev)
  have g++ || need+=(g++)
  have nm || need+=(binutils)
  have valgrind || need+=(valgrind)
  have pkg-config || need+=(pkg-config)
  have python3 || need+=(python3)
  python3 -c 'import ensurepip, venv' 2>/dev/null || need+=(python3-venv)
  have node || need+=(nodejs)
  have npm || need+=(npm)
  if ((${#need[@]} == 0)); then
    echo "all there"
  elif have apt-get; then
    # One at a time: where one cannot be had, the others can.
    apt-get update -q || true
    for package in "${need[@]}"; do
      apt-get install -yq --no-install-recommends "$package" || printf 'not installed: %s\n' "$package"
    done
  else
    printf 'not installed, there is no apt-get: %s\n' "${need[*]}"
  fi
fi

if wants c || wants installed; then
  for program in gcc g++ nm readelf; do
    have "$program" || skip "C: there is no $program"
  done
  have valgrind || skip "C: there is no valgrind: leaks are not looked for"
fi

if wants c; then
  step "C"
  cargo test --locked -p plangate-ffi
fi

if wants installed || wants python || wants node; then
  step "the library"
  cargo build --locked -p plangate-ffi --lib
  export PLANGATE_LIBRARY="$target/debug/libplangate.so"
fi

if wants installed; then
  step "an installed library, found by pkg-config"
  if have gcc && have pkg-config; then
    bash ffi/tests/installed.sh "$target"
  else
    skip "the installed library: there is no gcc or no pkg-config"
  fi
fi

if wants python; then
  step "Python"
  if have python3 && python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))'; then
    venv=bindings/python/.venv
    if [ ! -x "$venv/bin/python" ] && ! python3 -m venv "$venv"; then
      rm -rf "$venv"
      skip "Python: no virtual environment could be made (is python3-venv installed?)"
    elif ! "$venv/bin/python" -m pip install -q 'cffi>=1.15' 'pytest>=8' 'setuptools>=77'; then
      skip "Python: cffi and pytest could not be had"
    else
      # The package as people get it, from a wheel.
      wheels=$(mktemp -d)
      "$venv/bin/python" -m pip wheel -q --no-deps --no-build-isolation -w "$wheels" bindings/python
      "$venv/bin/python" -m pip install -q --no-deps --force-reinstall "$wheels"/plangate-*.whl
      rm -rf "$wheels" bindings/python/build bindings/python/src/*.egg-info
      frameworks=(--ignore tests/test_frameworks.py)
      if "$venv/bin/python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' \
        && "$venv/bin/python" -m pip install -q -r bindings/python/tests/frameworks.txt; then
        frameworks=()
      else
        skip "the agent frameworks could not be had, or Python is older than 3.10: their examples are not run"
      fi
      (cd bindings/python && env -u PLANGATE_LIBRARY .venv/bin/python -m pytest ${frameworks[@]+"${frameworks[@]}"})
    fi
  else
    skip "Python: there is no Python 3.9 or later"
  fi
fi

if wants node; then
  step "Node"
  if have node && have npm && node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 18 ? 1 : 0)'; then
    if (cd bindings/node && npm install --ignore-scripts --no-audit --no-fund --no-package-lock --loglevel=error); then
      (cd bindings/node && npm run --silent types && npm test --silent)
    else
      skip "Node: koffi could not be had"
    fi
  else
    skip "Node: there is no Node 18 or later"
  fi
fi

step "done"
for what in ${skipped[@]+"${skipped[@]}"}; do printf 'skipped: %s\n' "$what"; done
if ((${#skipped[@]})) && [ -n "${PLANGATE_STRICT:-}" ]; then
  exit 1
fi
