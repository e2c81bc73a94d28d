#!/usr/bin/env bash
# with-rabbitmq.sh COMMAND...: runs the command while a RabbitMQ server listens on the loopback interface, then ends the
# server. Everything the server writes goes to a folder that is removed.
set -euo pipefail

folder=$(mktemp -d)
free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
export RABBITMQ_NODE_PORT RABBITMQ_DIST_PORT ERL_EPMD_PORT
RABBITMQ_NODE_PORT=$(free_port) RABBITMQ_DIST_PORT=$(free_port) ERL_EPMD_PORT=$(free_port)
export RABBITMQ_NODE_IP_ADDRESS=127.0.0.1 ERL_EPMD_ADDRESS=127.0.0.1
export RABBITMQ_NODENAME=saki@localhost
export RABBITMQ_MNESIA_BASE=$folder/mnesia RABBITMQ_LOG_BASE=$folder/log RABBITMQ_CONFIG_FILE=$folder/none
export RABBITMQ_ENABLED_PLUGINS_FILE=$folder/plugins RABBITMQ_PID_FILE=$folder/pid RABBITMQ_CONF_ENV_FILE=$folder/env
export RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="-kernel inet_dist_use_interface {127,0,0,1}"
export HOME=$folder
touch "$folder/env"
echo '[].' >"$folder/plugins"

epmd -port "$ERL_EPMD_PORT" -address 127.0.0.1 -daemon
/usr/lib/rabbitmq/bin/rabbitmq-server >"$folder/out" 2>&1 </dev/null &
server=$!
finish() {
	kill "$server" 2>/dev/null || true
	wait "$server" 2>/dev/null || true
	epmd -port "$ERL_EPMD_PORT" -kill >/dev/null 2>&1 || true
	rm -rf "$folder"
}
trap finish EXIT
for _ in $(seq 600); do
	if (exec 3<>"/dev/tcp/127.0.0.1/$RABBITMQ_NODE_PORT") 2>/dev/null; then
		break
	fi
	kill -0 "$server" 2>/dev/null || {
		cat "$folder/out" >&2
		exit 1
	}
	sleep 0.2
done
"$@"
