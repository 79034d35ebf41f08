import { expect, it } from 'vitest';
import { mayFollow } from '../../../../src/pipeline/timestamps/calendar-client.ts';

const POOL = 'https://a.pool.opentimestamps.org';

it.each<[string, string, boolean]>([
  ['https://a.pool.opentimestamps.org/sub', POOL, true],
  ['https://alice.btc.calendar.opentimestamps.org', POOL, true],
  ['https://finney.calendar.eternitywall.com', POOL, true],
  ['https://btc.calendar.catallaxy.com/', POOL, true],
  ['http://alice.btc.calendar.opentimestamps.org', POOL, false],
  ['https://alice.btc.calendar.opentimestamps.org:8443', POOL, false],
  ['https://calendar.opentimestamps.org.example', POOL, false],
  ['https://evilcalendar.opentimestamps.org', POOL, false],
  ['http://a.pool.opentimestamps.org', POOL, false],
  ['http://127.0.0.1:3000', POOL, false],
  ['http://127.0.0.1:3000/x', 'http://127.0.0.1:3000', true],
  ['', POOL, false],
])('%s of the calendar %s is followed: %s', (uri, calendar, expected) => expect(mayFollow(uri, calendar)).toBe(expected));
