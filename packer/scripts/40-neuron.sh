#!/usr/bin/env bash
# Trainium and Inferentia: driver, runtime, collectives and tools.
set -euo pipefail
# shellcheck source=packer/scripts/lib/bake.sh
source /tmp/trainshed/lib/bake.sh
