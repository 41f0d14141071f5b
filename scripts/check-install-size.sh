#!/usr/bin/env bash
# Fails when a production install of node_modules is larger than 340 MB on Linux: `npm run test:size -- x64 arm64`.
# Without arguments, it checks x64, which is the larger one.
set -euo pipefail
cd "$(dirname "$0")/.."
limit=340
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for cpu in "${@:-x64}"; do
  mkdir "$work/$cpu"
  cp package.json package-lock.json "$work/$cpu"
  (cd "$work/$cpu" && npm ci --silent --omit=dev --ignore-scripts --os=linux --cpu="$cpu" --libc=glibc)
  (cd "$work/$cpu" && node "$OLDPWD/scripts/prune.js" glibc)
  size=$(du --apparent-size --bytes --summarize "$work/$cpu/node_modules" | cut -f1)
  echo "linux-$cpu: $((size / 1000000)) MB of at most $limit MB"
  ((size <= limit * 1000000)) || { echo "a production install for linux-$cpu is too large" >&2; exit 1; }
done
