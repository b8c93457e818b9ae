#!/usr/bin/env bash
# Gaudi: driver, firmware and Docker's runtime.
set -euo pipefail
# shellcheck source=packer/scripts/lib/bake.sh
source /tmp/trainshed/lib/bake.sh
