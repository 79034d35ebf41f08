"""Verification of deliveries. The signatures were made by the JavaScript library ``standardwebhooks`` 1.1."""

from __future__ import annotations

import unittest

from bitcoin_signal_oracle.webhooks import WebhookRejected, verify_webhook

AT = 1_614_265_330
BODY = '{"type":"ping","data":{"text":"ü"}}'.encode()
GENERATED = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OWN_TEXT = "a text of mine, with an ü in it"
BY_GENERATED = "v1,3ib626aW43SGNdy5nYq9nmzd0gTMaDPrfEX4bSfsrl0="
BY_OWN_TEXT = "v1,Xw9UxIgvnXXchXNDlnJKkldiaawP7BgjiQ65JthNLAs="


def headers_of(signature: str, timestamp: str = str(AT)) -> dict[str, str]:
    return {"Webhook-Id": "evt_1", "webhook-timestamp": timestamp, "WEBHOOK-SIGNATURE": signature}


class VerifyWebhookTest(unittest.TestCase):
    def rejected(self, reason: str, **change: object) -> None:
        given: dict[str, object] = {"body": BODY, "headers": headers_of(BY_GENERATED), "secret": GENERATED, "now": AT, **change}
        with self.assertRaisesRegex(WebhookRejected, reason):
            verify_webhook(**given)  # type: ignore[arg-type]

    def test_returns_the_event_for_both_forms_of_a_secret(self) -> None:
        for secret, signature in ((GENERATED, BY_GENERATED), (OWN_TEXT, BY_OWN_TEXT)):
            event = verify_webhook(BODY, headers_of(signature), secret, now=AT + 299)
            self.assertEqual(event["data"], {"text": "ü"})

    def test_accepts_one_of_two_signatures_and_one_of_two_secrets(self) -> None:
        both = headers_of(f"{BY_OWN_TEXT} {BY_GENERATED}")
        verify_webhook(BODY, both, GENERATED, now=AT)
        verify_webhook(BODY, headers_of(BY_GENERATED), [OWN_TEXT, GENERATED], now=AT)

    def test_rejects_another_body_secret_id_or_version(self) -> None:
        self.rejected("No signature", body=BODY + b" ")
        self.rejected("No signature", secret=OWN_TEXT)
        self.rejected("No signature", headers={**headers_of(BY_GENERATED), "Webhook-Id": "evt_2"})
        self.rejected("No signature", headers=headers_of(BY_GENERATED.replace("v1,", "v2,")))
        self.rejected("No signature", headers=headers_of("v1,ü"))

    def test_rejects_a_delivery_that_is_more_than_five_minutes_off(self) -> None:
        self.rejected("300 seconds off", now=AT + 301)
        self.rejected("300 seconds off", now=AT - 301)
        self.rejected("not a Unix time", headers=headers_of(BY_GENERATED, "١٦١٤٢٦٥٣٣٠"))
        self.rejected("not a Unix time", headers=headers_of(BY_GENERATED, "9" * 5_000))

    def test_rejects_a_delivery_without_a_header(self) -> None:
        self.rejected("webhook-signature is missing", headers={"webhook-id": "evt_1", "webhook-timestamp": str(AT)})

    def test_rejects_a_malformed_secret_without_naming_it(self) -> None:
        for secret in ("whsec_not*base64", "", "whsec_"):
            with self.assertRaises(ValueError) as caught:
                verify_webhook(BODY, headers_of(BY_GENERATED), secret, now=AT)
            self.assertNotIn("not*base64", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
