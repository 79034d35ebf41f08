"""Prints verified deliveries, on PORT or 8080: WEBHOOK_SECRET=whsec_... python receive_webhook.py"""

import os
from http.server import BaseHTTPRequestHandler, HTTPServer

from bitcoin_signal_oracle.webhooks import WebhookRejected, verify_webhook


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(min(int(self.headers["content-length"]), 65_536))
        try:
            print(verify_webhook(body, dict(self.headers), os.environ["WEBHOOK_SECRET"]), flush=True)
            self.send_response(204)
        except WebhookRejected:
            self.send_response(401)
        self.end_headers()


HTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8080"))), Receiver).serve_forever()
