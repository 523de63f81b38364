#!/bin/sh
# Installs what lies beside it, on a Linux with systemd and without deb or rpm packages. `install.sh remove` takes it away again.
set -eu
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
cp -a --no-preserve=ownership usr/. /usr/
chmod 755 /usr /usr/bin /usr/lib /usr/share
/usr/lib/signet/deploy configure @VERSION@
