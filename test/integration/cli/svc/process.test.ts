import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import packageJson from '../../../../package.json' with { type: 'json' };
import { removeFolder } from '../../../support/docs/folders.ts';

const ROOT = resolve(import.meta.dirname, '../../../..');

const svc = (words: string[], environment: Record<string, string> = {}) =>
  spawn(process.execPath, ['bin/svc.mjs', ...words], { cwd: ROOT, env: { ...process.env, ...environment } });

it('runs through npx without a network', async () => {
  // A cache of its own, as npx keeps links of earlier versions.
  const cache = await mkdtemp(join(tmpdir(), 'oracle-npx-'));
  onTestFinished(() => removeFolder(cache));
  const env = { ...process.env, npm_config_offline: 'true', npm_config_cache: cache };
  const { stdout } = await promisify(execFile)('npx', ['svc', '--version'], { cwd: ROOT, env });
  expect(stdout).toBe(`${packageJson.version}\n`);
});

it('exits quietly when the reader of the pipe has gone', async () => {
  const row = { date: '2026-01-01', filler: 'x'.repeat(200) };
  const scorecard = createServer((_, response) =>
    response.setHeader('content-type', 'application/json').end(JSON.stringify(longScorecard(row))),
  );
  await once(scorecard.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void scorecard.close());
  const url = `http://127.0.0.1:${(scorecard.address() as AddressInfo).port}`;
  const child = svc(['scorecard', '--url', url]);
  let words = '';
  child.stderr.on('data', (text) => {
    words += text;
  });
  child.stdout.once('data', () => child.stdout.destroy());
  const [code] = await once(child, 'close');
  expect({ code, words }).toEqual({ code: 0, words: '' });
});

it.each([
  ['signal --horizon 9d', 'stderr', 2],
  ['whoami --url http://127.0.0.1:9', 'stderr', 1],
  ['verify latest --url http://127.0.0.1:9', 'stderr', 3],
  ['audit --rpc http://127.0.0.1:9 --attester 0x1212121212121212121212121212121212121212', 'stderr', 2],
  ['--version', 'stdout', 0],
] as const)('%s keeps its exit code when its %s is closed', async (words, stream, expected) => {
  const child = svc(words.split(' '), { SERVICE_URL: '' });
  child[stream].destroy();
  const [code] = await once(child, 'exit');
  expect(code).toBe(expected);
});

it('exits with 1 on a failed check when the reader of the pipe has gone', async () => {
  const offer = { scheme: 'exact', network: 'eip155:8453', amount: '1', asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' };
  const terms = { ...offer, payTo: `0x${'12'.repeat(20)}`, maxTimeoutSeconds: 60, extra: { name: 'USDC', version: '2' } };
  const required = Buffer.from(JSON.stringify({ x402Version: 2, accepts: [terms] })).toString('base64');
  // A response without a receipt.
  const seller = createServer(({ headers }, response) =>
    response
      .writeHead(headers['payment-signature'] === undefined ? 402 : 200, { 'payment-required': required })
      .end(JSON.stringify({ filler: 'x'.repeat(1_000_000) })),
  );
  await once(seller.listen(0, '127.0.0.1'), 'listening');
  const home = await mkdtemp(join(tmpdir(), 'oracle-gone-'));
  onTestFinished(async () => {
    seller.close();
    await removeFolder(home);
  });
  const url = `http://127.0.0.1:${(seller.address() as AddressInfo).port}`;
  const child = svc(['pay', '--yes', '--url', url], { PRIVATE_KEY: `0x${'11'.repeat(32)}`, XDG_CONFIG_HOME: home });
  child.stdout.destroy();
  let words = '';
  child.stderr.on('data', (text) => {
    words += text;
  });
  const [code] = await once(child, 'close');
  expect(words).toContain('NOT OK');
  expect(code).toBe(1);
});

it('watch exits with 0 on Ctrl-C during its login', async () => {
  let logins = 0;
  const login = createServer(() => {
    logins += 1;
    // Never responds.
    child.kill('SIGINT');
  });
  await once(login.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    login.closeAllConnections();
    login.close();
  });
  const url = `http://127.0.0.1:${(login.address() as AddressInfo).port}`;
  const child = svc(['watch', '--url', url], { PRIVATE_KEY: `0x${'11'.repeat(32)}` });
  let words = '';
  child.stderr.on('data', (text) => {
    words += text;
  });
  const started = performance.now();
  expect(await once(child, 'close')).toEqual([0, null]);
  expect({ logins, words }).toEqual({ logins: 1, words: '' });
  // The login alone would time out after ten seconds.
  expect(performance.now() - started).toBeLessThan(9_000);
});

it('watch respects Retry-After', async () => {
  const busy = createServer((_, response) => {
    response.writeHead(429, { 'Retry-After': '77' }).end(JSON.stringify({ code: 'RATE_LIMITED', detail: 'Slow down', retryable: true }));
  });
  await once(busy.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void busy.close());
  const child = svc(['watch', '--token', 'abc', '--url', `http://127.0.0.1:${(busy.address() as AddressInfo).port}`]);
  const [words] = await once(child.stderr, 'data');
  child.kill('SIGINT');
  expect(String(words)).toBe('Slow down; again in 77 s\n');
  expect(await once(child, 'close')).toEqual([0, null]);
});

it('watch exits with 0 on Ctrl-C while it cannot connect', async () => {
  const child = svc(['watch', '--url', 'http://127.0.0.1:9', '--token', 'abc']);
  const [words] = await once(child.stderr, 'data');
  expect(String(words)).toMatch(/at http:\/\/127\.0\.0\.1:9 failed: connect ECONNREFUSED .*; again in \d+ s/);
  child.kill('SIGINT');
  expect(await once(child, 'close')).toEqual([0, null]);
});

/** More than the buffer of a pipe. */
function longScorecard(row: { date: string }) {
  const counts = {
    resolved: 0,
    wins: 0,
    accuracy: null,
    accuracyInterval95: null,
    dedupedTotal: 0,
    holds: 0,
    voids: 0,
    missed: 0,
    pending: 0,
    brier: null,
  };
  const summary = {
    ...counts,
    verdict: 'nothing',
    totalPredictions: 0,
    losses: 0,
    dedupedAccuracy: null,
    dedupedInterval95: null,
    alwaysUpAccuracy: null,
  };
  const empty = {
    status: 'PENDING',
    signal: 'GATED',
    direction: null,
    confidence: null,
    btcAtSignal: null,
    btcAtResolution: null,
    returnBps: null,
  };
  const prediction = { ...row, ...empty, predictionId: 'x', replayed: false };
  const streak = { type: null, count: 0 };
  return {
    horizon: '7d',
    source: 'test',
    summary: { ...summary, streak },
    byHorizon: [],
    predictions: Array.from({ length: 2_000 }, () => prediction),
  };
}
