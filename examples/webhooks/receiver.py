"""Receives the deliveries of a subscription, checks their signatures, and prints each change once.

Run: WEBHOOK_SECRET=whsec_… PORT=9000 python3 examples/webhooks/receiver.py
Needs the standard library only.
"""

import base64
import hashlib
import hmac
import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# The secret of the subscription; during a rotation, two secrets with a comma in between.
SECRETS = os.environ.get("WEBHOOK_SECRET", "").split(",")
KEYS = [base64.b64decode(secret.strip().removeprefix("whsec_")) for secret in SECRETS]
# Anyone can sign with an empty key.
KEYS = [key for key in KEYS if key]
TOLERANCE_SECONDS = 300

# Ids that were processed. A real receiver keeps them in its database, in the transaction of the change.
processed = set()


def is_signed(headers, body):
    """Whether one of the secrets has signed the delivery, not long ago."""
    delivery, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    signed = f"{delivery}.{timestamp}.".encode() + body
    given = [part[3:] for part in headers.get("webhook-signature", "").split() if part.startswith("v1,")]
    for key in KEYS:
        expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        if any(hmac.compare_digest(expected, signature) for signature in given):
            return True
    return False


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if not is_signed(self.headers, body):
            self.answer(401)
            return
        event, delivery = json.loads(body), self.headers["webhook-id"]
        if delivery not in processed:
            print(event["type"], event["data"].get("id", ""), flush=True)
            processed.add(delivery)
        # A delivery without a 2xx answer within 15 seconds is sent again.
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    if not KEYS:
        sys.exit("Set WEBHOOK_SECRET to the secret of the subscription.")
    ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "9000"))), Receiver).serve_forever()
