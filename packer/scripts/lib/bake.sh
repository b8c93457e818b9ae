#!/usr/bin/env bash
# What every provisioning script starts with.
set -euo pipefail
