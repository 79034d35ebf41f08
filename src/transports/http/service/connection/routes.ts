import { setTimeout as pause } from 'node:timers/promises';
import { type Route, route } from '../../server/route.ts';

/** As the streams of A2A and MCP have them. */
const STREAM_HEADERS = { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' };
const GAP_MS = 1_000;
const END = 'event: end\ndata: {}\n\n';

/** What stands between a client and this process, as seen from both sides. */
export function connectionRoutes(): Route[] {
  return [
    route('GET /api/connection', 'getConnection', {
      tag: 'service',
      isLive: true,
      reply: null,
      alternatives: { 'text/event-stream': { description: '`counted`, whose data has `address`; `end` a second later.' } },
      summary: 'The address that your limits are counted for, as a stream of two events a second apart',
      description: 'Both events at once: a proxy on the way buffers streams. IPv6 addresses are counted by their /64.',
      handle({ source }) {
        const counted = `event: counted\ndata: ${JSON.stringify({ address: source.address })}\n\n`;
        const bytes = Buffer.byteLength(counted + END);
        return { headers: STREAM_HEADERS, streamed: { bytes, encoding: null, read: () => readEvents(counted) } };
      },
    }),
  ];
}

async function* readEvents(counted: string): AsyncGenerator<Buffer> {
  yield Buffer.from(counted);
  await pause(GAP_MS);
  yield Buffer.from(END);
}
