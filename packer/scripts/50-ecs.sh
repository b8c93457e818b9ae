#!/usr/bin/env bash
# The ECS agent, set up for AWS Batch.
set -euo pipefail
# shellcheck source=packer/scripts/lib/bake.sh
source /tmp/trainshed/lib/bake.sh
