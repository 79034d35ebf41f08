import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { removeFolder } from '../../../support/docs/folders.ts';
import { cli } from '../../../support/service/cli.ts';

/** Control sequences that retitle the window, clear the screen, set colours, reverse text and add a line. */
const EVIL = 'PWNED\x1b]0;PWNED\x07\x1b[2J\u009b31m\u202e\r\nVERIFIED: all is well\u2028\u{e0041}';
const KEY = `0x${'11'.repeat(32)}`;

const problem = { type: EVIL, title: EVIL, status: 400, detail: EVIL, code: `CODE${EVIL}`, suggestedAction: EVIL, field: EVIL };

const times = { windowOpensAt: EVIL, resolvesAt: EVIL, timestamp: EVIL, nextSignalAt: EVIL };
const forecast = {
  ...{ signal: EVIL, direction: EVIL, confidence: 0.5, btcPrice: 1, regime: EVIL, modelVersion: EVIL, horizon: EVIL, date: EVIL },
  ...{ predictionId: EVIL, attestationUid: EVIL, replayed: true, source: EVIL, fearGreed: 1, fearGreedLabel: EVIL, ...times },
  ...{ skill: { verdict: EVIL }, access: { tier: EVIL, wallet: EVIL }, payment: null, receipt: null },
};

const counts = {
  ...{ resolved: 1, wins: 1, accuracy: 1, accuracyInterval95: null, dedupedTotal: 1, holds: 0, voids: 1, missed: 1, pending: 0 },
  ...{ brier: null, verdict: EVIL },
};
const row = {
  ...{ date: EVIL, status: EVIL, signal: EVIL, direction: null, confidence: null, btcAtSignal: null, btcAtResolution: null },
  ...{ returnBps: null, predictionId: EVIL, replayed: false },
};
const scorecard = {
  ...{ horizon: EVIL, source: EVIL, byHorizon: [{ ...counts, horizon: EVIL, total: 1 }] },
  summary: {
    ...{ ...counts, totalPredictions: 2, losses: 0, dedupedAccuracy: 1, dedupedInterval95: null, alwaysUpAccuracy: 1 },
    streak: { type: EVIL, count: 1 },
  },
  // A missed day has no signal.
  predictions: [row, { ...row, date: '2026-01-01', status: 'VOID', signal: null }],
};

const ranges = [0.5, 0.8, 0.9].map((share) => ({ share, low: 1, high: 2, halfWidth: 1 }));
const range = {
  ...{ btcPrice: 1, timestamp: EVIL, modelVersion: EVIL, replayed: true, source: EVIL },
  horizons: [{ horizon: EVIL, ranges, resolvesAt: EVIL }],
};

const sizing = {
  ...{ riskPercent: 1, riskUsd: 1, stopPercentLong: 1, stopPercentShort: 1, positionUsdLong: 1, positionUsdShort: 1 },
  ...{ positionBtcLong: 1, positionBtcShort: 1, leverageLong: 1, leverageShort: 1, exceedsAccount: true, formula: EVIL },
};

const terms = {
  ...{ scheme: 'exact', network: 'eip155:8453', amount: '10000', asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' },
  ...{ payTo: `0x${'12'.repeat(20)}`, maxTimeoutSeconds: 60, extra: { name: EVIL.slice(0, 90), version: '2' } },
};
const required = Buffer.from(JSON.stringify({ x402Version: 2, accepts: [terms] })).toString('base64');
const session = { token: EVIL, tier: 'basic', wallet: `0x${'12'.repeat(20)}`, expiresAt: '2126-01-01T00:00:00.000Z', expires_in: 1 };

/** Responses by path; other paths return a problem. */
let answers: Record<string, unknown>;
let server: Server;
let home: string;
let url: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'oracle-cli-hostile-'));
  server = createServer(answer);
  new WebSocketServer({ server }).on('connection', (socket) => {
    for (const message of [
      { type: 'connected', timestamp: EVIL, data: { tier: EVIL, lastEventId: EVIL } },
      { type: 'error', timestamp: EVIL, data: { code: EVIL, message: EVIL } },
      { type: 'replay.gap', timestamp: EVIL, data: { from: EVIL, to: EVIL } },
      { id: 1, type: EVIL, timestamp: EVIL, data: { [EVIL]: EVIL } },
      { id: 2, type: 'signal.new', timestamp: EVIL, data: { ...forecast } },
    ])
      socket.send(JSON.stringify(message));
    socket.close(4000, EVIL.slice(0, 60));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await removeFolder(home);
});
beforeEach(() => {
  answers = {
    ...{ '/api/svc/open/signal': forecast, '/api/svc/oracle': forecast, '/api/svc/scorecard': scorecard, '/api/svc/open/range': range },
    ...{ '/api/svc/skills/predict_btc_direction': { output: { ...forecast, moveSize: EVIL, pBig: 0.5, sizing } } },
    ...{ '/api/svc/ws/ticket': { ticket: EVIL }, '/api/svc/oracle/verify': session, '/oracle': forecast, '/oracle/premium': { odd: EVIL } },
  };
});

