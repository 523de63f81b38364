"""Takes webhooks over TLS and has the library of Standard Webhooks judge them.

    SECRETS=whsec_…,whsec_… python receiver.py ADDRESS PORT CERTIFICATE KEY

Prints one line of JSON a request: its id, and whether it verifies with each of the secrets.
"""

import json
import os
import socket
import ssl
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

address, port, certificate, key = sys.argv[1:5]
secrets = os.environ["SECRETS"].split(",")


def verifies(secret, body, headers):
    try:
        Webhook(secret).verify(body, headers)
        return True
    except WebhookVerificationError:
        return False


class Server(ThreadingHTTPServer):
    address_family = socket.AF_INET6


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.send_response(204)
        self.end_headers()
        verdicts = [verifies(secret, body, headers) for secret in secrets]
        tampered = any(verifies(secret, body + b" ", headers) for secret in secrets)
        print(json.dumps({"id": headers["webhook-id"], "verdicts": verdicts, "tampered": tampered}), flush=True)

    def log_message(self, *_):
        pass


server = Server((address, int(port)), Receiver)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
server.socket = context.wrap_socket(server.socket, server_side=True)
print("ready", flush=True)
server.serve_forever()
