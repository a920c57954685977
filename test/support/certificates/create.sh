#!/usr/bin/env bash
# Creates the PEM files of this folder anew: a certificate authority that exists for tests only, and what it signed.
# Valid from 2020 to 2120. Needs OpenSSL 3. Usage: test/support/certificates/create.sh
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cd "$work"
touch index.txt
cat >ca.cnf <<'CONFIG'
[ca]
default_ca = tests
[tests]
database = index.txt
new_certs_dir = .
rand_serial = yes
default_md = sha256
policy = any
unique_subject = no
copy_extensions = none
[any]
commonName = supplied
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[server]
basicConstraints = CA:FALSE
extendedKeyUsage = serverAuth
subjectAltName = DNS:localhost, IP:127.0.0.1
[client]
basicConstraints = CA:FALSE
extendedKeyUsage = clientAuth
CONFIG

# sign NAME SUBJECT SECTION [SELF]
sign() {
  openssl ecparam -name prime256v1 -genkey -noout | openssl pkcs8 -topk8 -nocrypt -out "$1-key.pem"
  openssl req -new -key "$1-key.pem" -subj "/CN=$2" -out "$1.csr"
  local by=(-cert ca.pem -keyfile ca-key.pem)
  if [[ "$3" == authority ]]; then by=(-selfsign -keyfile "$1-key.pem"); fi
  openssl ca -batch -notext -config ca.cnf -extensions "$3" "${by[@]}" \
    -startdate 20200101000000Z -enddate 21200101000000Z -in "$1.csr" -out "$1.pem"
}
sign ca "Project automation test authority" authority
sign server localhost server
sign client "test client" client
cp ca.pem server.pem server-key.pem client.pem client-key.pem "$here/"
