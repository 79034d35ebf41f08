import { describe, expect, it } from 'vitest';
import { getTrackRecord } from '../../../skills/get-track-record.ts';
import { predictBtcDirection } from '../../../skills/predict-btc-direction.ts';
import { limitWords, type Skill } from '../../../skills/skill.ts';
import { computePositionSize } from '../../../src/forecast/move.ts';

const MAX_WORDS = 120;
/** The longest form that a verdict of the record takes. */
const VERDICT =
  'not distinguishable from always-UP: 1837 of 3650 right, worth 521 independent calls, 95 % interval 0.46 to 0.55; every call was UP: it rose on 49.3 % of those days and on 63.2 % of HOLD days, difference -13.8 points, on too few days for an interval; on windows that do not overlap 260 of 521';
const BEGINNING = VERDICT.slice(0, VERDICT.indexOf(', difference'));
const SOURCE = 'simulated (seed 2)';
const UID = `0x${'a'.repeat(64)}`;
const INTERVAL = { low: 0.46, high: 0.55 };

const COUNTS = { days: 90, buy: 2, sell: 0, hold: 88, up: 90, down: 0, sameAsDayBefore: 0.9663 };

const FORECAST = {
  ...{ moveSize: 'USUAL', pBig: 0.4712 },
  ...{ signal: 'BUY', direction: 'UP', confidence: 0.5896, pUp: 0.5896, horizon: '7d', date: '2026-11-27', btcPrice: 250_072.22 },
  ...{ predictionId: '2026-11-27:7d', regime: 'BULL_TREND', status: 'PENDING', stale: true, replayed: true, source: SOURCE },
  ...{ windowOpensAt: '2026-11-28T00:00:00.000Z', resolvesAt: '2026-12-05T00:00:00.000Z', attestationUid: UID },
  skill: { verdict: VERDICT, scored: 3650, accuracy: 0.5, interval95: INTERVAL },
  range: { share: 0.8, low: 238_000, high: 262_000 },
  revealedCalls: { days90: COUNTS, all: COUNTS },
};
const SIZING = computePositionSize({ riskPercent: 1.25, accountUsd: 12_345 }, { width90: 0.02, btcPrice: FORECAST.btcPrice });

const STATISTICS = {
  ...{ totalPredictions: 3650, wins: 1837, losses: 1813, holds: 120, voids: 12, pending: 7, verdict: VERDICT },
  ...{ brier: { model: 0.25, climatology: 0.25, climatology4y: 0.25 }, brierDifference: { mean: -0.001, low: -0.011, high: 0.012 } },
};
const SKILL_OF_MOVE = { brier: 0.2312 };
const TEST_OF_MOVE = { verdict: 'not proven' };
const MOVE_SKILL = {
  ...{ n: 3650, brier: 0.2401, references: { frequency: SKILL_OF_MOVE, ewma: SKILL_OF_MOVE } },
  tests: { frequency: TEST_OF_MOVE, ewma: TEST_OF_MOVE },
};
const RECORD = {
  moveSkill: MOVE_SKILL,
  ...{ statistics: STATISTICS, source: SOURCE, entries: [{ replayed: false }, { replayed: true }] },
  wholeRecord: { total: 3650, wins: 1837, resolved: 3650, accuracyInterval95: INTERVAL },
  filters: { horizon: '7d', from: null, to: null, regime: null, status: null },
};

const PREDICT: Skill = predictBtcDirection;
const RECORD_SKILL: Skill = getTrackRecord;

const countWords = (text: string) => text.split(/\s+/).length;

