"""Tests the verification of deliveries."""

import base64
import hashlib
import hmac
import json
import time
import unittest

import erp_proxy

KEY = bytes([3]) * 32
SECRET = f"whsec_{base64.b64encode(KEY).decode()}"
OTHER = f"whsec_{base64.b64encode(bytes([4]) * 32).decode()}"
BODY = '{"type":"res.partner.upserted","timestamp":"2026-11-25T00:00:00.000Z","data":{"id":7,"name":"é 🙂"}}'


def sign(body=BODY, at=None, key=KEY):
    sent_at = str(int(time.time() if at is None else at))
    signed = f"msg_1.{sent_at}.{body}".encode()
    signature = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return {"webhook-id": "msg_1", "webhook-timestamp": sent_at, "webhook-signature": f"v1,{signature}"}


class WebhookTest(unittest.TestCase):
    def test_a_delivery_is_verified_and_returned(self):
        event = {**json.loads(BODY), "id": "msg_1"}
        self.assertEqual(erp_proxy.verify_webhook(BODY, sign(), SECRET), event)
        titled = {name.title(): value for name, value in sign().items()}
        self.assertEqual(erp_proxy.verify_webhook(BODY.encode(), titled, [OTHER, SECRET]), event)
        both = sign()
        both["webhook-signature"] = f"v2,x v1,é {both['webhook-signature']}"
        self.assertEqual(erp_proxy.verify_webhook(BODY, both, SECRET), event)
        late = sign(at=time.time() - 400)
        self.assertEqual(erp_proxy.verify_webhook(BODY, late, SECRET, tolerance=500), event)

    def test_what_is_not_signed_is_refused(self):
        no_base64 = {**sign(), "webhook-signature": "v1,é"}
        unsigned = {name: value for name, value in sign().items() if name != "webhook-signature"}
        cases = [
            (BODY, sign(), OTHER, "signature is not valid"),
            (BODY + " ", sign(), SECRET, "signature is not valid"),
            (BODY, {**sign(), "webhook-id": "msg_2"}, SECRET, "signature is not valid"),
            (BODY, no_base64, SECRET, "signature is not valid"),
            (BODY, unsigned, SECRET, "webhook-signature is missing"),
            (BODY, sign(at=time.time() - 310), SECRET, "too far"),
            (BODY, sign(at=time.time() + 310), SECRET, "too far"),
            (BODY, {**sign(), "webhook-timestamp": "NaN"}, SECRET, "too far"),
            ("[]", sign("[]"), SECRET, "not a delivery"),
        ]
        for body, headers, secret, message in cases:
            with self.subTest(message=message, body=body), self.assertRaisesRegex(erp_proxy.WebhookError, message):
                erp_proxy.verify_webhook(body, headers, secret)

    def test_an_empty_secret_verifies_nothing(self):
        for secret in ("", " ", "whsec_", "é", [SECRET, ""]):
            with self.assertRaisesRegex(erp_proxy.WebhookError, "secret"):
                erp_proxy.verify_webhook(BODY, sign(key=b""), secret)


if __name__ == "__main__":
    unittest.main()
