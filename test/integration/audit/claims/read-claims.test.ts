import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { audit, readClaims } from '../../../../src/audit/audit.ts';
import { createServiceClaims, type ServiceClaims } from '../../../../src/audit/service-claims.ts';
import { openRecordPrices } from '../../../../src/cli/audit.ts';
import { claimsOf, openAuditChain } from '../../../../src/cli/svc/audit-options.ts';
import { HORIZONS } from '../../../../src/forecast/model.ts';
import type { AttestationEvidence } from '../../../../src/verify/evidence.ts';
import { type Served, serve } from '../../../support/http/serve.ts';
import { runPastDay, type TestService, testService, today } from '../../../support/service/service.ts';

const DAYS = 4;
/** Midnight may pass meanwhile. */
const TODAY = today();

let service: TestService;
let served: Served;
beforeAll(async () => {
  service = await testService(DAYS);
  for (let day = TODAY - DAYS; day < TODAY - 1; day++) await runPastDay(service, day);
  service.progress.complete();
  served = await serve(service);
});
afterAll(async () => {
  await served.close();
  await service.stop();
});

it('attestations made during a long read are no difference', async () => {
  const honest = claimsOf(served.url);
  let asked = 0;
  let day: Promise<void> | undefined;
  const claims: ServiceClaims = {
    source: honest.source,
    async scorecard(horizonDays) {
      asked += 1;
      // The chain has been read by now: the day that is run here is forecast, and resolves what was open.
      day ??= runPastDay(service, TODAY - 1);
      await day;
      return honest.scorecard(horizonDays);
    },
  };
  const { rpcUrl, contracts } = service.infrastructure;
  const now = new Date();
  const report = await audit({
    chain: await openAuditChain({ rpcUrl, eas: contracts.eas, schemaRegistry: contracts.schemaRegistry }),
    attester: service.http.wallets.attester.address,
    prices: await openRecordPrices(service.http.market.source, { feeds: '', now }),
    claims,
    now,
  });
  expect(report.differences).toEqual([]);
  expect(report.verdict).toBe('agrees');
  expect(report.horizons.map(({ forecasts, pending }) => [forecasts, pending])).toEqual(
    HORIZONS.map((horizonDays) => [DAYS, Math.min(DAYS, horizonDays)]),
  );
  // Once before, and once after what came meanwhile was read.
  expect(asked).toBe(2 * HORIZONS.length);
});

it('claims are read at most a few times', async () => {
  let asked = 0;
  const claims: ServiceClaims = {
    source: 'nowhere',
    scorecard: async (horizonDays) => {
      asked += 1;
      return { horizon: `${horizonDays}d`, summary: {}, predictions: [] };
    },
  };
  let reading = { evidence: [] as AttestationEvidence[], throughBlock: 7 };
  const readOn = async () => {
    reading = { evidence: [...reading.evidence, {} as AttestationEvidence], throughBlock: reading.throughBlock + 1 };
    return reading;
  };
  const { evidence, throughBlock, answers } = await readClaims(claims, readOn);
  expect(asked).toBe(4 * HORIZONS.length);
  expect(answers.map(({ horizon }) => horizon)).toEqual(HORIZONS.map((horizonDays) => `${horizonDays}d`));
  expect([evidence.length, throughBlock]).toEqual([5, 12]);
});

it('a kept connection that the service has closed meanwhile is replaced, once', async () => {
  const asked = new Map<number, number>();
  const server = createServer(({ socket }, response) => {
    const port = socket.remotePort!;
    asked.set(port, (asked.get(port) ?? 0) + 1);
    if (asked.get(port) === 1 && asked.size <= 2) response.end(JSON.stringify({ summary: {}, predictions: [] }));
    else socket.resetAndDestroy();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => void server.close());
  const { scorecard } = claimsOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await scorecard(1);
  await expect(scorecard(1)).resolves.toMatchObject({ predictions: [] });
  expect([...asked.values()]).toEqual([2, 1]);
  await expect(scorecard(1)).rejects.toMatchObject({ code: 'SERVICE_UNREACHABLE' });
  expect([...asked.values()]).toEqual([2, 2, 1]);
});

it('a scorecard that a rate limit rejects is read when the limit allows it', async () => {
  let asked = 0;
  const { scorecard } = createServiceClaims('nowhere', async () => {
    asked += 1;
    if (asked < 3) throw Object.assign(new Error('it answers 429'), { code: 'RATE_LIMITED', retryAfterSeconds: 0 });
    return { summary: {}, predictions: [] };
  });
  await expect(scorecard(1)).resolves.toMatchObject({ predictions: [] });
  expect(asked).toBe(3);
});
