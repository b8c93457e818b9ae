#!/usr/bin/env bash
# What the image does when an instance first boots.
set -euo pipefail
# shellcheck source=packer/scripts/lib/bake.sh
source /tmp/trainshed/lib/bake.sh
