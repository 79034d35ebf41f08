"""Events of a running service, over a network that drops connections. Needs ``websockets``."""

from __future__ import annotations

import unittest
from importlib import import_module
from typing import Any, List

from bitcoin_signal_oracle.errors import ServiceProblem
from bitcoin_signal_oracle.responses import Event
from bitcoin_signal_oracle.stream import EventStream, StreamEnded

from .drops import DroppingRelay
from .programs import start
from .world import SERVICE_URL, login_of, make_key, needs_service, revoke_key


async def take(stream: EventStream, count: int) -> List[Event]:
    taken: List[Event] = []
    async for event in stream:
        taken.append(event)
        if len(taken) == count:
            break
    return taken


@needs_service
class StreamTest(unittest.IsolatedAsyncioTestCase):
    def stream(self, url: str = SERVICE_URL, wallet: str = "basic", **options: Any) -> EventStream:
        return EventStream(url, login_of(wallet), reconnect_seconds=0.05, **options)

    async def test_resumes_after_drops_with_each_event_once_and_in_order(self) -> None:
        expected = await take(self.stream(since=0, horizons=["all"]), 12)
        relay = DroppingRelay(SERVICE_URL, [3_000, 4_500])
        stream = self.stream(await relay.start(), since=0, horizons=["all"])
        taken = await take(stream, 12)
        relay.stop()
        self.assertEqual(taken, expected)
        self.assertEqual(stream.last_id, expected[-1]["id"])
        self.assertGreaterEqual(relay.accepted, 3)

    async def test_goes_on_after_the_last_event_of_another_run(self) -> None:
        before = await take(self.stream(since=0), 3)
        after = await take(self.stream(since=before[-1]["id"]), 2)
        self.assertEqual(before + after, await take(self.stream(since=0), 5))

    async def test_filters_by_kind_and_horizon(self) -> None:
        taken = await take(self.stream(since=0, events=["signal.new"], horizons=["2d", "3d"]), 4)
        self.assertEqual({(one["type"], one["data"]["horizon"]) for one in taken}, {("signal.new", "2d"), ("signal.new", "3d")})

    async def test_replaces_a_revoked_token(self) -> None:
        login = login_of("premium")
        other = login_of("premium")
        other._session, other._renew_at = login.session(), login._renew_at
        login.log_out()
        stream = EventStream(SERVICE_URL, other, since=0, reconnect_seconds=0.05)
        self.assertEqual(len(await take(stream, 1)), 1)

    async def test_follows_with_an_api_key_and_ends_when_it_is_revoked(self) -> None:
        made = make_key("premium")
        stream = EventStream(SERVICE_URL, api_key=made["key"], since=0, reconnect_seconds=0.05)
        self.assertEqual(len(await take(stream, 1)), 1)
        revoke_key("premium", made["id"])
        with self.assertRaises(ServiceProblem) as caught:
            await take(stream, 1)
        self.assertEqual(caught.exception.status, 401)

    async def test_the_example_prints_events_in_order(self) -> None:
        with start("stream.py", "0", PRIVATE_KEY="premium") as program:
            assert program.stdout is not None
            lines = [program.stdout.readline().split() for _ in range(5)]
            program.terminate()
        ids = [int(line[0]) for line in lines]
        self.assertEqual(ids, sorted(set(ids)))

    async def test_raises_what_another_try_would_be_rejected_for(self) -> None:
        for options, status in (({"wallet": "poor"}, 403), ({"since": 999_999_999}, 400), ({"since": 0, "events": ["no.event"]}, 400)):
            with self.assertRaises(ServiceProblem) as caught:
                await take(self.stream(**options), 1)  # type: ignore[arg-type]
            self.assertEqual(caught.exception.status, status)

    async def test_the_close_code_decides_what_follows(self) -> None:
        frames, exceptions = import_module("websockets.frames"), import_module("websockets.exceptions")

        def closed(code: int) -> Exception:
            error: Exception = exceptions.ConnectionClosedError(frames.Close(code, "reason"), None)
            return error

        login = login_of("basic")
        stream = EventStream(SERVICE_URL, login)
        token = login.session().token
        self.assertEqual([stream._require_transient(closed(code), token) for code in (1013, 4008, 1011)], [30.0, 0.0, 0.0])
        self.assertEqual(login.session().token, token)
        stream._require_transient(closed(4001), token)
        self.assertNotEqual(login.session().token, token)
        for code in (1008, 4003):
            with self.assertRaisesRegex(StreamEnded, f"closed with {code}: reason"):
                stream._require_transient(closed(code), token)


if __name__ == "__main__":
    unittest.main()
