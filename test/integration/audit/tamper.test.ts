import { type Hex, zeroHash } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AuditReport, audit, reportText } from '../../../src/audit/audit.ts';
import type { AuditChain, AuditPrices } from '../../../src/audit/chain-record.ts';
import { openAuditChain } from '../../../src/cli/svc/audit-options.ts';
import { type Day, formatDay, toInstantMs } from '../../../src/forecast/day.ts';
import { getCheck } from '../../../src/verify/findings.ts';
import { type TestChain, testChain } from '../../support/chain/chain.ts';
import {
  AUDITED_DAYS,
  AUDITED_HORIZONS,
  closeUsd,
  registerSchemas,
  type Tampering,
  type WrittenRecord,
  writeRecord,
} from '../../support/record/audit-record.ts';

let chain: TestChain;
let reader: AuditChain;
beforeAll(async () => {
  chain = await testChain();
  await registerSchemas(chain);
  reader = await openAuditChain({ rpcUrl: chain.rpcUrl });
});
afterAll(() => chain.stop());

const PRICES: AuditPrices = {
  source: 'the prices of the test',
  toleranceBps: 0,
  endsOn: null,
  closes: async (days) => new Map(days.map((day) => [day, closeUsd(day)])),
  history: async () => null,
};

interface Run {
  report: AuditReport;
  written: WrittenRecord;
  /** `YYYY-MM-DD` of a day of the record, from 0. */
  date(index: number): string;
}

async function auditOf(
  tampering: Tampering = {},
  more: { now?: (written: WrittenRecord) => Date; prices?: AuditPrices; days?: number } = {},
): Promise<Run> {
  const written = await writeRecord(chain, tampering, more.days);
  const { attester, firstDay } = written;
  const now = more.now?.(written) ?? written.now;
  const report = await audit({ chain: reader, attester, prices: more.prices ?? PRICES, claims: null, now });
  return { report, written, date: (index) => formatDay(firstDay + index) };
}

/** The differences, without what follows from them. */
function found({ report }: Run): Pick<AuditReport['differences'][number], 'check' | 'date' | 'horizonDays' | 'sequence' | 'field'>[] {
  return report.differences.map(({ check, date, horizonDays, sequence, field }) => ({ check, date, horizonDays, sequence, field }));
}

const DAY = 2;
const tooLate = (index: number, day: Day) => (index === DAY ? toInstantMs(day + 1, 0, 10) : undefined);
const at = (index: number, horizonDays: number) => (item: { day: Day; horizonDays: number; sequence: number }) =>
  item.sequence === index + 1 && item.horizonDays === horizonDays;

describe('an honest record', () => {
  it('agrees on every row and every check', async () => {
    const { report, date } = await auditOf();
    expect(report.differences).toEqual([]);
    expect(report.verdict).toBe('agrees');
    expect(report.horizons.map(({ horizonDays, forecasts, inTime, pending }) => ({ horizonDays, forecasts, inTime, pending }))).toEqual(
      AUDITED_HORIZONS.map((horizonDays) => ({ horizonDays, forecasts: AUDITED_DAYS, inTime: AUDITED_DAYS, pending: horizonDays })),
    );
    for (const { check, passed, failed } of report.checks) {
      expect({ check, failed }).toEqual({ check, failed: 0 });
      if (check !== 'metadata' && check !== 'void' && getCheck(check).appliesTo !== 'claims') expect(passed, check).toBeGreaterThan(0);
    }
    const text = reportText(report);
    expect(text).toContain(`AGREES: ${report.summary}.`);
    expect(text).toMatch(new RegExp(`3d +${date(0)}  ${date(AUDITED_DAYS - 1)} +${AUDITED_DAYS} `));
  });

  it('is scored by direction, without HOLD, as counted by hand', async () => {
    const { report, written } = await auditOf();
    const [oneDay] = report.horizons;
    const rises = (index: number) => closeUsd(written.firstDay + index + 1) > closeUsd(written.firstDay + index);
    const { wins, losses, holds } = oneDay;
    expect(wins + losses + holds).toBe(AUDITED_DAYS - 1);
    const pUps = Array.from({ length: AUDITED_DAYS - 1 }, (_, index) => 4_050 + (((written.firstDay + index) * 31 + 7) % 20) * 100);
    const calls = pUps.map((pUp, index) => ({ called: Math.abs(pUp - 5_000) >= 200, right: pUp > 5_000 === rises(index) }));
    expect(wins).toBe(calls.filter(({ called, right }) => called && right).length);
    expect(holds).toBe(calls.filter(({ called }) => !called).length);
    const brier = pUps.reduce((sum, pUp, index) => sum + (pUp / 10_000 - (rises(index) ? 1 : 0)) ** 2, 0) / pUps.length;
    expect(oneDay.brier).toBeCloseTo(brier, 12);
  });
});

