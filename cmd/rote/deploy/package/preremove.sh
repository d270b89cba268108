#!/bin/sh
# Stops the server before its program is removed, but not before an upgrade.
# dpkg says remove or upgrade; rpm says how many versions will be left.
set -e
if [ -d /run/systemd/system ]; then
  case "$1" in
    remove | 0) systemctl disable --now rote.service ;;
  esac
fi
