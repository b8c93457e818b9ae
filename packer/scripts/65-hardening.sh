#!/usr/bin/env bash
# Less to attack: logins, kernel settings, core dumps.
set -euo pipefail
# shellcheck source=packer/scripts/lib/bake.sh
source /tmp/trainshed/lib/bake.sh
