#!/usr/bin/env bash
# The list of what is in the AMI.
set -euo pipefail
# shellcheck source=packer/scripts/lib/bake.sh
source /tmp/trainshed/lib/bake.sh 85-report

"$HERE/report" /tmp/trainshed
