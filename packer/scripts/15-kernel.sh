#!/usr/bin/env bash
# The one kernel of the image, with its headers, held.
set -euo pipefail
# shellcheck source=packer/scripts/lib/bake.sh
source /tmp/trainshed/lib/bake.sh
