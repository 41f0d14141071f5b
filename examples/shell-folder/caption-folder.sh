#!/usr/bin/env bash
# Usage: STORYBAR_URL=https://captions.example.com STORYBAR_API_KEY=sb_live_... ./caption-folder.sh photos captioned "Golden hour"
set -euo pipefail
from="${1:?folder with photos and videos}" to="${2:?folder for the results}" text="${3:?caption}"
[[ -d "$from" ]] || { echo "Folder not found: $from" >&2; exit 1; }
mkdir -p "$to"
command -v sha256sum >/dev/null || sha256sum() { shasum -a 256; } # macOS
shopt -s nocasematch
failed=0
for file in "$from"/*; do
  case "$file" in
    *.jpg | *.jpeg | *.png | *.webp | *.heic | *.heif | *.avif | *.gif) extension=png ;;
    *.mp4 | *.mov | *.webm | *.mkv) extension=mp4 ;;
    *) continue ;;
  esac
  result="$to/$(basename "${file%.*}").$extension"
  [[ -e "$result" ]] && continue
  key="$({ cat "$file"; printf '%s' "$text"; } | sha256sum | cut -c1-64)"
  # curl wants quotation marks and backslashes in names escaped.
  quoted="${file//\\/\\\\}" quoted="${quoted//\"/\\\"}"
  if curl --silent --show-error --fail-with-body --retry 5 --max-time 600 "$STORYBAR_URL/v1/overlay" \
    --header "x-api-key: $STORYBAR_API_KEY" --header "idempotency-key: $key" \
    --form "asset=@\"$quoted\"" --form-string "text=$text" --output "$result.part"; then
    mv "$result.part" "$result"
    echo "$result"
  else
    # The response is a problem with `detail` and every invalid field.
    echo "$file: $(cat "$result.part" 2>/dev/null)" >&2
    rm -f "$result.part"
    failed=1
  fi
done
exit "$failed"
