#!/usr/bin/env bash
# NVIDIA GPUs: driver, fabric manager and Docker's runtime.
set -euo pipefail
# shellcheck source=packer/scripts/lib/bake.sh
source /tmp/trainshed/lib/bake.sh
