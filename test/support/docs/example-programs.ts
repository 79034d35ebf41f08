import { expect } from 'vitest';
import { SKILLS } from '../../../skills/index.ts';
import { findFreePort } from '../http/serve.ts';
import { type Answer, EXAMPLE_DAYS, type ExampleWorld } from './example-world.ts';

export interface ExampleProgram {
  /** Listens on RECEIVER_PORT. */
  listens?: true;
  /** What a busy machine needs. */
  environment?: Record<string, string>;
  /** Sends transactions of the one buyer, whose nonces are in order. */
  sends?: true;
  /** What the service has to have done. */
  before?(world: ExampleWorld): Promise<void>;
  /** Holds what it has printed against what the service says, asked for by another way. */
  tells(output: string, world: ExampleWorld): Promise<void>;
}

const SKILL_IDS = SKILLS.map(({ id }) => id);

/** Those of examples/ that end by themselves. */
export const EXAMPLE_PROGRAMS: Record<string, ExampleProgram> = {
  'rest/signal.ts': {
    async tells(output, { scorecard, get }) {
      const { summary } = await scorecard();
      const { btcPrice, regime } = await get('/api/svc/open/signal');
      expect(output).toMatch(/^GATED for 7d, /);
      expect(output).toContain(`BTC/USD ${btcPrice}, `);
      expect(output).toContain(`regime ${regime}`);
      expect(output).toContain(`Record: ${summary.wins} right, ${summary.losses} wrong, ${summary.holds} held, ${summary.pending} pending`);
      expect(output).toContain(`Verdict: ${summary.verdict}`);
      expect(output).toMatch(/^\d{4}-\d\d-\d\d {2}(BUY|SELL|HOLD) with [\d.]+: -?[\d.]+ %, (WIN|LOSS|HOLD)$/m);
    },
  },
  'rest/oracle.ts': {
    async tells(output, { oracle }) {
      const { signal, direction, confidence, attestationUid } = await oracle();
      expect(output).toContain(`${signal} for 7d: ${direction} with probability ${confidence}`);
      expect(output).toContain(attestationUid);
      expect(output).toMatch(signal === 'HOLD' ? /^No trade: HOLD$/m : new RegExp(`^Trade intent: ${signal}; `, 'm'));
      expect(output).toMatch(/: premium until .*\n.*Logged out\n$/s);
    },
  },
  'rest/rest.sh': {
    async tells(output, { oracle, scorecard }) {
      const { direction, attestationUid } = await oracle();
      expect(output).toContain("signal: 'GATED'");
      expect(output).toContain((await scorecard()).summary.verdict);
      expect(output).toContain(`direction: '${direction}'`);
      expect(output).toContain(attestationUid);
      expect(output).toContain('revokedAt: ');
    },
  },
  'a2a/ask.ts': {
    async tells(output, { scorecard, get }) {
      expect(output).toContain(SKILL_IDS.join(', '));
      expect(output).toContain(`Verdict: ${(await scorecard()).summary.verdict}`);
      const { regime } = await get('/api/svc/open/signal');
      expect(output).toMatch(new RegExp(`As a stream:\n.*TASK_STATE_WORKING\n.*: ${regime}, .*\nTASK_STATE_COMPLETED\n`, 's'));
      expect(output).toMatch(/^Task [\w-]{36} is still there: TASK_STATE_COMPLETED$/m);
    },
  },
  'a2a/a2a.sh': {
    async tells(output, { url, get }) {
      expect(output).toContain(`url: '${url}/a2a'`);
      expect(output).toMatch(/Task [\w-]{36}:\nTASK_STATE_COMPLETED\n/);
      expect(output).toContain(`: ${(await get('/api/svc/open/signal')).regime}, risk`);
      expect(output).toContain("state: 'TASK_STATE_COMPLETED'");
      expect(output.match(/^data: .*"statusUpdate"/gm)).toHaveLength(2);
    },
  },
  'mcp/http.ts': {
    async tells(output, { oracle, scorecard }) {
      const { signal, direction, confidence } = await oracle();
      expect(output).toContain(`Tools: ${SKILL_IDS.join(', ')}`);
      expect(output).toContain(`Verdict: ${(await scorecard()).summary.verdict}`);
      expect(output).toContain(JSON.stringify({ signal, direction, confidence }));
      expect(output).toMatch(/^oracle:\/\/scorecard\/7d: \d{4,} characters\nPrompts: daily_briefing, /m);
    },
  },
  'mcp/stdio.ts': {
    async tells(output, { oracle }) {
      for (const id of SKILL_IDS) expect(output).toMatch(new RegExp(`^${id}: `, 'm'));
      const { signal, direction } = await oracle();
      expect(output).toMatch(new RegExp(`^${signal} over 7d: .*direction ${direction}, confidence `, 'm'));
    },
  },
  'mcp/mcp.sh': {
    async tells(output, { oracle, scorecard }) {
      for (const id of SKILL_IDS) expect(output).toContain(`"name":"${id}"`);
      expect(output).toContain(`Verdict: ${(await scorecard(2)).summary.verdict}`);
      const { signal, direction } = await oracle();
      expect(output).toMatch(new RegExp(`^${signal} over 7d: .*direction ${direction}, confidence `, 'm'));
    },
  },
  'x402/pay.ts': {
    async tells(output, { oracle, bookedFor }) {
      const { signal, direction, confidence } = await oracle();
      // An abstention is free.
      if (signal === 'HOLD') return expect(output).toMatch(/^HOLD: /);
      expect(output).toContain(`${signal}: ${direction} with probability ${confidence}`);
      const [, txHash] = /^Paid 0\.001 USD as 0x\w{40}, settled by (0x\w{64})$/m.exec(output)!;
      expect(await bookedFor(txHash)).toBe(1_000);
    },
  },
  'x402/x402.sh': {
    async tells(output, { oracle, bookedFor }) {
      const { signal } = await oracle();
      expect(output).toMatch(/the status 402:\n402\n/);
      expect(output).toContain("maxAmountRequired: '1000'");
      expect(output).toContain(`signal: '${signal}'`);
      expect(output.trimEnd().split('\n').at(-1)).toBe(signal);
      if (signal !== 'HOLD') expect(await bookedFor(/usd: '0\.001',\n +txHash: '(0x\w{64})'/.exec(output)![1])).toBe(1_000);
    },
  },
  'purchase/buy.ts': {
    sends: true,
    async tells(output, { bookedFor }) {
      expect(output).toMatch(/^Verified track record: .*days/);
      expect(output).toContain('Fetched once more: the same, and nothing was charged');
      expect(await bookedFor(/Paid 0\.5 USD in (0x\w{64})/.exec(output)![1])).toBe(500_000);
    },
  },
  'purchase/purchase.sh': {
    sends: true,
    async tells(output, { bookedFor }) {
      expect(output).toContain("name: 'svc_signal_with_proof'");
      const [, txHash] = /The order.*?txHash: '(0x\w{64})'/s.exec(output)!;
      // In the order, and in its receipt.
      expect(output.split(txHash)).toHaveLength(3);
      expect(await bookedFor(txHash)).toBe(500_000);
    },
  },
  'jobs/hire.ts': {
    sends: true,
    async tells(output, { get }) {
      const [, jobId] = /^Job (\d+): Market context\nAccepted, and 250000 units are in escrow\n/.exec(output)!;
      expect(output).toMatch(/^\d{4,} bytes delivered; their keccak256 is what the job says on chain$/m);
      const { state, payment } = await get(`/api/svc/commerce/jobs/${jobId}`);
      expect(state).toBe('COMPLETED');
      expect(output).toContain(`Completed: the provider was paid in ${payment.txHash}`);
    },
  },
  'jobs/jobs.sh': {
    sends: true,
    async tells(output) {
      const [, jobId] = /^Job (\d+):$/m.exec(output)!;
      expect(output).toContain(`jobId: '${jobId}'`);
      expect(output).toContain("state: 'COMPLETED'");
    },
  },
  'websocket/listen.ts': {
    async tells(output, { scorecard }) {
      const { predictions } = await scorecard();
      const decided = predictions.filter(({ status }: Answer) => status === 'WIN' || status === 'LOSS');
      expect(output).toMatch(/^Connected as basic\n/);
      for (const { date, signal, status } of decided) expect(output).toContain(`  ${date}: ${signal} was a ${status}\n`);
      expect(output.match(/ for 7d with [\d.]+$/gm)).toHaveLength(EXAMPLE_DAYS);
      expect(output).toMatch(/^Nothing was missed up to event \d+; .*\nClosed: 1000\n$/m);
    },
  },
  'websocket/websocket.sh': {
    environment: { SECONDS_TO_LISTEN: '6' },
    async tells(output, { scorecard }) {
      const { stats } = await scorecard();
      expect(output).toContain('{"type":"connected"');
      expect(output.match(/"type":"signal\.resolved"/g) ?? []).toHaveLength(stats.wins + stats.losses);
      expect(output).toContain('{"type":"replay.complete"');
    },
  },
  'webhooks/receive.ts': {
    listens: true,
    async tells(output) {
      expect(output).toMatch(/^Registered as .*\nReceived ping, signed, as ping_\w+\nThe service was answered 204\nDeleted; /);
    },
  },
  'webhooks/webhooks.sh': {
    listens: true,
    async tells(output) {
      expect(output).toContain('"type":"ping"');
      expect(output).toContain('delivered: true');
      expect(output).toContain("state: 'DELIVERED'");
      expect(output).toMatch(/Deleted:\n\{ success: true, id: '[\w-]{36}' \}\n$/);
    },
  },
  'verify/verify.ts': {
    async tells(output, { get }) {
      const { data } = await get('/api/svc/onchain-oracle/history?horizons=all&limit=100');
      const newest = data.find(({ type }: Answer) => type === 'resolution');
      expect(output).toContain(`Forecast ${newest.sequence}, ${newest.horizon} of ${newest.date}, `);
      expect(output).toContain(`It said ${newest.signal}: ${newest.direction} with ${newest.confidence}; `);
      expect(output.match(/^✓ /gm)).toHaveLength(6);
      expect(output).not.toContain('✗');
    },
  },
  'verify/verify.sh': {
    async tells(output, { get }) {
      const { data } = await get('/api/svc/onchain-oracle/latest');
      expect(output).toContain(`${data.predictionId} is attested as ${data.uid}`);
      expect(output).toContain(`The chain has the same commitment: ${data.commitment}\n`);
    },
  },
  'contest/commit.ts': {
    before: ({ openRound }) => openRound(),
    async tells(output, { get, committedBy }) {
      const { openRound } = await get('/api/svc/clawstake/status');
      expect(output).toContain(`${openRound.markets[2].question} 62 %\n`);
      expect(await committedBy(/^Committed by (0x\w{40}); hidden/m.exec(output)![1])).toBe(6_200);
    },
  },
  'contest/contest.sh': {
    before: ({ openRound }) => openRound(),
    async tells(output, { committedBy }) {
      expect(await committedBy(/wallet: '(0x\w{40})'/.exec(output)![1])).toBe(6_200);
    },
  },
};

/** A program that listens gets a port of its own. */
export async function environmentOf({ listens, environment = {} }: ExampleProgram): Promise<Record<string, string>> {
  return listens ? { ...environment, RECEIVER_PORT: String(await findFreePort()) } : environment;
}
