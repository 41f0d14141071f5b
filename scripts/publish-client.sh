#!/usr/bin/env bash
# Publishes one package of clients/. Usage: scripts/publish-client.sh client-typescript-v0.1.0 [--dry-run]
set -euo pipefail
cd "$(dirname "$0")/.."
tag="${1:?Pass a tag such as client-typescript-v0.1.0.}"
mode="${2:-}"
if [[ ! "$tag" =~ ^client-([a-z0-9]+)-v([0-9]+\.[0-9]+\.[0-9]+)$ ]]; then
  echo "The tag must look like client-typescript-v0.1.0; got $tag." >&2
  exit 1
fi
client="${BASH_REMATCH[1]}"
version="${BASH_REMATCH[2]}"
if [[ ! -d "clients/$client" ]]; then
  echo "There is no clients/$client. There are: $(cd clients && printf '%s ' */)" >&2
  exit 1
fi
cd "clients/$client"

if [[ -f pyproject.toml ]]; then
  actual="$(sed -n 's/^version = "\(.*\)"$/\1/p' pyproject.toml)"
else
  actual="$(node -p 'require("./package.json").version')"
fi
if [[ "$actual" != "$version" ]]; then
  echo "The tag says $version, but clients/$client has version $actual." >&2
  exit 1
fi

if [[ -f pyproject.toml ]]; then
  # In an environment of its own, because Debian and Ubuntu don't let pip change the system's packages.
  work="$(mktemp -d)"
  trap 'rm -rf "$work"' EXIT
  python3 -m venv "$work/venv"
  "$work/venv/bin/pip" install --quiet build
  "$work/venv/bin/python" -m build --outdir "$work/dist"
  if [[ "$mode" == --dry-run ]]; then
    ls -l "$work/dist"
  else
    "$work/venv/bin/pip" install --quiet twine
    TWINE_USERNAME=__token__ "$work/venv/bin/twine" upload "$work"/dist/*
  fi
  exit
fi

# The MCP server contains the TypeScript client.
if [[ "$client" == mcp ]]; then (cd ../typescript && npm ci && npm run build); fi
npm ci
if [[ "$mode" == --dry-run ]]; then
  npm publish --access public --dry-run
else
  npm publish --access public --provenance
fi
