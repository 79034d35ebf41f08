"""Public data and login, at a running service."""

from __future__ import annotations

import time
import unittest
from unittest.mock import patch

from bitcoin_signal_oracle.client import OracleClient
from bitcoin_signal_oracle.credentials import ApiKey
from bitcoin_signal_oracle.errors import ServiceProblem, TransportError
from bitcoin_signal_oracle.transport import Transport

from .world import SERVICE_URL, WALLETS, login_of, make_key, needs_service, revoke_key


@needs_service
class PublicDataTest(unittest.TestCase):
    def setUp(self) -> None:
        self.client = OracleClient(SERVICE_URL)

    def test_signal_is_gated_before_its_outcome(self) -> None:
        signal = self.client.signal("2d")
        self.assertEqual((signal["horizon"], signal["signal"], signal["direction"]), ("2d", "GATED", None))

    def test_ranges_nest(self) -> None:
        ranges = self.client.expected_range()["ranges"]
        self.assertEqual([one["share"] for one in ranges], [0.5, 0.8, 0.9])
        lows, highs = [one["low"] for one in ranges], [one["high"] for one in ranges]
        self.assertEqual((lows, highs), (sorted(lows, reverse=True), sorted(highs)))

    def test_forecasts_are_those_of_all_pages(self) -> None:
        total = self.client.scorecard("2d")["summary"]["totalPredictions"]
        first = self.client.scorecard("2d", limit=2)
        second = self.client.scorecard("2d", limit=2, before=first["nextCursor"])
        every = list(self.client.forecasts("2d"))
        self.assertEqual([one["sequence"] for one in every], list(range(total, 0, -1)))
        self.assertEqual(every[:4], first["predictions"] + second["predictions"])

    def test_accuracy_lies_within_its_error_bars(self) -> None:
        summary = self.client.scorecard("1d")["summary"]
        interval = summary["accuracyInterval95"]
        if summary["scored"] == 0:
            self.assertIsNone(interval)
        else:
            assert interval is not None
            self.assertTrue(interval["low"] <= summary["accuracy"] <= interval["high"])
        self.assertTrue(summary["verdict"])

    def test_track_record_is_filtered(self) -> None:
        record = self.client.track_record("1d", status="PENDING", pageSize=1)
        self.assertEqual({one["status"] for one in record["entries"]}, {"PENDING"})
        self.assertEqual(record["pageSize"], 1)

    def test_attestation_is_verified(self) -> None:
        uid = next(one["attestationUid"] for one in self.client.forecasts("1d") if one["resolved"])
        assert uid is not None
        verification = self.client.verify(uid)
        self.assertTrue(verification["onChain"] and verification["verified"])
        self.assertTrue(all(check["ok"] for check in verification["checks"]))

    def test_dataset_table_has_the_rows_and_the_digest_of_its_description(self) -> None:
        table = next(one for one in self.client.dataset()["tables"] if one["name"] == "forecasts")
        content = self.client.dataset_table("forecasts")
        self.assertEqual(len(content), table["files"][0]["bytes"])
        self.assertTrue(self.client.dataset_table("forecasts", "parquet").startswith(b"PAR1"))
        with self.assertRaisesRegex(ValueError, "forecasts.csv"):
            self.client.dataset_table("prices-of-tomorrow")

    def test_errors_name_field_and_action(self) -> None:
        with self.assertRaises(ServiceProblem) as caught:
            self.client.signal("9d")  # type: ignore[arg-type]
        problem = caught.exception
        self.assertEqual((problem.status, problem.code, problem.field), (400, "INPUT_INVALID", "horizon"))
        self.assertIn("horizon", problem.suggested_action or "")
        self.assertFalse(problem.retryable)


@needs_service
class LoginTest(unittest.TestCase):
    def test_oracle_has_the_direction_and_one_login_serves_many_requests(self) -> None:
        login = login_of("basic")
        client = OracleClient(SERVICE_URL, login=login)
        signal = client.oracle()
        self.assertIn(signal["direction"], ("UP", "DOWN"))
        session = login.session()
        self.assertEqual((session.tier, session.wallet), ("basic", WALLETS["basic"]))
        self.assertNotIn(session.token, repr(session))
        client.oracle("2d")
        self.assertEqual(login.session().token, session.token)
        login.log_out()

    def test_a_revoked_token_is_replaced_by_a_new_login(self) -> None:
        login = login_of("basic")
        client = OracleClient(SERVICE_URL, login=login)
        token = login.session().token
        Transport(SERVICE_URL).request("DELETE", "/api/svc/oracle/session", headers={"Authorization": f"Bearer {token}"}).json()
        self.assertEqual(client.oracle()["horizon"], "7d")
        self.assertNotEqual(login.session().token, token)
        login.log_out()

    def test_a_token_near_its_end_is_renewed(self) -> None:
        login = login_of("premium")
        token = login.session().token
        login._renew_at -= 1_800 - 90
        self.assertNotEqual(login.session().token, token)

    def test_logins_of_one_wallet_in_the_same_millisecond_all_succeed(self) -> None:
        with patch("time.time_ns", return_value=time.time_ns()):
            tokens = {login_of("basic").session().token for _ in range(3)}
        self.assertEqual(len(tokens), 3)

    def test_a_wallet_without_balance_is_rejected_with_the_requirement(self) -> None:
        with self.assertRaises(ServiceProblem) as caught:
            OracleClient(SERVICE_URL, login=login_of("poor")).oracle()
        self.assertEqual((caught.exception.status, caught.exception.code), (403, "TIER_REQUIRED"))
        self.assertIn("requiredBalance", caught.exception.body)

    def test_another_service_at_the_address_gives_no_session(self) -> None:
        login = login_of("basic")
        login._transport = Transport(f"{SERVICE_URL}/health")
        with self.assertRaises((TransportError, ServiceProblem)):
            login.session()

    def test_an_api_key_has_the_direction_until_it_is_revoked(self) -> None:
        made = make_key("basic")
        client = OracleClient(SERVICE_URL, api_key=made["key"])
        self.assertIn(client.oracle()["direction"], ("UP", "DOWN"))
        revoke_key("basic", made["id"])
        with self.assertRaises(ServiceProblem) as caught:
            client.oracle()
        self.assertEqual((caught.exception.status, caught.exception.code), (401, "UNAUTHENTICATED"))
        self.assertNotIn(made["key"], str(caught.exception))

    def test_a_malformed_api_key_is_rejected_without_being_shown(self) -> None:
        with self.assertRaisesRegex(ValueError, "api_key must be bso_") as caught:
            OracleClient(SERVICE_URL, api_key="bso_short")
        self.assertNotIn("short", str(caught.exception))
        with self.assertRaisesRegex(ValueError, "not both"):
            OracleClient(SERVICE_URL, login=login_of("basic"), api_key="bso_short")
        self.assertNotIn("x" * 49, repr(ApiKey("bso_" + "x" * 49)))

    def test_oracle_without_a_login_names_what_is_missing(self) -> None:
        with self.assertRaisesRegex(ValueError, "needs a login"):
            OracleClient(SERVICE_URL).oracle()


if __name__ == "__main__":
    unittest.main()
