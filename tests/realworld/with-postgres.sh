#!/usr/bin/env bash
# with-postgres.sh COMMAND...: runs the command while a PostgreSQL server
# listens on the loopback interface, whose port is $PGPORT (user and password: saki), then ends the server.
set -euo pipefail
folder=$(mktemp -d)
PGPORT=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
export PGPORT PGUSER=saki PGDATABASE=postgres
as_server=()
if [ "$(id -u)" -eq 0 ]; then
	# The server refuses to run as root.
	chown postgres "$folder"
	as_server=(setpriv --reuid=postgres --regid=postgres --clear-groups --)
fi
finish() {
	"${as_server[@]}" pg_ctl -D "$folder/data" -m immediate stop >/dev/null 2>&1 || true
	rm -rf "$folder"
}
trap finish EXIT
(
	cd "$folder"
	echo saki >"$folder/password"
	"${as_server[@]}" initdb -D "$folder/data" -U saki -A scram-sha-256 --pwfile="$folder/password" --locale=C -E UTF8 >"$folder/out" 2>&1
	"${as_server[@]}" pg_ctl -D "$folder/data" -w -l "$folder/data/log" -o "-c listen_addresses=127.0.0.1 -p $PGPORT -k $folder -c fsync=off -c max_connections=150" start >"$folder/out" 2>&1
) || {
	cat "$folder/out" >&2
	exit 1
}
"$@"
