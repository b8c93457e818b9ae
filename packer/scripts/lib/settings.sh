#!/usr/bin/env bash
# Settings that more than one script has a part in.

# Merge settings into a JSON file, objects key by key: merge_json FILE JSON
merge_json() {
  install -d "$(dirname "$1")"
  python3 - "$1" "$2" <<'EOF'
import json
import pathlib
import sys


def merged(old, new):
    if isinstance(old, dict) and isinstance(new, dict):
        return old | {key: merged(old.get(key), value) for key, value in new.items()}
    return new


path = pathlib.Path(sys.argv[1])
settings = json.loads(path.read_text()) if path.exists() and path.stat().st_size else {}
path.write_text(json.dumps(merged(settings, json.loads(sys.argv[2])), indent=2) + "\n")
EOF
}

# Enable units for the next boot; starting them is not the bake's business.
enable_units() {
  logged "$WORK/units" systemctl enable "$@"
}
