#!/usr/bin/env bash
# Makes the secrets of a deployment that do not exist yet, a file each, in deploy/secrets or in the folder that is named. Existing files stay
# as they are. Two are made by the operator: chain_rpc_url, and smtp_password, the password of the mail account of alertmanager.yaml.
set -euo pipefail
folder=${1:-"$(dirname "$0")/secrets"}
# Containers read the files as users of their own; on this machine the folder keeps others out.
mkdir -p "$folder"
chmod 700 "$folder"
cd "$folder"

make() {
  local name=$1
  shift
  [ -e "$name" ] && return
  "$@" > "$name.new"
  chmod 444 "$name.new"
  mv "$name.new" "$name"
  echo "made $name"
}
random() { openssl rand -hex 32 | tr -d '\n'; }
private_key() { printf '0x%s' "$(openssl rand -hex 32)"; }
password() { openssl rand -base64 24 | tr -d '\n'; }
keyfile() { openssl rand -base64 756; }
mongodb_uri() {
  printf 'mongodb://oracle:%s@mongo-1,mongo-2,mongo-3/oracle?replicaSet=rs0&authSource=admin' "$(cat mongo_oracle_password)"
}

for role in attester reporter facilitator provider; do make "${role}_private_key" private_key; done
for name in salt_secret encryption_secret backup_key mongo_root_password mongo_oracle_password; do make "$name" random; done
for name in admin_password grafana_password; do make "$name" password; done
make mongo_keyfile keyfile
make mongodb_uri mongodb_uri
for name in chain_rpc_url smtp_password; do
  [ -s "$name" ] || echo "missing: $folder/$name"
done
echo "keep a copy of salt_secret, backup_key and the keys offline, twice: without salt_secret open forecasts can never be revealed"
