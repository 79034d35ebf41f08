import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AuditReport, audit, reportText } from '../../../../src/audit/audit.ts';
import type { AuditPrices } from '../../../../src/audit/chain-record.ts';
import { createServiceClaims } from '../../../../src/audit/service-claims.ts';
import { openRecordPrices } from '../../../../src/cli/audit.ts';
import { claimsOf, openAuditChain } from '../../../../src/cli/svc/audit-options.ts';
import { createRandom } from '../../../../src/forecast/bootstrap.ts';
import { formatDay, toInstantMs } from '../../../../src/forecast/day.ts';
import { HORIZONS } from '../../../../src/forecast/model.ts';
import { createStartingApp, listen } from '../../../../src/http/server.ts';
import { createLog } from '../../../../src/platform/log.ts';
import { createStartupProgress } from '../../../../src/platform/progress.ts';
import type { ClaimedRow, ClaimedScorecard, ServedDistributions } from '../../../../src/verify/evidence.ts';
import { type Served, serve } from '../../../support/http/serve.ts';
import { runPastDay, spawnNode, type TestService, testService, today } from '../../../support/service/service.ts';

const DAYS = 8;
const HORIZON = 3;
/** Midnight may pass meanwhile. */
const TODAY = today();

let service: TestService;
let served: Served;
beforeAll(async () => {
  service = await testService(DAYS);
  for (let day = TODAY - DAYS; day < TODAY; day++) await runPastDay(service, day);
  service.progress.complete();
  served = await serve(service);
});
afterAll(async () => {
  await served.close();
  await service.stop();
});

type Change = (claim: ClaimedScorecard, horizonDays: number) => void;

type ChangeServed = (served: ServedDistributions, horizonDays: number) => void;

