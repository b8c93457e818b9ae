#!/usr/bin/env bash
# Less to attack, and nothing that changes by itself.
set -euo pipefail
# shellcheck source=packer/scripts/lib/bake.sh
source /tmp/trainshed/lib/bake.sh 65-hardening

# The settings themselves are files: sshd_config.d, sysctl.d, coredump.conf.d. They are not applied
# here: the build instance ends soon, and `sysctl -p` fails on the first key a kernel lacks.

# Nobody logs in with a password, and root not at all.
passwd --lock root >"$WORK/passwd"
passwd --lock "$(pin base ssh_user)" >"$WORK/passwd"
install -d -m 755 /run/sshd
effective=$(sshd -T)
for setting in 'permitrootlogin no' 'passwordauthentication no' \
  'kbdinteractiveauthentication no' 'permitemptypasswords no'; do
  grep -qix "$setting" <<<"$effective" || die hardening "sshd does not obey '$setting'" \
    "see which file of /etc/ssh/sshd_config.d comes before 10-trainshed.conf"
done

# Unattended upgrades are off because versions are pinned: driver, kernel and container images are
# tested together, and an upgrade at 6 in the morning parts them in the middle of a job. Security
# updates come as a new image; `trainshed ami build` makes it.
logged "$WORK/mask" systemctl mask apt-daily.timer apt-daily-upgrade.timer \
  unattended-upgrades.service dnf-automatic.timer dnf-automatic-install.timer dnf-makecache.timer
# Crash reporters rewrite kernel.core_pattern when they start.
logged "$WORK/mask" systemctl mask apport.service apport-autoreport.path
if command -v snap >/dev/null; then snap refresh --hold >"$WORK/snap"; fi

disable_repositories
