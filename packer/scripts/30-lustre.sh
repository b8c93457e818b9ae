#!/usr/bin/env bash
# The Lustre client that matches the pinned kernel.
set -euo pipefail
# shellcheck source=packer/scripts/lib/bake.sh
source /tmp/trainshed/lib/bake.sh