describe('each planted tampering is reported', () => {
  it('a changed salt', async () => {
    const run = await auditOf({
      resolution: (item, index, horizonDays) => [
        index === DAY && horizonDays === 3 ? { ...item, salt: `0x${'ab'.repeat(32)}` as Hex } : item,
      ],
    });
    expect(found(run)).toEqual([{ check: 'opening', date: run.date(DAY), horizonDays: 3, sequence: DAY + 1, field: 'commitment' }]);
    expect(run.report.differences[0].message).toMatch(/do not open the commitment: the salt, or a value, was changed/);
    expect(run.report.verdict).toBe('differs');
    expect(run.report.horizons[1].pending).toBe(4);
  });

  it('a direction other than the committed one', async () => {
    const flip = { UP: 'DOWN', DOWN: 'UP' } as const;
    const run = await auditOf({
      resolution: (item, index, horizonDays) => {
        if (index !== DAY || horizonDays !== 1) return [item];
        const direction = flip[item.direction];
        const rose = item.btcAtResolutionCents > item.btcAtSignalCents;
        const outcome = rose === (direction === 'UP') ? 'WIN' : 'LOSS';
        return [{ ...item, signal: direction === 'UP' ? 'BUY' : 'SELL', direction, pUpBps: 10_000 - item.pUpBps, outcome }];
      },
    });
    expect(found(run)).toEqual([{ check: 'opening', date: run.date(DAY), horizonDays: 1, sequence: DAY + 1, field: 'commitment' }]);
    expect(run.report.differences[0].message).toMatch(
      /(UP|DOWN) with P\(up\) \d+ bps was committed, (BUY UP|SELL DOWN) with P\(up\) \d+ bps was revealed/,
    );
  });

  it('a late forecast that was counted', async () => {
    const run = await auditOf({ attestAtMs: tooLate });
    // Both horizons of the day were in that transaction.
    expect(found(run)).toEqual(
      AUDITED_HORIZONS.map((horizonDays) => ({ check: 'void', date: run.date(DAY), horizonDays, sequence: DAY + 1, field: 'time' })),
    );
    expect(run.report.differences[0].message).toContain('attested late: its block is of');
    expect(run.report.horizons.map(({ voids, inTime }) => ({ voids, inTime }))).toEqual([
      { voids: 1, inTime: AUDITED_DAYS - 1 },
      { voids: 1, inTime: AUDITED_DAYS - 1 },
    ]);
  });

  it('a late forecast that was not counted is VOID and no difference', async () => {
    const run = await auditOf({
      attestAtMs: tooLate,
      resolution: (item, index) => (index === DAY ? [] : [item]),
    });
    expect(run.report.verdict).toBe('agrees');
    expect(run.report.notes.filter((note) => note.startsWith(`${run.date(DAY)} `))).toHaveLength(2);
  });

  it('a day missing on chain', async () => {
    const run = await auditOf({ prediction: (item) => (at(DAY, 3)(item) ? [] : [item]) });
    expect(found(run)).toEqual([{ check: 'sequence', date: run.date(DAY), horizonDays: 3, sequence: DAY + 1, field: 'sequence' }]);
    expect(run.report.differences[0].message).toContain(`sequence ${DAY + 1} is missing on chain (${run.date(DAY)})`);
  });

  it('a missing day with closed sequence numbers', async () => {
    const run = await auditOf({
      prediction: (item, index) => {
        if (item.horizonDays !== 3 || index < DAY) return [item];
        return index === DAY ? [] : [{ ...item, sequence: item.sequence - 1 }];
      },
    });
    expect(found(run)).toContainEqual({ check: 'sequence', date: run.date(DAY + 1), horizonDays: 3, sequence: DAY + 1, field: 'day' });
  });

  it('missing last days of one horizon', async () => {
    const run = await auditOf({ prediction: (item, index) => (item.horizonDays === 1 && index >= AUDITED_DAYS - 2 ? [] : [item]) });
    expect(found(run)).toEqual([
      { check: 'sequence', date: run.date(AUDITED_DAYS - 1), horizonDays: 1, sequence: null, field: 'last day' },
    ]);
  });

  it('a duplicated sequence', async () => {
    const run = await auditOf({
      prediction: (item) => (at(DAY, 1)(item) ? [item, { ...item, commitment: `0x${'cd'.repeat(32)}` as Hex }] : [item]),
    });
    expect(found(run)).toEqual([{ check: 'onePrediction', date: run.date(DAY), horizonDays: 1, sequence: DAY + 1, field: 'commitments' }]);
    expect(run.report.differences[0].message).toContain('committed 2 times for one day and horizon');
  });

  it('a wrong resolution price', async () => {
    const run = await auditOf({
      resolution: (item, index, horizonDays) => {
        if (index !== DAY || horizonDays !== 3) return [item];
        const btcAtResolutionCents = item.btcAtResolutionCents + 1;
        return [{ ...item, btcAtResolutionCents, returnBps: Math.round((btcAtResolutionCents / item.btcAtSignalCents - 1) * 10_000) }];
      },
    });
    expect(found(run)).toContainEqual({ check: 'price', date: run.date(DAY), horizonDays: 3, sequence: DAY + 1, field: 'btcAtResolution' });
    const message = run.report.differences.find(({ check }) => check === 'price')?.message;
    expect(message).toContain(`the close of ${run.date(DAY + 3)} is`);
    // It is also told apart from the same close in other resolutions.
    expect(found(run).map(({ check }) => check)).toContain('oneClose');
  });

  it('a wrong outcome', async () => {
    const swap = { WIN: 'LOSS', LOSS: 'WIN', HOLD: 'WIN' } as const;
    const run = await auditOf({
      resolution: (item, index, horizonDays) => [index === DAY && horizonDays === 1 ? { ...item, outcome: swap[item.outcome] } : item],
    });
    expect(found(run)).toEqual([{ check: 'outcome', date: run.date(DAY), horizonDays: 1, sequence: DAY + 1, field: 'outcome' }]);
  });

  it('a broken reference to the previous day', async () => {
    const run = await auditOf({ prediction: (item) => [at(DAY, 3)(item) ? { ...item, refUid: zeroHash } : item] });
    expect(found(run)).toEqual([{ check: 'link', date: run.date(DAY), horizonDays: 3, sequence: DAY + 1, field: 'refUid' }]);
  });

  it('a second, contradicting resolution', async () => {
    const run = await auditOf({
      resolution: (item, index, horizonDays) =>
        index === DAY && horizonDays === 1 ? [item, { ...item, outcome: 'WIN', returnBps: 999 }] : [item],
    });
    expect(found(run)).toEqual([{ check: 'oneResolution', date: run.date(DAY), horizonDays: 1, sequence: DAY + 1, field: 'resolution' }]);
    expect(run.report.differences[0].message).toMatch(/contradicts the first in .*returnBps -?\d+ \/ 999/);
  });

  it('a resolution before its window is over', async () => {
    const run = await auditOf({
      prediction: (item) => [at(DAY, 1)(item) ? { ...item, resolvesAt: new Date(item.resolvesAt.getTime() + 3_600_000) } : item],
    });
    expect(found(run)).toEqual([
      { check: 'windows', date: run.date(DAY), horizonDays: 1, sequence: DAY + 1, field: 'resolvesAt' },
      { check: 'afterWindow', date: run.date(DAY), horizonDays: 1, sequence: DAY + 1, field: 'time' },
    ]);
  });

  it('a withheld reveal after two days', async () => {
    const withheld: Tampering = { resolution: (item, index, horizonDays) => (index === DAY && horizonDays === 1 ? [] : [item]) };
    const run = await auditOf(withheld);
    expect(found(run)).toEqual([{ check: 'revealed', date: run.date(DAY), horizonDays: 1, sequence: DAY + 1, field: 'resolution' }]);
    expect(run.report.differences[0].message).toContain('withheld');
    const early = await auditOf(withheld, { days: DAY + 1, now: ({ firstDay }) => new Date(toInstantMs(firstDay + DAY + 4) - 1) });
    expect(early.report.verdict).toBe('agrees');
  });

  it('values that no forecast can have', async () => {
    const run = await auditOf({
      resolution: (item, index, horizonDays) => [
        index === DAY && horizonDays === 1 ? { ...item, confidenceBps: item.confidenceBps - 100 } : item,
      ],
    });
    expect(found(run).map(({ check }) => check)).toEqual(['values', 'opening']);
  });

  it('an unknown horizon and impossible numbers', async () => {
    const run = await auditOf({
      prediction: (item) => {
        if (at(DAY, 1)(item)) return [item, { ...item, horizonDays: 5 }, { ...item, day: 4_000_000_000 }, { ...item, sequence: 0 }];
        return [item];
      },
    });
    expect(found(run).map(({ field }) => field)).toEqual(expect.arrayContaining(['horizonDays', 'day', 'sequence']));
  });
});

