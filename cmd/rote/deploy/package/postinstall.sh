#!/bin/sh
# Starts nothing: the server is for whoever enables it.
set -e
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
fi
cat <<'END'
rote is installed. `rote doctor` says what is missing, such as Chromium (`rote browser install`).
To run it as a service: systemctl enable --now rote
After an upgrade:       systemctl try-restart rote
END
