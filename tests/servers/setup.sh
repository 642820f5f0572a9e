#!/bin/sh
# Installs the MCP servers that the tests run against, into folders beside this script that git ignores:
# node_modules (npm) and .venv (pip). Versions are pinned; a second run with the same pins does nothing.
# Uses npm and pip as they are configured on this machine. Nothing is fetched when the tests run.
set -eu
cd "$(dirname "$0")"

filesystem='@modelcontextprotocol/server-filesystem@2026.8.31'
everything='@modelcontextprotocol/server-everything@2026.8.31'
git='mcp-server-git==2026.10.19'

# Whether the folder $1 holds what $2 says.
holds() {
    [ -f "$1/.pins" ] && [ "$(cat "$1/.pins")" = "$2" ]
}

if holds node_modules "$filesystem $everything"; then
    echo "node_modules: up to date"
elif command -v npm >/dev/null; then
    rm -rf node_modules
    # The folder must exist, or npm installs into one further up that has a package.json.
    mkdir node_modules
    npm install --prefix . --no-save --no-package-lock --no-audit --no-fund --loglevel=error "$filesystem" "$everything"
    echo "$filesystem $everything" >node_modules/.pins
else
    echo "npm is not installed: the filesystem and everything servers are left out" >&2
fi

if holds .venv "$git"; then
    echo ".venv: up to date"
elif command -v python3 >/dev/null; then
    rm -rf .venv
    python3 -m venv .venv
    .venv/bin/python -m pip install --quiet --disable-pip-version-check "$git"
    echo "$git" >.venv/.pins
else
    echo "python3 is not installed: the git server is left out" >&2
fi
