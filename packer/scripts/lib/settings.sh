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

# Install Docker with the limits that training needs.
install_docker() {
  install_components docker
  # Amazon Linux passes limits as options, and dockerd refuses a setting that is given twice.
  if [[ -e /etc/sysconfig/docker ]]; then sed -i 's/^OPTIONS=/#&/' /etc/sysconfig/docker; fi
  # EFA and the accelerators pin memory. A log that grows for weeks must not fill the disk.
  merge_json /etc/docker/daemon.json '{
    "default-ulimits": {
      "memlock": {"Name": "memlock", "Soft": -1, "Hard": -1},
      "nofile": {"Name": "nofile", "Soft": 1048576, "Hard": 1048576}
    },
    "log-driver": "json-file",
    "log-opts": {"max-size": "100m", "max-file": "3"}
  }'
}

# Enable units for the next boot; starting them is not the bake's business.
enable_units() {
  logged "$WORK/units" systemctl enable "$@"
}
