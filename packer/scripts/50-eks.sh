#!/usr/bin/env bash
# The EKS node: nodeadm or Canonical's bootstrap, and containerd.
set -euo pipefail
# shellcheck source=packer/scripts/lib/bake.sh
source /tmp/trainshed/lib/bake.sh
