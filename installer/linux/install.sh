#!/bin/sh
# Installs what lies beside it, on a Linux with systemd and without deb or rpm packages. `install.sh remove` takes it away again.
set -eu
# What is installed is everybody's to read, whatever root's own habit is and however the archive was unpacked.
umask 022
cd "$(dirname "$0")"
if [ "$(id -u)" != 0 ]; then
  echo "install.sh: run it as root" >&2
  exit 1
fi
if [ "${1:-}" = remove ]; then
  /usr/lib/signet/deploy remove
  rm -rf /usr/lib/signet /usr/share/doc/signet-server
  rm -f /usr/bin/signet /usr/lib/systemd/system/signet.service /usr/lib/sysusers.d/signet.conf /usr/lib/tmpfiles.d/signet.conf
  rm -f /usr/share/man/man1/signet.1.gz /usr/share/bash-completion/completions/signet /usr/share/zsh/*/_signet
  rm -f /usr/share/fish/vendor_completions.d/signet.fish
  if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
  exit 0
fi
if [ -x /usr/lib/signet/deploy ]; then /usr/lib/signet/deploy refuse-downgrade @VERSION@; fi
# Settings that are there stay as they are.
mkdir -p /etc/signet
if [ ! -e /etc/signet/signet.env ]; then cp etc/signet/signet.env /etc/signet/signet.env; fi
rm -rf /usr/lib/signet
mkdir -p /usr/lib/signet
cp -R usr/lib/signet/. /usr/lib/signet/
chmod -R u=rwX,go=rX /usr/lib/signet
# What is copied takes its folder's label, with which SELinux lets no service start; the releases are the same files.
if command -v restorecon >/dev/null; then restorecon -R /usr/lib/signet || true; fi
# One by one: the folders of the system keep their owners, modes and labels.
find usr -path usr/lib/signet -prune -o -type f -print | while read -r file; do install -D -m 644 "$file" "/$file"; done
chmod 755 /usr/bin/signet
/usr/lib/signet/deploy configure @VERSION@
