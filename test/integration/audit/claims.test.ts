import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { audit } from '../../../src/audit/audit.ts';
import { openAuditChain } from '../../../src/audit/chain.ts';
import { type ClaimedRow, type ClaimedScorecard, claimsOf } from '../../../src/audit/claims.ts';
import type { AuditReport } from '../../../src/audit/report.ts';
import { formatDay, instantOf } from '../../../src/forecast/day.ts';
import { HORIZONS } from '../../../src/forecast/model.ts';
import { recordPrices } from '../../../src/local/record-prices.ts';
import { type Served, serve } from '../../support/serve.ts';
import { runPastDay, spawnNode, type TestService, testService, today } from '../../support/service.ts';

const DAYS = 8;
const HORIZON = 3;
/** Midnight may pass meanwhile. */
const TODAY = today();

let service: TestService;
let served: Served;
beforeAll(async () => {
  service = await testService(DAYS);
  for (let day = TODAY - DAYS; day < TODAY; day++) await runPastDay(service, day);
  service.state.setup = null;
  served = await serve(service);
});
afterAll(async () => {
  await served.close();
  await service.stop();
});

type Change = (claim: ClaimedScorecard, horizonDays: number) => void;

/** The audit of the service, whose answers are tampered with on their way. */
async function auditOf(change: Change = () => {}, now = new Date()): Promise<AuditReport> {
  const honest = claimsOf(served.url);
  const scorecard = async (horizonDays: number) => {
    const claim = structuredClone(await honest.scorecard(horizonDays));
    change(claim, horizonDays);
    return claim;
  };
  const { rpcUrl, contracts } = service.infrastructure;
  const chain = await openAuditChain({ rpcUrl, eas: contracts.eas, schemaRegistry: contracts.schemaRegistry });
  const attester = service.http.attesterAddress;
  return audit({
    chain,
    attester,
    prices: await recordPrices(service.http.market.source, { feeds: '', now }),
    claims: { source: honest.source, scorecard },
    now,
  });
}

/** What differs, in short. */
function named({ differences }: AuditReport): string[] {
  return differences.map(({ check, horizonDays, date, field }) =>
    [check, `${horizonDays}d`, date, field].filter((part) => part !== null).join(' '),
  );
}

const only =
  (horizonDays: number, change: (claim: ClaimedScorecard) => void): Change =>
  (claim, of) => {
    if (of === horizonDays) change(claim);
  };

/** The oldest row, whose outcome is told. */
const oldest = ({ predictions }: ClaimedScorecard): ClaimedRow => predictions.at(-1)!;

describe('an honest service', () => {
  it('agrees with chain and prices on every row and figure, the base rate of the training years included', async () => {
    const report = await auditOf();
    expect(named(report)).toEqual([]);
    expect(report.verdict).toBe('agrees');
    expect(report.horizons.map(({ horizonDays, forecasts }) => ({ horizonDays, forecasts }))).toEqual(
      HORIZONS.map((horizonDays) => ({ horizonDays, forecasts: DAYS })),
    );
    expect(report.horizons.every(({ summary }) => summary.brier !== null)).toBe(true);
    for (const { check, passed } of report.checks) expect(passed, check).toBeGreaterThan(0);
  });

  it('agrees by the command without arguments, which ends with 0', async () => {
    const { code, output } = await run('--service', served.url);
    expect(output).toContain(`AGREES: chain, prices and the service agree on every one of ${HORIZONS.length * DAYS} rows`);
    expect(code).toBe(0);
  });

  it('agrees by chain, attester and prices of a file, asked as a stranger would', async () => {
    const { rpcUrl, contracts } = service.infrastructure;
    const words = ['--rpc', rpcUrl, '--attester', service.http.attesterAddress, '--eas', contracts.eas, '--service', served.url];
    const file = join(service.dataDir, 'closes.csv');
    await writeFile(file, await closesAsCsv());
    const { code, output } = await run(...words, '--prices', file, '--tolerance-bps', '0', '--json');
    const report = JSON.parse(output) as AuditReport;
    expect(report.differences).toEqual([]);
    expect(report.prices).toEqual({ source: file, toleranceBps: 0 });
    expect(code).toBe(0);
  });
});

async function closesAsCsv(): Promise<string> {
  const { firstDay, closes } = (await (await recordPrices(service.http.market.source, { feeds: '', now: new Date() })).history())!;
  return `date,close\n${Array.from(closes, (close, row) => `${formatDay(firstDay + row)},${close}\n`).join('')}`;
}

function run(...words: string[]) {
  return spawnNode(['bin/audit.mjs', ...words], { DATA_DIR: service.dataDir, FEEDS: 'simulated' }).ended;
}

