#!/usr/bin/env bash
# Less to attack, and nothing that changes by itself.
set -euo pipefail
# shellcheck source=packer/scripts/lib/bake.sh
source /tmp/trainshed/lib/bake.sh 65-hardening

# The settings themselves are files: sshd_config.d, sysctl.d, coredump.conf.d. They are not applied
# here: the build instance ends soon, and `sysctl -p` fails on the first key a kernel lacks.

# No logins with a password, and none as root.
user=$(pin base ssh_user)
passwd --lock root >"$WORK/passwd"
passwd --lock "$user" >"$WORK/passwd"
# An sshd_config of long ago does not read the directory.
grep -qi '^include /etc/ssh/sshd_config.d/' /etc/ssh/sshd_config ||
  sed -i '1i Include /etc/ssh/sshd_config.d/*.conf' /etc/ssh/sshd_config
install -d -m 755 /run/sshd
effective=$(sshd -T)
for setting in 'permitrootlogin no' 'passwordauthentication no' \
  'kbdinteractiveauthentication no' 'permitemptypasswords no'; do
  grep -qix "$setting" <<<"$effective" || die hardening "sshd does not obey '$setting'" \
    "see which file of /etc/ssh/sshd_config.d comes before 10-trainshed.conf"
done

# Crash reporters rewrite kernel.core_pattern when they start.
logged "$WORK/mask" systemctl mask apport.service apport-autoreport.path

disable_repositories
