import { describe, expect, it } from 'vitest';
import { formatDay, parseDay, toInstantMs } from '../../../src/forecast/day.ts';
import { renderBriefMarkdown, renderBriefText } from '../../../src/http/routes/briefs.ts';
import { type Brief, type BriefData, composeBrief } from '../../../src/record/briefs.ts';
import { buildPricedWager } from './crowd-pin-fixture.ts';
import { buildTestDay } from './day-fixture.ts';
import { buildTestForecast } from './forecast-fixture.ts';

const DAY = parseDay('2026-01-13');
const AS_OF = new Date(toInstantMs(DAY, 3));

const data = (rest: Partial<BriefData> = {}): BriefData => ({
  day: DAY,
  asOf: AS_OF,
  generatedAt: AS_OF,
  late: false,
  source: 'simulated (seed 2)',
  kind: 'simulated',
  context: null,
  contextMissing: null,
  series: [],
  yesterday: buildTestDay(DAY - 1),
  lastForecast: buildTestDay(DAY - 1),
  replayedDays: 0,
  forecasts: [],
  wager: null,
  troubles: [],
  next: [],
  lastCovered: null,
  ...rest,
});

/** Resolved at 00:00 of the day, revealed then. */
const resolvedToday = buildTestForecast({ date: '2026-01-05', state: 'LOSS', direction: 'UP', actual: 'DOWN' });
const resolvedBefore = buildTestForecast({ date: '2026-01-04', state: 'WIN' });
const open = buildTestForecast({ date: '2026-01-06' });

describe('a brief', () => {
  it('lists resolutions of the previous 24 hours and counts all forecasts', () => {
    const brief = composeBrief(data({ forecasts: [resolvedBefore, resolvedToday, open] }));
    expect(brief.resolved).toEqual([
      {
        predictionId: '2026-01-05:7d',
        date: '2026-01-05',
        horizon: '7d',
        signal: 'BUY',
        direction: 'UP',
        confidence: 0.5876,
        outcome: 'LOSS',
        returnBps: -111,
        btcAtSignal: 90_000,
        btcAtResolution: 89_000,
      },
    ]);
    expect(brief.scorecard.map(({ horizon }) => horizon)).toEqual(['1d', '2d', '3d', '7d']);
    expect(brief.scorecard[3]).toMatchObject({
      forecasts: 3,
      resolved: 2,
      wins: 1,
      losses: 1,
      pending: 1,
      verdict: expect.stringContaining('1 of 2 right, worth 1.2 independent calls, 95 % interval 0.06 to 0.94;'),
      accuracyInterval95: { low: expect.closeTo(0.06, 2), high: expect.closeTo(0.94, 2) },
    });
  });

  it('is the same when made late: later attestations are excluded', () => {
    const later = new Date(AS_OF.getTime() + 10 * 3_600_000);
    const revealedLater = { ...resolvedToday, reveal: { ...resolvedToday.reveal!, at: later } };
    const pending = { ...buildTestForecast({ date: '2026-01-05' }), attestation: resolvedToday.attestation };
    const { notes, ...inTime } = composeBrief(data({ forecasts: [pending] }));
    const late = composeBrief(
      data({ forecasts: [revealedLater, buildTestForecast({ date: '2026-01-13' })], generatedAt: later, late: true }),
    );
    expect(late).toEqual({ ...inTime, generatedAt: later.toISOString(), late: true, notes: [expect.stringContaining('late'), ...notes] });
    expect(notes).toEqual(['1 forecasts have ended and wait for their resolution.']);
  });

  it('lists the next resolution, as long as there is a close for it', () => {
    // The window of 6 January ends with the close of the 13th.
    const next = (lastCovered: number | null) => composeBrief(data({ forecasts: [open], lastCovered })).next;
    const due = [{ event: 'resolution', at: '2026-01-14T00:00:00.000Z' }];
    expect(next(null)).toEqual(due);
    expect(next(DAY)).toEqual(due);
    expect(next(DAY - 1)).toEqual([]);
  });

  it('discloses nothing of an unresolved forecast but its existence', () => {
    const of = (direction: 'UP' | 'DOWN', signal: 'BUY' | 'HOLD') => {
      const doc = buildTestForecast({ date: '2026-01-12', direction });
      return composeBrief(data({ forecasts: [{ ...doc, values: { ...doc.values!, signal } }] }));
    };
    expect(of('UP', 'BUY')).toEqual(of('DOWN', 'HOLD'));
    expect(of('UP', 'BUY').open).toEqual([expect.objectContaining({ predictionId: '2026-01-12:7d', signal: 'GATED', confidence: null })]);
  });

  it('is the same on the crowd whatever the model and the wager', () => {
    const priced = buildPricedWager({ day: DAY - 1, decidingDay: DAY + 3, qMarket: 0.6, pModel: 0.9 });
    const quiet = composeBrief(data({ wager: priced }));
    const placed = {
      ...priced,
      pModel: 0.1,
      state: 'PLACED' as const,
      side: 'NO' as const,
      contracts: 7,
      costMicros: 1,
      skippedBecause: null,
    };
    expect(composeBrief(data({ wager: placed }))).toEqual(quiet);
    expect(quiet.crowd).toMatchObject({ marketProbability: 0.6, venue: 'polymarket', quotesAreOurs: false });
    const decidedLater = { ...priced, decidedAt: new Date(AS_OF.getTime() + 1) };
    expect(composeBrief(data({ wager: decidedLater })).crowd).toBeNull();
  });

  it('notes what was missed, late, void, uncommitted or waiting', () => {
    const missed = composeBrief(
      data({
        yesterday: buildTestDay(DAY - 1, { missedBecause: 'no forecast before the window opened: *no* price' }),
        forecasts: [{ ...buildTestForecast({ date: '2026-01-12', state: 'VOID' }), missed: true, values: null }],
        contextMissing: 'The last price is [old](http://x)',
        troubles: [{ step: 'resolve', date: '2026-01-13', state: 'waiting', reason: 'venues do not agree' }],
      }),
    ).notes;
    expect(missed).toEqual([
      '2026-01-12 was missed: no forecast before the window opened: no price.',
      'No market figures: The last price is old (http: x).',
      'Step resolve of 2026-01-13 is waiting: venues do not agree.',
    ]);
    const late = composeBrief(
      data({
        yesterday: buildTestDay(DAY - 1, { late: true }),
        forecasts: [buildTestForecast({ date: '2026-01-12', state: 'VOID' }), buildTestForecast({ date: '2026-01-11', state: 'DRAFT' })],
      }),
    ).notes;
    expect(late).toEqual([
      'The forecast of 2026-01-12 was made late.',
      '1 forecasts of 2026-01-12 were committed too late and never count.',
      '1 forecasts are not on chain yet.',
    ]);
    expect(composeBrief(data({ yesterday: null })).notes).toEqual(['There is no entry of 2026-01-12 in the record.']);
  });

  it('lists next events in order, with the first resolution', () => {
    const next = [{ event: 'brief' as const, at: '2026-01-14T03:00:00.000Z' }];
    expect(composeBrief(data({ forecasts: [open], next })).next).toEqual([
      { event: 'resolution', at: '2026-01-14T00:00:00.000Z' },
      ...next,
    ]);
  });
});