describe('the verdict of a long record', () => {
  it.each([
    ['whole in a forecast', VERDICT, () => PREDICT.formatText(FORECAST)],
    ['with its interval and its reason in the record', BEGINNING, () => RECORD_SKILL.formatText(RECORD)],
    [
      'with its interval and its reason in a selection of the record',
      BEGINNING,
      () =>
        RECORD_SKILL.formatText({
          ...RECORD,
          filters: { ...RECORD.filters, from: '2020-01-01', to: '2026-11-27', regime: 'BULL_TREND' },
        }),
    ],
  ])('stands %s, in at most 120 words', (_, verdict, format) => {
    expect(countWords(format())).toBeLessThanOrEqual(MAX_WORDS);
    expect(format()).toContain(verdict);
  });

  it('claims no times for days that a demonstration replayed', () => {
    expect(RECORD_SKILL.formatText(RECORD)).toContain('replayed times excepted.');
    expect(RECORD_SKILL.formatText({ ...RECORD, entries: [{ replayed: false }] })).toContain('Certain: times and outcomes, on chain.');
  });

  it('is cut where it is longer than any that the record has', () => {
    expect(limitWords('one two three', 2)).toBe('one two ...');
    expect(limitWords('one two', 2)).toBe('one two');
    const skill = { ...FORECAST.skill, verdict: `${VERDICT} ${VERDICT}` };
    expect(countWords(PREDICT.formatText({ ...FORECAST, skill }))).toBeLessThanOrEqual(MAX_WORDS);
  });
});

describe('a forecast with the size of a position', () => {
  it('has it in at most 120 words, and names what exceeds the account', () => {
    const text = PREDICT.formatText({ ...FORECAST, sizing: SIZING });
    expect(countWords(text)).toBeLessThanOrEqual(MAX_WORDS);
    expect(text).toContain('1.25 % of 12345 USD at risk: stop 0.99 % below or 1.00 % above');
    expect(text).toContain('short, more than the account.');
    expect(text).toMatch(/No advice to trade\.$/);
  });
});

describe('the public part of a forecast', () => {
  const hidden = { ...FORECAST, signal: 'GATED', direction: null, confidence: null, pUp: null };
  const ways =
    'sign in with a wallet that holds at least 500,000,000 gate tokens, pay 0.001 USD for this answer by x402, or wait until 2026-12-05';

  it('has its facts in at most 120 words', () => {
    const text = PREDICT.publicPart!.formatText(hidden, ways);
    expect(countWords(text)).toBeLessThanOrEqual(MAX_WORDS);
    expect(text).toMatch(/^Size of the move over 7d: USUAL; P\(move beyond 5 %\) 47 %\.\n/);
    expect(text.search(/238000/)).toBeLessThan(text.search(/Direction, no proven skill: /));
    expect(text).toContain('Newest 90 revealed days: HOLD 88, unchanged on 97 %, SELL never issued.');
    const sized = PREDICT.publicPart!.formatText({ ...hidden, sizing: SIZING }, ways);
    expect(countWords(sized)).toBeLessThanOrEqual(MAX_WORDS);
    expect(sized).toContain('stop 0.99 % below');
    expect(sized).toMatch(/No advice to trade\.$/);
    for (const fact of ['hidden from you', 'between 238000 and 262000', '1825 of 3650 right, 95 % interval', `To see it: ${ways}.`])
      expect(text).toContain(fact);
  });

  it('has the size of the move before range and direction, of a single day beyond 3 %, and none where there is none', () => {
    const daily = { ...FORECAST, horizon: '1d', moveSize: 'WILD', pBig: 0.4 };
    for (const format of [PREDICT.formatText, (part: Record<string, unknown>) => PREDICT.publicPart!.formatText(part, ways)]) {
      expect(format(daily)).toMatch(/^Size of the move over 1d: WILD; P\(move beyond 3 %\) 40 %\.\n.*238000/);
      expect(format({ ...daily, moveSize: null, pBig: null })).toMatch(/^(?!Size).*238000/);
    }
  });

  it('has the values of a forecast that is public', () => {
    const text = PREDICT.publicPart!.formatText(FORECAST, ways);
    expect(text).toContain('it says BUY, UP, with 59.0 % confidence');
    expect(text).not.toContain('hidden');
  });
});
