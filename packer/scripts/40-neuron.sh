#!/usr/bin/env bash
# Trainium and Inferentia: driver, runtime, collectives and tools.
set -euo pipefail
# shellcheck source=packer/scripts/lib/bake.sh
source /tmp/trainshed/lib/bake.sh 40-neuron

require_pinned_kernel
parts=$(components neuron)
mapfile -t parts <<<"$parts"
install_components "${parts[@]}"
require_dkms_modules neuron-dkms 'aws-neuron*'

# No container runtime: a job is given its devices by name (linuxParameters in Batch, the device
# plugin in EKS), which is also how Trainium is documented. The tools are not on anyone's path.
# shellcheck disable=SC2016  # expanded at login
install -m 644 /dev/stdin /etc/profile.d/trainshed-neuron.sh <<<'export PATH="$PATH:/opt/aws/neuron/bin"'
