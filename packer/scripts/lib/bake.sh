#!/usr/bin/env bash
# What every provisioning script starts with: source bake.sh JOB
#
# Strict mode, failures in one line, pins. The job's name is for messages: Packer renames scripts.
set -euo pipefail
shopt -s inherit_errexit

readonly HERE=/opt/trainshed
LIB=$(dirname "${BASH_SOURCE[0]}")
readonly LIB

# Scratch space of one script; removed with it, so that nothing half-downloaded gets into the AMI.
WORK=$(mktemp -d)
readonly WORK

readonly JOB=$1

# Nothing asks, and no service is restarted that the build may have come in by.
export DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 LC_ALL=C.UTF-8

# Stop the bake: die COMPONENT WHAT WHAT-TO-DO
die() {
  local line="trainshed: ERROR: $1: $2; $3"
  # What package managers say may end in a carriage return.
  printf '%s\n' "${line//[[:cntrl:]]/}" >&2
  touch "$WORK/reported"
  exit 1
}

# A command that fails without a word of its own must not end the bake in silence. A line that was
# reported, by `die` in a subshell or by a node program, is not followed by a second one.
_on_exit() {
  local code=$? command=$1
  if ((code != 0)) && [[ ! -e $WORK/reported ]]; then
    printf 'trainshed: ERROR: %s: "%s" failed with %s; see the output above\n' \
      "$JOB" "${command//$'\n'/ }" "$code" >&2
    code=1
  fi
  rm -rf "$WORK"
  exit "$code"
}
trap '_on_exit "$BASH_COMMAND"' EXIT

# Print a pinned field: pin COMPONENT FIELD, or pin base FIELD. Nothing when the source lacks it.
pin() {
  "$HERE/pin" "$@" || {
    touch "$WORK/reported"
    exit 1
  }
}

# Succeed if the recipe has a component: has_component COMPONENT
has_component() {
  local all
  all=$("$HERE/pin" --list) || {
    touch "$WORK/reported"
    exit 1
  }
  grep -qx "$1" <<<"$all"
}

# Print the components of the recipe that begin with a prefix: components PREFIX
components() {
  local all
  all=$("$HERE/pin" --list)
  grep "^$1-" <<<"$all" || die "$1" "no component begins with $1-" "pin them in pins.json"
}

# Run a program whose output matters only when it fails; keep it in the file named first.
logged() {
  local log=$1
  shift
  "$@" >"$log" 2>&1 || {
    cat "$log"
    return 1
  }
}

# Debian, below one of the container images, has Ubuntu's tools.
is_ubuntu() { [[ $TRAINSHED_BASE == @(ubuntu|debian)-* ]]; }

# shellcheck source=packer/scripts/lib/signatures.sh
source "$LIB/signatures.sh"
# shellcheck source=packer/scripts/lib/downloads.sh
source "$LIB/downloads.sh"
# shellcheck source=packer/scripts/lib/repositories.sh
source "$LIB/repositories.sh"
# shellcheck source=packer/scripts/lib/packages.sh
source "$LIB/packages.sh"
# shellcheck source=packer/scripts/lib/kernel.sh
source "$LIB/kernel.sh"
# shellcheck source=packer/scripts/lib/settings.sh
source "$LIB/settings.sh"
