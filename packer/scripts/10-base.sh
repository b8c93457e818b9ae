#!/usr/bin/env bash
# The distribution at its pinned release, with what every image needs.
set -euo pipefail
# shellcheck source=packer/scripts/lib/bake.sh
source /tmp/trainshed/lib/bake.sh
