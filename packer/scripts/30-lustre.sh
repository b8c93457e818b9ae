#!/usr/bin/env bash
# The Lustre client that matches the pinned kernel.
set -euo pipefail
# shellcheck source=packer/scripts/lib/bake.sh
source /tmp/trainshed/lib/bake.sh 30-lustre

kernel=$(pin base kernel)
# Ubuntu's modules are a package a kernel: one for another kernel would install and never load.
packages=$(pin lustre-client packages)
if is_ubuntu && ! grep -q "^lustre-client-modules-$kernel " <<<"$packages"; then
  die lustre-client "its packages are not those of kernel $kernel" \
    "pin lustre-client-modules-$kernel in pins.json, or the kernel that it has modules for"
fi
install_components lustre-client
