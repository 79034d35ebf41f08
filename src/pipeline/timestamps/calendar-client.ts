import { bytesToHex } from 'viem';
import { createOperatorFetch } from '../../platform/outbound/operator-fetch.ts';
import { parseTimestamp, type TimestampTree } from '../../verify/timestamps/ots-tree.ts';

const TIMEOUT_MS = 10_000;
/** As the reference client limits it. */
const MAX_ANSWER_BYTES = 10_000;
const HEADERS = { accept: 'application/vnd.opentimestamps.v1', 'user-agent': 'bitcoin-signal-oracle' };

/** Hosts that the reference client follows besides those that it was given. */
const PUBLIC_CALENDAR = /(^|\.)calendar\.(opentimestamps\.org|eternitywall\.com|catallaxy\.com)$/;

/** The two operations of a calendar (opentimestamps-server, `otsserver/rpc.py`). Their errors say what is wrong with the answer. */
export interface CalendarClient {
  /** A proof that begins at the digest. */
  submit(url: string, digest: Uint8Array): Promise<TimestampTree>;
  /** What the calendar has added to a message since; null: nothing yet. */
  fetchAddition(url: string, message: Uint8Array): Promise<TimestampTree | null>;
}

export function createCalendarClient({ timeoutMs = TIMEOUT_MS } = {}): CalendarClient {
  const call = async (url: string, path: string, init: { method?: string; body?: Uint8Array } = {}) => {
    const send = createOperatorFetch({ base: url, timeoutMs, maxBytes: MAX_ANSWER_BYTES });
    const response = await send(`${url.replace(/\/+$/, '')}/${path}`, { ...init, headers: HEADERS });
    const body = new Uint8Array(await response.arrayBuffer());
    return { status: response.status, body };
  };
  const requireOk = ({ status, body }: Awaited<ReturnType<typeof call>>) => {
    if (status !== 200) throw new Error(`it answers ${status}`);
    return body;
  };
  return {
    async submit(url, digest) {
      return parseTimestamp(requireOk(await call(url, 'digest', { method: 'POST', body: digest })), digest);
    },
    async fetchAddition(url, message) {
      const answer = await call(url, `timestamp/${bytesToHex(message).slice(2)}`);
      return answer.status === 404 ? null : parseTimestamp(requireOk(answer), message);
    },
  };
}

/** A calendar names where it is asked again, which must not lead to any other server: the same origin, or a public calendar. */
export function mayFollow(uri: string, calendarUrl: string): boolean {
  const [target, calendar] = [URL.parse(uri), URL.parse(calendarUrl)];
  if (target === null || calendar === null) return false;
  return target.origin === calendar.origin || (target.protocol === 'https:' && target.port === '' && PUBLIC_CALENDAR.test(target.hostname));
}