describe('a service that tells something else', () => {
  it('a row that it drops is named', async () => {
    const report = await auditOf(only(HORIZON, ({ predictions }) => void predictions.pop()));
    const date = formatDay(TODAY - DAYS);
    expect(named(report)).toEqual([`shown ${HORIZON}d ${date} row`]);
    expect(report.differences[0]).toMatchObject({ sequence: 1 });
    expect(report.differences[0].message).toMatch(/the service does not show it/);
    expect(report.verdict).toBe('differs');
  });

  it('a row that it makes up is named', async () => {
    const invent = ({ predictions }: ClaimedScorecard) =>
      void predictions.unshift({ ...oldest({ predictions } as ClaimedScorecard), sequence: DAYS + 5 });
    expect(named(await auditOf(only(HORIZON, invent)))).toEqual([`shown ${HORIZON}d ${formatDay(TODAY - DAYS)} row`]);
  });

  it('whatever it tells otherwise of a row is named, field by field', async () => {
    const lie = (row: ClaimedRow) =>
      Object.assign(row, {
        date: '2020-01-01',
        status: row.status === 'WIN' ? 'LOSS' : 'WIN',
        signal: row.signal === 'SELL' ? 'BUY' : 'SELL',
        direction: row.direction === 'UP' ? 'DOWN' : 'UP',
        confidence: row.confidence! + 0.0001,
        pUp: row.pUp! - 0.0001,
        btcPrice: row.btcPrice! + 0.01,
        btcAtSignal: row.btcAtSignal! + 0.01,
        btcAtResolution: row.btcAtResolution! - 0.01,
        returnBps: row.returnBps! + 1,
        resolved: false,
        resolvedAt: row.windowOpensAt,
        missed: true,
        windowOpensAt: row.resolvesAt,
        resolvesAt: row.windowOpensAt,
        resolutionUid: row.attestationUid,
        attestationUid: row.resolutionUid,
      });
    let fields: string[] = [];
    const report = await auditOf(
      only(HORIZON, (claim) => {
        fields = Object.keys(lie(oldest(claim))).filter((field) => !['sequence', 'outcome'].includes(field));
      }),
    );
    expect(named(report).sort()).toEqual(fields.map((field) => `row ${HORIZON}d ${formatDay(TODAY - DAYS)} ${field}`).sort());
  });

  it('other figures are named, each by its path', async () => {
    const report = await auditOf(
      only(HORIZON, (claim) => {
        Object.assign(claim.summary, { accuracy: 0.99, verdict: 'better than always-UP' });
        (claim.summary.brier as { climatology: number }).climatology += 1e-6;
        (claim.statistics!.probabilities as { logScore: number }).logScore -= 1e-6;
        claim.byHorizon!.find(({ horizon }) => horizon === `${HORIZON}d`)!.wins = 77;
      }),
    );
    const paths = [
      'summary.brier.climatology',
      'summary.accuracy',
      'summary.verdict',
      'statistics.probabilities.logScore',
      'byHorizon.wins',
    ];
    expect(named(report).sort()).toEqual(paths.map((path) => `figure ${HORIZON}d ${path}`).sort());
  });

  it('what was made and not committed yet is in order until its window opens', async () => {
    const draft = only(HORIZON, (claim) => {
      const day = TODAY;
      const row = { ...oldest(claim), date: formatDay(day), sequence: DAYS + 1, status: 'PENDING', attestationUid: null };
      claim.predictions.unshift(row);
      for (const counts of [claim.summary, claim.byHorizon!.find(({ horizon }) => horizon === `${HORIZON}d`)!])
        counts.pending = Number(counts.pending) + 1;
      claim.summary.totalPredictions = DAYS + 1;
      claim.stats!.total = DAYS + 1;
      claim.byHorizon!.find(({ horizon }) => horizon === `${HORIZON}d`)!.total = DAYS + 1;
    });
    const before = await auditOf(draft, new Date(instantOf(TODAY + 1) - 1));
    expect(named(before)).toEqual([]);
    expect(before.notes.join()).toContain('is not on chain yet');
    const after = await auditOf(draft, new Date(instantOf(TODAY + 1)));
    expect(named(after)).toContain(`shown ${HORIZON}d ${formatDay(TODAY)} row`);
  });
});

describe('a call that cannot be answered', () => {
  it.each([
    [['--service', 'http://127.0.0.1:1'], /No service answers at http:\/\/127\.0\.0\.1:1\n.*npm start/],
    [['--rpc', 'http://127.0.0.1:1', '--attester', `0x${'1'.repeat(40)}`], /CHAIN_UNREACHABLE/],
  ])('%j is explained, with exit code 2', async (words, explanation) => {
    const { code, output } = await run(...words);
    expect(output).toMatch(explanation);
    expect(output).not.toContain('    at ');
    expect(code).toBe(2);
  });
});
