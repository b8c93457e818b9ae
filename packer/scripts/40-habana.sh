#!/usr/bin/env bash
# Gaudi: driver, firmware, user-space library and container runtime.
set -euo pipefail
# shellcheck source=packer/scripts/lib/bake.sh
source /tmp/trainshed/lib/bake.sh 40-habana

require_pinned_kernel
parts=$(components habana)
mapfile -t parts <<<"$parts"
install_components "${parts[@]}"
require_dkms_modules habana-driver 'habanalabs*'

# For Docker, ECS and Batch, which cannot name a runtime for a job: it is the daemon's default.
merge_json /etc/docker/daemon.json '{
  "default-runtime": "habana",
  "runtimes": {"habana": {"path": "/usr/bin/habana-container-runtime", "runtimeArgs": []}}
}'

# Gaudi Direct: on kernels 5.9 to 5.16, moving pages between NUMA nodes breaks registered memory
# (HabanaAI/hccl_demo, README).
kernel=$(pin base kernel)
case $kernel in
  5.9.* | 5.1[0-6].*)
    install -m 644 /dev/stdin /etc/sysctl.d/61-trainshed-habana.conf <<<'kernel.numa_balancing = 0'
    ;;
esac
