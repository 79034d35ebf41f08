#!/usr/bin/env bash
# Starts a member of the replica set. The key of its members must belong to the database's user, with no rights for others.
set -euo pipefail
install -o mongodb -g mongodb -m 400 /run/secrets/mongo_keyfile /tmp/mongo_keyfile
exec docker-entrypoint.sh mongod --replSet rs0 --keyFile /tmp/mongo_keyfile --bind_ip_all