/** The audit of the service, whose answers are tampered with on their way. */
async function auditOf(
  change: Change = () => {},
  now = new Date(),
  prices?: AuditPrices,
  changeServed: ChangeServed = () => {},
): Promise<AuditReport> {
  const honest = claimsOf(served.url);
  const scorecard = async (horizonDays: number) => {
    const claim = structuredClone(await honest.scorecard(horizonDays));
    change(claim, horizonDays);
    return claim;
  };
  const readPage: typeof honest.forecasts.readPage = async (horizonDays, query) => {
    const page = await honest.forecasts.readPage(horizonDays, query);
    for (const served of page?.data ?? []) changeServed(served, horizonDays);
    return page;
  };
  const { rpcUrl, contracts } = service.infrastructure;
  const chain = await openAuditChain({ rpcUrl, eas: contracts.eas, schemaRegistry: contracts.schemaRegistry });
  const attester = service.http.wallets.attester.address;
  return audit({
    chain,
    attester,
    prices: prices ?? (await openRecordPrices(service.http.market.source, { feeds: '', now })),
    claims: { ...honest, scorecard, forecasts: { ...honest.forecasts, readPage } },
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

/** One entry of `byHorizon`. */
const rowOf = ({ byHorizon }: ClaimedScorecard, horizonDays: number) => byHorizon!.find(({ horizon }) => horizon === `${horizonDays}d`)!;

/** The oldest row, which is resolved. */
const oldest = ({ predictions }: ClaimedScorecard): ClaimedRow => predictions.at(-1)!;

describe('an honest service', () => {
  it('agrees on every row and figure, base rates included', async () => {
    const report = await auditOf();
    expect(named(report)).toEqual([]);
    expect(report.verdict).toBe('agrees');
    expect(report.horizons.map(({ horizonDays, forecasts }) => ({ horizonDays, forecasts }))).toEqual(
      HORIZONS.map((horizonDays) => ({ horizonDays, forecasts: DAYS })),
    );
    expect(report.horizons.every(({ summary }) => summary.brier !== null)).toBe(true);
    const never = ['metadata', 'void', 'evidence'];
    for (const { check, passed } of report.checks) expect(passed > 0 || never.includes(check), check).toBe(true);
  });

  it('agrees with the command without arguments, exit code 0', async () => {
    const { code, output } = await run('--service', served.url);
    expect(output).toMatch(/AGREES: [\d,]+ checks agree\./);
    for (const days of HORIZONS) expect(output).toMatch(new RegExp(`^${days}d +\\S+  \\S+ +${DAYS} `, 'm'));
    expect(code).toBe(0);
  });

  it('agrees by chain, attester and a price file, as an outside verifier runs it', async () => {
    const { rpcUrl, contracts } = service.infrastructure;
    const words = ['--rpc', rpcUrl, '--attester', service.http.wallets.attester.address, '--eas', contracts.eas, '--service', served.url];
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
  const { firstDay, closes } = (await (await openRecordPrices(service.http.market.source, { feeds: '', now: new Date() })).history())!;
  return `date,close\n${Array.from(closes, (close, row) => `${formatDay(firstDay + row)},${close}\n`).join('')}`;
}

function run(...words: string[]) {
  return spawnNode(['bin/audit.mjs', ...words], { DATA_DIR: service.dataDir, FEEDS: 'simulated' }).ended;
}

describe('a service with wrong claims', () => {
  it('a dropped row is reported', async () => {
    const report = await auditOf(only(HORIZON, ({ predictions }) => void predictions.pop()));
    const date = formatDay(TODAY - DAYS);
    expect(named(report)).toEqual([`shown ${HORIZON}d ${date} row`]);
    expect(report.differences[0]).toMatchObject({ sequence: 1 });
    expect(report.differences[0].message).toMatch(/the service does not show it/);
    expect(report.verdict).toBe('differs');
  });

  it('an invented row is reported', async () => {
    const invent = ({ predictions }: ClaimedScorecard) =>
      void predictions.unshift({ ...oldest({ predictions } as ClaimedScorecard), sequence: DAYS + 5 });
    expect(named(await auditOf(only(HORIZON, invent)))).toEqual([`shown ${HORIZON}d ${formatDay(TODAY - DAYS)} row`]);
  });

  it('each changed field of a row is reported', async () => {
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
        // The size of the move is compared with the metadata, by a check of its own.
        const others = ['sequence', 'outcome', 'replayed', 'moveSize', 'pBig'];
        fields = Object.keys(lie(oldest(claim))).filter((field) => !others.includes(field));
      }),
    );
    expect(named(report).sort()).toEqual(fields.map((field) => `row ${HORIZON}d ${formatDay(TODAY - DAYS)} ${field}`).sort());
  });

  it('declared replays are noted as no proof of time', async () => {
    const report = await auditOf(only(HORIZON, (claim) => Object.assign(oldest(claim), { replayed: true })));
    const replays = report.notes.filter((note) => note.includes('replayed'));
    expect(replays).toEqual([expect.stringMatching(/^the service declares \d+ of these forecasts as replayed: the clock of that chain/)]);
  });

  it('changed figures are reported by path', async () => {
    const report = await auditOf(
      only(HORIZON, (claim) => {
        Object.assign(claim.summary, { accuracy: 0.99, verdict: 'better than always-UP' });
        (claim.summary.brier as { climatology: number }).climatology += 1e-6;
        (rowOf(claim, HORIZON).brier as { climatology4y: number }).climatology4y += 1e-6;
        (claim.statistics!.probabilities as { logScore: number }).logScore -= 1e-6;
        (claim.statistics!.probabilities as { climatology4ySkill: { value: number } }).climatology4ySkill.value += 1e-6;
        rowOf(claim, HORIZON).wins = 77;
      }),
    );
    const paths = [
      'summary.brier.climatology',
      'summary.accuracy',
      'summary.verdict',
      'statistics.probabilities.logScore',
      'statistics.probabilities.climatology4ySkill.value',
      `byHorizon.${HORIZON}d.wins`,
      `byHorizon.${HORIZON}d.brier.climatology4y`,
    ];
    expect(named(report).sort()).toEqual(paths.map((path) => `figure ${HORIZON}d ${path}`).sort());
  });

  it('a base rate of four years that was not stored claims nothing', async () => {
    const unknown = { climatology4y: null };
    const report = await auditOf(
      only(HORIZON, (claim) => {
        Object.assign(claim.summary.brier as object, unknown);
        Object.assign(rowOf(claim, HORIZON).brier as object, unknown);
        Object.assign(claim.statistics!.probabilities as object, { climatology4ySkill: null });
      }),
    );
    expect(named(report)).toEqual([]);
  });

  it('an uncommitted forecast is accepted until its window opens', async () => {
    const made = only(HORIZON, (claim) => {
      const day = TODAY;
      const none = { outcome: null, btcAtResolution: null, returnBps: null, resolvedAt: null, attestationUid: null, resolutionUid: null };
      const uncommitted = { ...none, status: 'PENDING', resolved: false };
      claim.predictions.unshift({ ...oldest(claim), ...uncommitted, date: formatDay(day), sequence: DAYS + 1 });
      claim.summary.pending = Number(claim.summary.pending) + 1;
      claim.summary.totalPredictions = DAYS + 1;
      claim.stats!.total = DAYS + 1;
    });
    // Each scorecard has every horizon.
    const draft: Change = (claim, of) => {
      made(claim, of);
      const row = rowOf(claim, HORIZON);
      Object.assign(row, { pending: Number(row.pending) + 1, total: DAYS + 1 });
    };
    const before = await auditOf(draft, new Date(toInstantMs(TODAY + 1) - 1));
    expect(named(before)).toEqual([]);
    expect(before.notes.join()).toContain('is not on chain yet');
    const after = await auditOf(draft, new Date(toInstantMs(TODAY + 1)));
    expect(named(after)).toContain(`shown ${HORIZON}d ${formatDay(TODAY)} row`);
  });
});

const tree = (value: unknown) => value as Record<string, unknown>;

/** The figures of the size of the move, each manipulated. */
const MOVE_TAMPERINGS = (
  [
    ['forecasts', (skill) => Object.assign(skill, { n: 99 }), ['n']],
    ['replayed forecasts', (skill) => Object.assign(skill, { replayed: 4 }), ['replayed']],
    ['share of big moves', (skill) => Object.assign(skill, { bigShare: 0.123 }), ['bigShare']],
    ['Brier score', (skill) => Object.assign(skill, { brier: 0.01 }), ['brier']],
    ['skill against a reference', (skill) => Object.assign(tree(tree(skill.references).ewma), { value: 0.9 }), ['references.ewma.value']],
    ['interval of a skill', (skill) => Object.assign(tree(tree(skill.references).frequency), { low: 0.01 }), ['references.frequency.low']],
    ['reference that is left out', (skill) => Object.assign(tree(skill.references), { ewma: null }), ['references.ewma']],
    [
      'evidence and verdict',
      (skill) => Object.assign(tree(tree(skill.tests).ewma), { eBetter: 25, verdict: 'proven better at 5 %', since: '2026-01-01' }),
      ['tests.ewma.eBetter', 'tests.ewma.since', 'tests.ewma.verdict'],
    ],
    ['days of the evidence', (skill) => Object.assign(tree(tree(skill.tests).frequency), { days: 77 }), ['tests.frequency.days']],
    ['share of big moves of a size', (skill) => Object.assign(tree((skill.bySize as unknown[])[1]), { n: 50 }), ['bySize.1.n']],
    [
      'reliability',
      (skill) => Object.assign(tree((skill.reliability as unknown[])[0]), { observedShare: 0.777 }),
      ['reliability.0.observedShare'],
    ],
    ['bin of the reliability', (skill) => (skill.reliability as unknown[]).push({}), ['reliability.length']],
  ] satisfies [string, (skill: Record<string, unknown>) => unknown, string[]][]
).map(([what, change, paths]): [string, (claim: ClaimedScorecard) => void, string[]] => [
  `of the size of the move: ${what},`,
  (claim) => void change(tree(claim.moveSkill)),
  paths.map((path) => `moveSkill.${path}`),
]);

describe('manipulated figures', () => {
  it.each<[string, (claim: ClaimedScorecard) => void, string[]]>([
    [
      'beside those of the horizon that was asked for',
      (claim) => {
        rowOf(claim, 7).accuracy = 0.99;
      },
      ['byHorizon.7d.accuracy'],
    ],
    [
      'behind an honest line of the same horizon',
      (claim) => void claim.byHorizon!.push({ ...rowOf(claim, HORIZON), verdict: 'better than always-UP' }),
      ['byHorizon.entries', `byHorizon.${HORIZON}d.verdict`],
    ],
    [
      'by a line that is left out',
      (claim) => {
        claim.byHorizon = claim.byHorizon!.slice(1);
      },
      ['byHorizon.entries', 'byHorizon.1d'],
    ],
    ['in a line of no horizon', (claim) => void claim.byHorizon!.push({ ...rowOf(claim, 7), horizon: '14d' }), ['byHorizon.entries']],
    [
      'behind a word',
      (claim) => {
        claim.statistics!.calls = 'figures';
      },
      ['statistics.calls'],
    ],
    [
      'behind a list',
      (claim) => {
        claim.summary.streak = [];
      },
      ['summary.streak'],
    ],
    ['by being left out', (claim) => void delete claim.summary.accuracy, ['summary.accuracy']],
    ['by being left out inside', (claim) => void delete tree(claim.statistics!.calls).wilson95, ['statistics.calls.wilson95']],
    ...MOVE_TAMPERINGS,
    [
      'in an answer of another horizon',
      (claim) => {
        claim.horizon = '7d';
      },
      ['horizon'],
    ],
  ])('%s are reported', async (_, change, paths) => {
    const report = await auditOf(only(HORIZON, change));
    expect(named(report).sort()).toEqual(paths.map((path) => `figure ${HORIZON}d ${path}`).sort());
    expect(report.verdict).toBe('differs');
  });

  it('are all missing in an empty summary', async () => {
    const fields = Object.keys((await claimsOf(served.url).scorecard(HORIZON)).summary);
    const report = await auditOf(
      only(HORIZON, (claim) => {
        claim.summary = {};
      }),
    );
    expect(named(report).sort()).toEqual(fields.map((field) => `figure ${HORIZON}d summary.${field}`).sort());
    expect(report.differences[0].message).toMatch(/the service omits summary\.\w+ \(expected /);
  });

  it('under unknown names are noted, and so are missing parts', async () => {
    const report = await auditOf(
      only(HORIZON, (claim) => {
        delete claim.stats;
        Object.assign(claim, { record: '99 of 100 right' });
        Object.assign(claim.summary, { '\x1b[2Jrate': 0.99, constructor: 0.99, climatologyRate: 0.99 });
        rowOf(claim, 7).hitRate = 0.99;
      }),
    );
    expect(named(report)).toEqual([]);
    const names = 'record; summary.\uFFFD[2Jrate; summary.constructor; summary.climatologyRate; byHorizon.7d.hitRate';
    expect(report.notes).toContain('scorecards of the service omit stats: these could not be compared');
    expect(report.notes).toContain(`the service shows unknown figures, which could not be compared: ${names}`);
  });

  it('ignores a provisional price at window open', async () => {
    const { forecasts } = service.pipeline.record;
    const newest = service.pipeline.record.known.listByHorizon(HORIZON).at(-1)!;
    await forecasts.updateOne({ _id: newest._id }, { $set: { btcAtSignalCents: null } });
    const [row] = (await claimsOf(served.url).scorecard(HORIZON)).predictions;
    const report = await auditOf();
    await forecasts.updateOne({ _id: newest._id }, { $set: { btcAtSignalCents: newest.btcAtSignalCents } });
    expect(row).toMatchObject({ sequence: newest.sequence, btcAtSignal: null });
    expect(named(report)).toEqual([]);
  });

  it('reads a scorecard of many pages', async () => {
    const paged = (rows: number) =>
      createServiceClaims(served.url, async (path) => (await fetch(`${served.url}/${path.replace(/limit=\d+/, `limit=${rows}`)}`)).json());
    for (const rows of [1, 3, DAYS]) expect(await paged(rows).scorecard(HORIZON)).toEqual(await claimsOf(served.url).scorecard(HORIZON));
    expect((await paged(3).scorecard(HORIZON)).predictions).toHaveLength(DAYS);
  });

  it('are not in honest responses', async () => {
    expect((await auditOf()).notes.filter((note) => note.includes('could not be compared'))).toEqual([]);
  });
});

describe('figures against the base rate with prices of another source', () => {
  const byOthers = async (change: Change) => {
    const own = await openRecordPrices(service.http.market.source, { feeds: '', now: new Date() });
    return auditOf(change, new Date(), { ...own, toleranceBps: 100 });
  };
  const skill = (claim: ClaimedScorecard) => (claim.statistics!.probabilities as { climatologySkill: { value: number } }).climatologySkill;

  it('are right, doubtful or wrong by their distance', async () => {
    const by = (apart: number) =>
      byOthers(
        only(HORIZON, (claim) => {
          skill(claim).value += apart;
        }),
      );
    expect((await by(5e-4)).verdict).toBe('agrees');
    const open = await by(1e-3);
    expect(open.verdict).toBe('incomplete');
    expect(reportText(open)).toMatch(/the service shows 3d statistics\.probabilities\.climatologySkill\.value \S+, with these prices \S+/);
    expect(named(await by(5e-2))).toEqual([`figure ${HORIZON}d statistics.probabilities.climatologySkill.value`]);
  });

  it("must be equal with the record's own prices", async () => {
    const report = await auditOf(
      only(HORIZON, (claim) => {
        skill(claim).value += 1e-6;
      }),
    );
    expect(named(report)).toEqual([`figure ${HORIZON}d statistics.probabilities.climatologySkill.value`]);
  });
});

describe('references of the size of the move', () => {
  const DATE = formatDay(TODAY - DAYS);
  type ChangeReferences = (found: Record<string, number | null>) => unknown;
  const references = (served: ServedDistributions) => served.move!.references as Record<string, number | null>;
  const oldestOnly =
    (change: ChangeReferences): ChangeServed =>
    (served, horizonDays) => {
      if (horizonDays === HORIZON && served.date === DATE) change(references(served));
    };
  const differ = (changeServed: ChangeServed, prices?: AuditPrices) => auditOf(undefined, new Date(), prices, changeServed);
  const ownPrices = () => openRecordPrices(service.http.market.source, { feeds: '', now: new Date() });

  it.each<[string, ChangeReferences]>([
    ['frequency', (found) => Object.assign(found, { frequency: found.frequency! + 1e-6 })],
    ['ewma', (found) => Object.assign(found, { ewma: found.ewma! - 1e-6 })],
    ['ewma', (found) => Object.assign(found, { ewma: null })],
    ['frequency', (found) => void delete found.frequency],
  ])("must equal those of the record's own prices: %s", async (name, change) => {
    const report = await differ(oldestOnly(change));
    expect(named(report)).toContain(`scores ${HORIZON}d ${DATE} move.references.${name}`);
    // The figures of the honest scorecard follow from the honest reference.
    expect(named(report)).toContain(`figure ${HORIZON}d moveSkill.references.${name}.value`);
  });

  it('by GARCH are out of reach, but for the figures that follow from them', async () => {
    const report = await differ(oldestOnly((found) => Object.assign(found, { garch: found.garch! + 0.01 })));
    expect(named(report).every((name) => name.startsWith(`figure ${HORIZON}d moveSkill.references.garch.`))).toBe(true);
    expect(report.verdict).toBe('differs');
  });

  it('are noted where no prices determine them', async () => {
    const own = await ownPrices();
    const report = await auditOf(undefined, new Date(), { ...own, history: async () => null });
    expect(named(report)).toEqual([]);
    expect(report.notes.join()).toMatch(/references of \d+ sizes of the move were not recomputed: no prices were read/);
  });

  it.each([20, 100])('differ from those of other closes, which are within %i bps, without failing an honest record', async (bps) => {
    const own = await ownPrices();
    const random = createRandom(7);
    const { firstDay, closes } = (await own.history())!;
    const others = closes.map((close) => close * (1 + (bps / 10_000) * (2 * random() - 1)));
    const report = await auditOf(undefined, new Date(), { ...own, toleranceBps: 100, history: async () => ({ firstDay, closes: others }) });
    expect(named(report).filter((name) => !name.includes('climatology'))).toEqual([]);
    if (bps === 20) expect(report.incomplete.join()).not.toContain('references');
  });

  it('are right, doubtful or wrong by their distance with prices of another source', async () => {
    const others = { ...(await ownPrices()), toleranceBps: 100 };
    const by = (apart: number) => {
      const all: ChangeServed = (served) => void Object.assign(references(served), { ewma: references(served).ewma! + apart });
      return differ(all, others);
    };
    const scores = (report: AuditReport) => named(report).filter((name) => name.startsWith('scores'));
    expect(scores(await by(0.01))).toEqual([]);
    const doubtful = await by(0.1);
    expect(scores(doubtful)).toEqual([]);
    expect(reportText(doubtful)).toMatch(/\d+ references of the size of the move cannot be decided with prices of another source, such as/);
    expect(scores(await by(0.35))).toContain(`scores ${HORIZON}d ${DATE} move.references.ewma`);
  });
});

describe('a failing command', () => {
  it.each([
    [['--service', 'http://127.0.0.1:1'], /No service answers at http:\/\/127\.0\.0\.1:1\n.*npm start/],
    [['--rpc', 'http://127.0.0.1:1', '--attester', `0x${'1'.repeat(40)}`], /CHAIN_UNREACHABLE/],
  ])('%j prints an explanation and exits with 2', async (words, explanation) => {
    const { code, output } = await run(...words);
    expect(output).toMatch(explanation);
    expect(output).not.toContain('    at ');
    expect(code).toBe(2);
  });

  it('reports a service that is still starting', async () => {
    const log = createLog({ level: 'silent', secrets: [] });
    const starting = await listen(
      createStartingApp({ log, publicUrl: 'http://127.0.0.1', setup: createStartupProgress() }),
      0,
      '127.0.0.1',
    );
    const url = `http://127.0.0.1:${starting.port}`;
    const { code, output } = await run('--service', url);
    await starting.close();
    expect(output).toContain(`The service at ${url} is still starting`);
    expect(output).toContain(`${url}/health`);
    expect(output).not.toContain('npm start');
    expect(code).toBe(2);
  });
});