describe('impossible checks', () => {
  it('are reported for a record that stopped and for data that ends', async () => {
    const { attester, firstDay } = await writeRecord(chain, { resolution: (item, index) => (index < DAY ? [item] : []) });
    const lastDay = firstDay + AUDITED_DAYS - 1;
    const look = (now: number, endsOn: Day | null) => {
      return audit({ chain: reader, attester, prices: { ...PRICES, endsOn }, claims: null, now: new Date(now) });
    };
    const ended = `nothing has been forecast since ${formatDay(lastDay)}`;
    expect((await look(toInstantMs(lastDay + 2) - 1, null)).notes).not.toContain(ended);
    expect((await look(toInstantMs(lastDay + 2), null)).notes).toContain(ended);
    const { notes, verdict } = await look(toInstantMs(lastDay + 30), firstDay + DAY);
    expect(verdict).toBe('agrees');
    expect(notes).toContain(
      `${2 * (AUDITED_DAYS - DAY)} forecasts stay pending: the data of the record ends on ${formatDay(firstDay + DAY)}`,
    );
  });

  it('are reported for a missing close and a wallet without forecasts', async () => {
    const { report, date } = await auditOf(
      {},
      { prices: { ...PRICES, closes: async (days) => new Map(days.slice(1).map((day) => [day, closeUsd(day)])) } },
    );
    expect(report.verdict).toBe('incomplete');
    expect(report.missingCloses).toEqual([date(0)]);
    expect(report.notes.join()).not.toContain('was found');
    expect(reportText(report)).toMatch(
      /Could not be checked:\n {2}1 days have no price .*\n\nINCOMPLETE: [\d,]+ checks agree, [\d,]+ could not be made\./,
    );
    const empty = await audit({ chain: reader, attester: chain.deployer.address, prices: PRICES, claims: null, now: new Date() });
    expect(empty.verdict).toBe('incomplete');
    expect(empty.notes.join()).toContain('no forecast of this attester was found');
  });

  it('prices within the tolerance agree, others do not', async () => {
    const written = await writeRecord(chain);
    const look = (factor: (day: Day) => number) => auditBy(written, { toleranceBps: 100, usd: (day) => closeUsd(day) * factor(day) });
    expect((await look(() => 1.009)).verdict).toBe('agrees');
    const beyond = await look((day) => (day === written.firstDay + 2 ? 1.011 : 1));
    expect(beyond.differences.every(({ check }) => check === 'price')).toBe(true);
    expect(beyond.verdict).toBe('differs');
  });
});

