#!/usr/bin/env bash
# The AMI's own self-test, for people and for the build.
set -euo pipefail
# shellcheck source=packer/scripts/lib/bake.sh
source /tmp/trainshed/lib/bake.sh 80-selftest

"$HERE/selftest" --stage bake --save /tmp/trainshed/selftest.json
