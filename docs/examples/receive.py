"""Receives webhooks of Signet with Python alone.

    WEBHOOK_SECRET=whsec_… python3 receive.py

In front of it stands whatever ends TLS for you, such as nginx or Caddy.
"""

import base64
import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
# Ids of events that were handled. Keep them in your database.
SEEN = set()


def is_signed(headers, body):
    event_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > 300:
        return False
    signed = f"{event_id}.{timestamp}.".encode() + body
    wanted = "v1," + base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest()).decode()
    return any(hmac.compare_digest(wanted, given) for given in headers.get("webhook-signature", "").split(" "))


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        verified = is_signed(self.headers, body)
        self.send_response(204 if verified else 400)
        self.end_headers()
        if not verified:
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
print(f"listening on port {server.server_port}", flush=True)
server.serve_forever()