function answer({ url: path = '', headers }: IncomingMessage, response: ServerResponse): void {
  const name = path.split('?')[0];
  const isUnpaid = name.startsWith('/oracle') && headers['payment-signature'] === undefined;
  const body = isUnpaid ? problem : (answers[name] ?? problem);
  response.writeHead(isUnpaid ? 402 : body === problem ? 400 : 200, { 'content-type': 'application/json', 'payment-required': required });
  response.end(JSON.stringify(body));
}

async function onTerminal(words: string[]) {
  const environment = { SERVICE_URL: url, NO_COLOR: '1', PRIVATE_KEY: KEY, XDG_CONFIG_HOME: await mkdtemp(join(home, 'config-')) };
  const stop = new AbortController();
  const run = await cli(words, {
    ...{ environment, columns: 100, createInterruptSignal: () => stop.signal, prompt: async () => 'y' },
    onErr: (text) => void (text.includes('again in') && stop.abort()),
  });
  // The progress line moves the cursor on purpose.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
  return { ...run, text: `${run.out}${run.err}`.replaceAll(/\r[^\r\n]*\x1b\[K/g, '') };
}

const RPC = ['--attester', `0x${'12'.repeat(20)}`, '--rpc'];

it.each([
  ['signal', 0, []],
  ['signal --json', 0, []],
  ['signal --horizon 7d', 0, []],
  ['range', 0, []],
  ['size --risk 1% --account 10000', 0, []],
  ['size --risk 1% --account 10000', 1, ['/api/svc/skills/predict_btc_direction']],
  ['scorecard', 0, []],
  ['scorecard --horizon 7d', 0, []],
  ['scorecard --json', 0, []],
  ['whoami --token abc', 1, ['/api/svc/oracle']],
  ['login --print', 0, []],
  ['login', 1, ['/api/svc/oracle/verify']],
  ['signal', 1, ['/api/svc/open/signal']],
  ['signal', 0, ['/api/svc/open/range', '/api/svc/scorecard']],
  ['verify 2026-01-01:7d', 3, []],
  ['watch --token abc', 0, []],
  ['watch --token abc --json', 0, []],
  ['pay', 1, []],
  ['pay premium', 1, []],
  ['pay premium', 1, ['/oracle/premium']],
])('%s: escapes control characters of the service on a terminal (%j)', async (words, code, refused) => {
  for (const path of refused) delete answers[path];
  const run = await onTerminal(words.split(' '));
  expect(run.text).toContain('PWNED');
  expect(run.text).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  expect(run.text).not.toMatch(/^VERIFIED/m);
  expect(run.code, run.text).toBe(code);
});

it.each([
  ['verify', 3],
  ['audit', 2],
])('%s: escapes control characters of an endpoint on a terminal', async (command, code) => {
  const run = await onTerminal([command, ...(command === 'verify' ? ['latest'] : []), ...RPC, url]);
  expect(run.text).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  expect(run.code).toBe(code);
});

it('rejects a scorecard whose pages do not end', async () => {
  const whole = answers['/api/svc/scorecard'];
  answers['/api/svc/scorecard'] = { ...scorecard, predictions: [], nextCursor: 'another' };
  const run = await onTerminal(['scorecard', '--horizon', '7d']);
  answers['/api/svc/scorecard'] = whole;
  expect([run.code, run.text]).toEqual([1, expect.stringContaining('does not end')]);
});

it('prints a missed day as a row', async () => {
  answers['/api/svc/scorecard'] = { ...scorecard, predictions: scorecard.predictions.slice(1) };
  const { code, out } = await onTerminal(['scorecard', '--horizon', '7d']);
  expect(code).toBe(0);
  expect(out).toMatch(/^2026-01-01 +- +- +VOID /m);
});

it('prints equivalent JSON on a terminal', async () => {
  expect(JSON.parse((await onTerminal(['signal', '--json'])).out)).toEqual({ ...forecast, horizons: Array(4).fill(forecast) });
});
