#!/usr/bin/env bash
# The one kernel of the image, and the modules that dkms builds for it.

# Fail unless the machine runs the pinned kernel: dkms builds for the running one, and a driver
# built for another is a node without its accelerator.
require_pinned_kernel() {
  local pinned
  pinned=$(pin base kernel)
  [[ $(uname -r) == "$pinned" ]] || die kernel "this machine runs $(uname -r) and not $pinned" \
    "see why the reboot after 15-kernel did not choose it"
}

# Fail unless a module that a package registered is built and installed for the pinned kernel:
# require_dkms_module COMPONENT MODULE
#
# dkms reports a failed build to nobody: the package installs all the same.
require_dkms_module() {
  local component=$1 module=$2 pinned state
  pinned=$(pin base kernel)
  state=$(dkms status -m "$module" -k "$pinned" | head -n 1)
  if [[ $state == *installed* ]]; then return; fi
  # Packages build for the running kernel only where a header is found; try once, with output.
  dkms autoinstall -k "$pinned" >"$WORK/dkms" 2>&1 || cat "$WORK/dkms"
  state=$(dkms status -m "$module" -k "$pinned" | head -n 1)
  [[ $state == *installed* ]] || die "$component" \
    "dkms module $module is not installed for $pinned (${state:-not registered})" \
    "read make.log in /var/lib/dkms/$module"
}
