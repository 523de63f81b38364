"""Receives webhooks of Signet with Python alone.

    WEBHOOK_SECRET=whsec_… python3 receive.py

Signet calls https only: put nginx, Caddy or the like in front, or name a certificate and its key in TLS_CERT and TLS_KEY.
"""

import base64
import hashlib
import hmac
import json
import os
import re
import ssl
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
TLS_CERT, TLS_KEY = os.environ.get("TLS_CERT"), os.environ.get("TLS_KEY")
if bool(TLS_CERT) != bool(TLS_KEY):
    sys.exit("set both TLS_CERT and TLS_KEY, or neither")
# Ids of events that were handled. Keep them in your database.
SEEN = set()


def is_signed(headers, body):
    event_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > 300:
        return False
    signed = f"{event_id}.{timestamp}.".encode() + body
    wanted = "v1," + base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest()).decode()
    return any(hmac.compare_digest(wanted, given) for given in headers.get("webhook-signature", "").split(" "))


def report(headers, body):
    """What the dashboard's page "Check a signature" asks for. Anybody may have sent it: a terminal must not obey its control characters."""
    names = ("webhook-id", "webhook-timestamp", "webhook-signature")
    lines = [f"{name}: {headers.get(name, '')}" for name in names] + [body.decode(errors="replace")]
    text = "the signature does not verify:\n" + "\n".join(lines)
    print(re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)", "\ufffd", text), file=sys.stderr, flush=True)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        verified = is_signed(self.headers, body)
        self.send_response(204 if verified else 400)
        self.end_headers()
        if not verified:
            report(self.headers, body)
            return
        event = json.loads(body)
        if event["id"] in SEEN:
            return
        SEEN.add(event["id"])
        envelope = event["data"]["envelope"] or {}
        print(event["type"], envelope.get("id", ""), envelope.get("status", ""), flush=True)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8000"))), Receiver)
if TLS_CERT:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(TLS_CERT, TLS_KEY)
    # The handshake is left to the thread of each connection: a client that says nothing keeps no other waiting.
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
print(f"listening on port {server.server_port}", flush=True)
server.serve_forever()
