#!/usr/bin/env bash
# The tests of the C ABI and of the packages on it, from a fresh clone. What they need is installed into folders that git
# ignores; what cannot be had is skipped, and said so.
#
#   ffi/ci.sh             C, Python, Node
#   ffi/ci.sh c python    some of them
set -euo pipefail
cd "$(dirname "$0")/.."

step() { printf '\n== %s\n' "$*"; }
skipped=()
skip() { skipped+=("$*"); printf 'skipped: %s\n' "$*"; }
have() { command -v "$1" >/dev/null 2>&1; }
only=" ${*:-c python node} "
target="${CARGO_TARGET_DIR:-$PWD/target}"

if [[ $only == *" c "* ]]; then
  step "C"
  need=()
  have gcc || need+=(gcc libc6-dev)
  have g++ || need+=(g++)
  have nm || need+=(binutils)
  have valgrind || need+=(valgrind)
  have pkg-config || need+=(pkg-config)
  if ((${#need[@]})) && have apt-get; then
    { apt-get update -q && apt-get install -yq "${need[@]}"; } || printf 'not installed: %s\n' "${need[*]}"
  fi
  have valgrind || skip "valgrind is not there: leaks are not looked for"
  if have gcc && have nm; then
    cargo test --locked -p plangate-ffi
  else
    skip "C: there is no gcc or no nm"
  fi
fi

step "the library"
cargo build --locked -p plangate-ffi --lib
export PLANGATE_LIBRARY="$target/debug/libplangate.so"

if [[ $only == *" c "* ]] && have gcc && have pkg-config; then
  step "an installed library, found by pkg-config"
  bash ffi/tests/installed.sh "$target"
fi

if [[ $only == *" python "* ]]; then
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

if [[ $only == *" node "* ]]; then
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
