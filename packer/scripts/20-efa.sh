#!/usr/bin/env bash
# The EFA driver and libraries, by their own verified installer.
set -euo pipefail
# shellcheck source=packer/scripts/lib/bake.sh
source /tmp/trainshed/lib/bake.sh
