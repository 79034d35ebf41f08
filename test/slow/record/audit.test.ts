import { mkdtemp } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { HORIZONS } from '../../../src/forecast/model.ts';
import { getStepDueMs } from '../../../src/pipeline/forecaster.ts';
import { removeFolder } from '../../support/docs/folders.ts';
import { type RunningService, startService } from '../../support/service/running-service.ts';
import { spawnNode, today } from '../../support/service/service.ts';

const DAYS = 365;

let dataDir: string;
let service: RunningService;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'oracle-audit-'));
  service = await startService({ DATA_DIR: dataDir, REPLAY_DAYS: String(DAYS) });
});
afterAll(async () => {
  service.child.kill('SIGTERM');
  await service.ended;
  await removeFolder(dataDir);
});

/** The command, as it is called beside a service of the same settings. */
function audit(...words: string[]) {
  return spawnNode(['bin/audit.mjs', ...words], { DATA_DIR: dataDir, FEEDS: 'simulated', PORT: new URL(service.url).port }).ended;
}

/** The service, but for what is changed in its scorecards. */
async function tamperedService(change: (text: string) => string): Promise<{ url: string; close(): void }> {
  const server = createServer(async ({ url = '/' }, response) => {
    const answer = await fetch(`${service.url}${url}`);
    const text = await answer.text();
    const isOfWeek = url.startsWith('/api/svc/scorecard?') && url.includes('horizon=7');
    response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(isOfWeek ? change(text) : text);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

it('a year agrees to the last row, by the command without arguments', async () => {
  const recorded = Date.now() < getStepDueMs('signal', today()) ? DAYS : DAYS + 1;
  const { code, output } = await audit();
  expect(output).toMatch(/AGREES: [\d,]+ checks agree\./);
  for (const days of HORIZONS) expect(output).toMatch(new RegExp(`^${days}d +\\S+  \\S+ +${recorded} `, 'm'));
  expect(code, output).toBe(0);
});

it('finds a row that the service serves altered, and one that it omits', async () => {
  let date = '';
  const tampered = await tamperedService((text) => {
    const claim = JSON.parse(text) as { predictions: { date: string; status: string }[] };
    const losses = claim.predictions.filter(({ status }) => status === 'LOSS');
    const [altered, dropped] = [losses[3], losses[9]];
    altered.status = 'WIN';
    date = altered.date;
    return JSON.stringify({ ...claim, predictions: claim.predictions.filter((row) => row !== dropped) });
  });
  const { code, output } = await audit('--service', tampered.url, '--json');
  tampered.close();
  const { differences } = JSON.parse(output) as { differences: { check: string; date: string; message: string }[] };
  expect(differences.map(({ check }) => check).sort()).toEqual(['row', 'shown']);
  expect(differences.find(({ check }) => check === 'row')).toMatchObject({
    date,
    message: expect.stringContaining('expected LOSS, found WIN'),
  });
  expect(differences.find(({ check }) => check === 'shown')!.message).toContain('a loss was dropped');
  expect(code).toBe(1);
});
