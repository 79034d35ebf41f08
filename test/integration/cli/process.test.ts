import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import packageJson from '../../../package.json' with { type: 'json' };
import { removeFolder } from '../../support/folders.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

const svc = (words: string[], environment: Record<string, string> = {}) =>
  spawn(process.execPath, ['bin/svc.mjs', ...words], { cwd: ROOT, env: { ...process.env, ...environment } });

it('npx finds it in this folder, without a network', async () => {
  // What npx has linked for an earlier version of this folder is none of ours.
  const cache = await mkdtemp(join(tmpdir(), 'oracle-npx-'));
  onTestFinished(() => removeFolder(cache));
  const env = { ...process.env, npm_config_offline: 'true', npm_config_cache: cache };
  const { stdout } = await promisify(execFile)('npx', ['svc', '--version'], { cwd: ROOT, env });
  expect(stdout).toBe(`${packageJson.version}\n`);
});

it('ends quietly when whoever reads has gone', async () => {
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

it('watch ends with 0 on Ctrl-C, also while nobody answers', async () => {
  const child = svc(['watch', '--url', 'http://127.0.0.1:9', '--token', 'abc']);
  const [words] = await once(child.stderr, 'data');
  expect(String(words)).toContain('no service answers at http://127.0.0.1:9 (ECONNREFUSED); again in 5 s');
  child.kill('SIGINT');
  expect(await once(child, 'close')).toEqual([0, null]);
});

/** More than a pipe holds. */
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
