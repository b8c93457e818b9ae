#!/usr/bin/env bash
# Nothing of the build instance stays in the AMI.
set -euo pipefail
# shellcheck source=packer/scripts/lib/bake.sh
source /tmp/trainshed/lib/bake.sh 90-clean

"$HERE/clean"
