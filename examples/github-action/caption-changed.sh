#!/usr/bin/env bash
# Captions every image in images/ that was added since $BASE. The caption is the text file of the same name, such as
# images/beach.txt for images/beach.jpg, or the name of the image.
set -euo pipefail
git diff --name-only --diff-filter=AM -z "$BASE"...HEAD -- images | while IFS= read -r -d '' file; do
  case "$file" in
    *-captioned.png) continue ;;
    *.jpg | *.jpeg | *.png | *.webp) ;;
    *) continue ;;
  esac
  name="${file%.*}"
  text="$(basename "$name")"
  if [[ -e "$name.txt" ]]; then text="$(cat "$name.txt")"; fi
  echo "$file: $text"
  # A job that is repeated doesn't pay twice.
  key="$({ cat "$file"; printf '%s' "$text"; } | sha256sum | cut -c1-64)"
  curl --silent --show-error --fail-with-body --retry 5 "$STORYBAR_URL/v1/overlay" \
    --header "x-api-key: $STORYBAR_API_KEY" --header "idempotency-key: $key" \
    --form "asset=@\"$file\"" --form-string "text=$text" --output "$name-captioned.png"
done