interface OtherPrices {
  toleranceBps: number;
  usd(day: Day): number;
}

function auditBy({ attester, now }: WrittenRecord, { toleranceBps, usd }: OtherPrices): Promise<AuditReport> {
  const prices = { ...PRICES, toleranceBps, closes: async (days: readonly Day[]) => new Map(days.map((day) => [day, usd(day)])) };
  return audit({ chain: reader, attester, prices, claims: null, now });
}

/** Falls wherever the closes on chain rise, by as little as is wanted. */
const mirror = (size: number) => (day: Day) => 61_850 - size * (closeUsd(day) - 61_850);

describe('outcomes that other prices contradict', () => {
  it('make the audit incomplete when few with small returns', async () => {
    const report = await auditBy(await writeRecord(chain, {}, 3), { toleranceBps: 1_000, usd: mirror(0.05) });
    expect(report.verdict).toBe('incomplete');
    expect(report.notes.filter((note) => note.includes('a close call'))).toHaveLength(2);
    const [{ wins, losses }] = report.horizons;
    expect(report.incomplete).toEqual([
      `1d: by the prices of the test 2 of 2 prices went the other way: ${losses} wins instead of ${wins}`,
    ]);
    expect(reportText(report)).toContain(`  ${report.incomplete[0]}\n\nINCOMPLETE: ${report.summary}.`);
  });

  it('are wrong when more than sources disagree about', async () => {
    const written = await writeRecord(chain);
    const report = await auditBy(written, { toleranceBps: 1_000, usd: mirror(0.05) });
    expect(report.differences.map(({ check, horizonDays, date, found }) => ({ check, horizonDays, date, found }))).toEqual(
      AUDITED_HORIZONS.map((horizonDays) => ({ check: 'outcome', horizonDays, date: null, found: AUDITED_DAYS - horizonDays })),
    );
    expect(report.differences[0].message).toContain('sources disagree about at most 2');
  });

  it('are wrong individually for larger returns', async () => {
    const written = await writeRecord(chain, {}, 3);
    const report = await auditBy(written, { toleranceBps: 1_500, usd: mirror(1) });
    expect(report.differences.map(({ check, sequence, field }) => ({ check, sequence, field }))).toEqual(
      [1, 2].map((sequence) => ({ check: 'outcome', sequence, field: 'actualDirection' })),
    );
    expect(report.verdict).toBe('differs');
  });
});