describe('a brief as text and Markdown', () => {
  const wager = buildPricedWager({ day: DAY - 1, decidingDay: DAY + 3 });
  const hostile = `# Ignore all\n\n- [click](https://evil.example) <img src=x onerror=alert(1)> **now** ${'x'.repeat(5_000)}`;
  const brief: Brief = composeBrief(
    data({
      forecasts: [resolvedToday, open],
      wager: { ...wager, market: { ...wager.market!, question: hostile } },
      context: {
        ...{ atMs: 0, kind: 'live', source: 'live', btcPrice: 101_234.567, change24hPct: -1.234, fearGreed: 40, fearGreedLabel: 'Fear' },
        ...{ etfFlows7dUsd: -1_000_000, etfFlows30dUsd: null, etfFlowLastDayUsd: 2_500_000, etfFlowThroughDay: DAY - 1 },
        ...{ observedAt: { btcPrice: 0, fearGreed: 0, etfFlows: 0 }, sources: { btcPrice: '', fearGreed: '', etfFlows: '' } },
      },
    }),
  );

  it.each([
    ['text', renderBriefText],
    ['Markdown', renderBriefMarkdown],
  ])('has every section with formatted figures: %s', (_name, render) => {
    const text = render(brief);
    for (const phrases of [
      'brief of 2026-01-13',
      'As of 2026-01-13 03:00 UTC',
      'BTC/USD $101,234.57, -1.23 % in 24 hours',
      `${formatDay(DAY - 1)} $2,500,000, 7 days -$1,000,000, 30 days unknown`,
      'Fear & Greed 40 (Fear)',
      'Regime CHOP, risk Moderate',
      '2026-01-05:7d: BUY UP at 0.5876, LOSS, return -1.11 %',
      '2026-01-06:7d: GATED until 2026-01-14 00:00 UTC',
      '0 of 1 right',
    ])
      expect(text).toContain(phrases);
  });

  it("contains no markup of its inputs, however hostile the venue's text", () => {
    const lines = renderBriefMarkdown(brief)
      .split('\n')
      .filter((line) => line !== '');
    for (const line of lines) expect(line).toMatch(/^(# |## |- )[^#*`[\]<>|~\\]*$/);
    expect(brief.crowd!.question.length).toBeLessThanOrEqual(160);
    expect(renderBriefMarkdown(brief)).not.toMatch(/https?:\/\//);
  });
});
