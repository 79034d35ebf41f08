import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HOUR_MS } from '../../../src/forecast/day.ts';
import { renderFirstScreen } from '../../../src/http/routes/home.ts';
import {
  computeFan,
  FAN_SIZE,
  formatNote,
  formatRecordLine,
  formatStateLine,
  formatTodayTitle,
  judgeCall,
  judgeRecord,
  type Point,
  PUBLIC_ACCESS,
  type RangeData,
  renderFan,
} from '../../../src/page/first-screen.ts';
import { renderMarkup } from '../../../src/page/markup.ts';
import { CALL, RANGE, RECORD, screen } from './first-screen-fixture.ts';

describe('call verdict', () => {
  /** Its 95 % interval at 7 days reaches 3.5 points to each side. */
  const USUAL = { up: 0.6, days: 5_325 };

  const buy = (confidence: number) => ({ signal: 'BUY', direction: 'UP', confidence }) as const;
  const sell = (confidence: number) => ({ signal: 'SELL', direction: 'DOWN', confidence }) as const;

  it('shows neither word nor colour for a BUY that is no likelier than usual', () => {
    expect(judgeCall(buy(0.594), 7, USUAL)).toEqual({ claim: 'UP 59\u00a0%', comparison: 'usual 60\u00a0%: no edge', tone: 'plain' });
  });

  it('shows them above the interval of the usual share alone', () => {
    expect(judgeCall(buy(0.63), 7, USUAL)?.tone).toBe('plain');
    expect(judgeCall(buy(0.64), 7, USUAL)).toEqual({ claim: '▲ BUY, UP 64\u00a0%', comparison: 'usual 60\u00a0%', tone: 'good' });
    // Windows of one day overlap less, so that the usual share is known better.
    expect(judgeCall(buy(0.63), 1, USUAL)?.tone).toBe('good');
  });

  it('compares a SELL with the usual share of falls', () => {
    expect(judgeCall(sell(0.52), 7, USUAL)).toEqual({ claim: '▼ SELL, DOWN 52\u00a0%', comparison: 'usual 40\u00a0%', tone: 'bad' });
    expect(judgeCall(sell(0.52), 7, { up: 0.47, days: 700 })?.tone).toBe('plain');
  });

  it('names a HOLD, without a colour', () => {
    expect(judgeCall({ signal: 'HOLD', direction: 'UP', confidence: 0.51 }, 7, USUAL)).toMatchObject({
      claim: 'HOLD, UP 51\u00a0%',
      tone: 'plain',
    });
  });

  it('compares with nothing while the usual share is unknown, and judges no hidden call', () => {
    expect(judgeCall(buy(0.9), 7, null)).toEqual({ claim: 'UP 90\u00a0%', comparison: null, tone: 'plain' });
    expect(judgeCall({ signal: 'GATED', direction: null, confidence: null }, 7, USUAL)).toBeNull();
  });

  it('never colours a call that is below its usual share', () => {
    const share = fc.double({ min: 0.3, max: 0.7, noNaN: true });
    fc.assert(
      fc.property(
        share,
        share,
        fc.constantFrom('BUY', 'SELL', 'HOLD'),
        fc.integer({ min: 1, max: 9_999 }),
        (confidence, up, signal, days) => {
          const direction = signal === 'SELL' ? 'DOWN' : 'UP';
          const verdict = judgeCall({ signal, direction, confidence }, 7, { up, days });
          if (confidence <= (direction === 'UP' ? up : 1 - up)) expect(verdict).toMatchObject({ tone: 'plain' });
          if (verdict?.tone === 'plain') expect(verdict.claim).not.toMatch(/BUY|SELL/);
        },
      ),
    );
  });
});

describe('fan', () => {
  /** Ranges of any width, which grow with the horizon and the share. */
  const ranges = fc
    .record({
      btcPrice: fc.double({ min: 100, max: 1e6, noNaN: true }),
      widths: fc.array(fc.double({ min: 1e-4, max: 0.3, noNaN: true }), { minLength: 4, maxLength: 4 }),
      steps: fc.tuple(fc.double({ min: 0.1, max: 1, noNaN: true }), fc.double({ min: 0.1, max: 1, noNaN: true })),
    })
    .map(({ btcPrice, widths, steps }): RangeData => {
      const horizons = RANGE.horizons!.map((row, index) => {
        const outer = widths.slice(0, index + 1).reduce((sum, width) => sum + width, 0);
        const halves = [outer * steps[0] * steps[1], outer * steps[0], outer];
        const found = row.ranges.map(({ share }, place) => {
          const half = halves[place]!;
          return { share, low: btcPrice * Math.exp(-half), high: btcPrice * Math.exp(half) };
        });
        return { ...row, ranges: found };
      });
      return { ...RANGE, btcPrice, horizons };
    });

  it('nests its bands and stays within its box, wherever the price is', () => {
    const price = fc.record({ price: fc.double({ min: 1, max: 2e6, noNaN: true }), hours: fc.integer({ min: -500, max: 170 }) });
    fc.assert(
      fc.property(ranges, price, (range, { price: now, hours }) => {
        const timestamp = new Date(Date.parse(RANGE.timestamp) + hours * HOUR_MS).toISOString();
        const fan = computeFan(range, { price: now, timestamp })!;
        const points: Point[] = [...fan.bands.flatMap((band) => [...band.points]), fan.start, fan.now!];
        for (const { x, y } of points) {
          for (const value of [x, y]) expect(value).toBeGreaterThanOrEqual(0);
          for (const value of [x, y]) expect(value).toBeLessThanOrEqual(FAN_SIZE);
        }
        expect(fan.bands.map(({ share }) => share)).toEqual([0.9, 0.8, 0.5]);
        for (const [index, inner] of fan.bands.slice(1).entries()) {
          const outer = fan.bands[index]!.points;
          const half = (outer.length - 1) / 2;
          for (const [place, { x, y }] of inner.points.entries()) {
            expect(x).toBe(outer[place]!.x);
            if (place >= 1 && place <= half) expect(y).toBeGreaterThanOrEqual(outer[place]!.y - 1e-9);
            if (place > half) expect(y).toBeLessThanOrEqual(outer[place]!.y + 1e-9);
          }
        }
        for (const { y } of fan.ticks) expect(y).toBeLessThanOrEqual(FAN_SIZE);
      }),
    );
  });

  it('ends each window at its time, the longest at the right', () => {
    const fan = computeFan(RANGE, null)!;
    expect(fan.ends.map(({ x }) => Math.round(10 * x) / 10)).toEqual([15.5, 29.6, 43.7, 100]);
    expect(fan.now).toBeNull();
    expect(computeFan(RANGE, { price: 80_000, timestamp: '2026-11-30T00:00:01.000Z' })!.now).toBeNull();
  });

  it('is drawn without a number that is none, and empty without ranges', () => {
    const full = renderMarkup(renderFan(screen()));
    expect(full).not.toMatch(/NaN|undefined|Infinity/);
    expect(full).toMatch(/fan-90.*fan-80.*fan-50/s);
    expect(full).not.toContain('fan-own');
    expect(renderMarkup(renderFan(screen({ range: null })))).toBe('<svg class="fan" aria-hidden="true"></svg>');
  });

  it('has the range of the forecast itself for readers with it', () => {
    const own = { low: 60_000, median: 81_000, high: 84_000 };
    const { access, ...rest } = screen();
    expect(renderMarkup(renderFan({ ...rest, access: { ...access, own } }))).toContain('fan-own');
  });
});

describe('first screen', () => {
  const text = (html: string) => html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');

  it('has the sizes and ranges of tomorrow and of the chosen horizon, the state and the record of the call, and hides its value', () => {
    const html = renderMarkup(renderFirstScreen(screen()));
    expect(text(html)).toMatch(
      new RegExp(
        'Tomorrow: calm \\$77,978–\\$82,074 by 24 Nov \\(80 % likely\\) 14 % of 40 such days moved over 3 % ' +
          'This week: usual \\$74,761–\\$85,606 by 30 Nov \\(80 % likely\\) 45 % likely to move over 5 % ' +
          'Up or down: committed on chain at 21:38 UTC, revealed on 30 Nov 53 % of 90 calls were right',
      ),
    );
    expect(html).not.toMatch(/BUY|SELL|HOLD|class="good"/);
  });

  it.each([
    ['2026-11-22', 1, /^ Tomorrow: calm/],
    ['2026-11-23', 1, /^ Today: calm/],
    ['2026-11-24', 1, /^ 23 Nov: calm/],
    ['2026-11-29', 7, /This week: usual/],
    ['2026-11-30', 7, /7 days to 30 Nov: usual/],
    ['2026-11-22', 2, /2 days to 25 Nov: usual/],
  ])('names on %s the window of %i days', (today, horizonDays, name) => {
    expect(text(renderMarkup(renderFirstScreen(screen({ now: `${today}T12:00:00.000Z`, horizonDays }))))).toMatch(name);
  });

  it('has the size once where one day is chosen, and none without a width', () => {
    const html = renderMarkup(renderFirstScreen(screen({ horizonDays: 1 })));
    expect(text(html).match(/such days/g)).toHaveLength(1);
    const horizons = RANGE.horizons!.map((row) => ({ ...row, moveSize: null, pBig: null }));
    expect(text(renderMarkup(renderFirstScreen(screen({ range: { ...RANGE, horizons } }))))).toMatch(
      /^ Tomorrow \$77,978–\$82,074 by 24 Nov/,
    );
  });

  it('stays within what is read in half a minute', () => {
    const words = (data = screen()) =>
      text(renderMarkup(renderFirstScreen(data)))
        .trim()
        .split(' ').length;
    const call = { ...CALL, signal: 'BUY', direction: 'UP', confidence: 0.59 } as const;
    const access = {
      ...PUBLIC_ACCESS,
      tier: 'premium',
      usual: { up: 0.6, days: 5_000 },
      own: { low: 70_000, median: 80_000, high: 90_000 },
    };
    // With the prices, dates and marks of the chart.
    expect(words()).toBeLessThanOrEqual(110);
    expect(words(screen({ call, access }))).toBeLessThanOrEqual(125);
  });

  it('has the same parts in every state', () => {
    const parts = (html: string) => [...html.matchAll(/data-part="(\w+)"/g)].map(([, name]) => name);
    const full = parts(renderMarkup(renderFirstScreen(screen())));
    const none = { call: null, range: null, price: null, records: {} };
    for (const waiting of ['starting', 'none'] as const) {
      const html = renderMarkup(renderFirstScreen(screen({ ...none, waiting })));
      expect(parts(html)).toEqual(full);
      expect(html).not.toMatch(/NaN|undefined|null/);
    }
  });

  it.each([
    ['2026-11-22T14:30:00.000Z', /^ The first forecast comes at 21:35 UTC in 7 h 5 min 22 Nov, 21:35 .* 22 Nov, 21:38 .* 23 Nov, 00:00 .*/],
    ['2026-11-22T21:36:00.000Z', /^ The first forecast is due .* Status says what it waits for\. /],
  ])('says at %s what comes on the first day, and where to look meanwhile', (now, start) => {
    const html = renderMarkup(renderFirstScreen(screen({ call: null, range: null, records: {}, waiting: 'none', now })));
    expect(text(html)).toMatch(start);
    expect(html).not.toMatch(/data-do=|NaN|Invalid/);
    expect(text(html)).toMatch(/nothing is claimed\..* had no skill.* Status Self-tests Market data How to check it Calendar/);
  });

  it('shows a bought call in place of the offer, and until when it is the newest', () => {
    const call = { ...CALL, signal: 'BUY', direction: 'UP', confidence: 0.59 } as const;
    const access = { ...PUBLIC_ACCESS, usual: { up: 0.6, days: 5_000 }, boughtUntil: '2026-11-23T21:35:00.000Z' };
    const shown = text(renderMarkup(renderFirstScreen(screen({ call, access }))));
    expect(shown).toMatch(/UP 59 % – usual 60 %: no edge Bought; the newest until 2026-11-23 21:35 UTC\. Up or down: .*, public on 30 Nov/);
    expect(shown).toMatch(/Unlock Receipt/);
    expect(shown).not.toMatch(/Buy /);
  });

  describe('formatTodayTitle', () => {
    const NOW = Date.parse('2026-03-10T12:00:00Z');

    it.each([
      ['2026-03-10', "Today's forecast"],
      ['2026-03-09', "Today's forecast"],
      ['2026-03-08', 'Forecast of 8 Mar 2026'],
    ])('titles the forecast of %s: %s', (date, title) => {
      expect(formatTodayTitle({ predictionId: `${date}:7d` }, NOW)).toBe(title);
    });

    it('titles a missing forecast as that of today', () => {
      expect(formatTodayTitle(null, NOW)).toBe("Today's forecast");
    });
  });
});

describe('record line', () => {
  const NONE = { ...RECORD, resolved: 0, wins: 0, accuracy: 0, accuracyInterval95: null, alwaysUpAccuracy: null, difference: null };

  it('shows the accuracy with its interval beside always UP', () => {
    expect(formatRecordLine(RECORD)).toBe(
      '53\u00a0% of 90 calls were right (95\u00a0% interval 41 to 65\u00a0%); always saying UP, 52\u00a0%: no skill shown',
    );
  });

  it('says that no skill is shown only where the interval of the difference contains zero', () => {
    const of = (low: number | null, high: number | null) => judgeRecord({ ...RECORD, difference: { value: 0.1, low, high } });
    expect([of(-0.1, 0.1), of(0, 0.1), of(0.01, 0.1), of(-0.2, -0.01)]).toEqual(['no skill shown', 'no skill shown', 'better', 'worse']);
  });

  it('falls back on the interval of the accuracy where the difference has none', () => {
    const difference = { value: 0, low: null, high: null };
    expect(judgeRecord({ ...RECORD, difference })).toBe('no skill shown');
    expect(judgeRecord({ ...RECORD, difference, alwaysUpAccuracy: 0.7 })).toBe('too few to say');
    expect(judgeRecord({ ...RECORD, difference: null, accuracyInterval95: null })).toBe('too few to say');
  });

  it('shows no share before the first call is resolved, and none of few windows', () => {
    expect(formatRecordLine({ ...NONE, holds: 0 })).toBe('No outcome yet');
    expect(formatRecordLine({ ...NONE, holds: 3 })).toBe('No call yet: all 3 outcomes were HOLD');
    expect(formatRecordLine({ ...RECORD, resolved: 6, wins: 5, dedupedTotal: 2 })).toBe('5 of 6 calls were right: too few to say');
  });
});

describe('state line', () => {
  const BASIC = { ...PUBLIC_ACCESS, tier: 'basic', needed: '10 tokens' };

  it('says when the call was committed and when it is revealed', () => {
    expect(formatStateLine(screen())).toBe('Up or down: committed on chain at 21:38 UTC, revealed on 30 Nov');
    expect(formatStateLine(screen({ access: BASIC }))).toBe('Up or down: committed on chain at 21:38 UTC, public on 30 Nov');
  });

  it('takes no time from the ranges of another day', () => {
    expect(formatStateLine(screen({ call: { ...CALL, predictionId: '2026-11-23:7d' } }))).toBe(
      'Up or down: committed on chain, revealed on 30 Nov',
    );
  });

  it.each([
    [{ attestationUid: null }, 'Up or down: not yet on chain, revealed on 30 Nov'],
    [{ status: 'VOID' }, 'Void: committed too late, never counts'],
    [{ status: 'WIN' }, 'Revealed 30 Nov: Right'],
    [{ status: 'HOLD' }, 'Revealed 30 Nov: HOLD, not scored'],
  ] as const)('of a call with %j: %s', (changes, line) => {
    expect(formatStateLine(screen({ call: { ...CALL, ...changes }, now: '2026-11-30T00:00:00.000Z' }))).toBe(line);
  });

  it('does not say that a HOLD is revealed before its window ends', () => {
    const hold = screen({ call: { ...CALL, signal: 'HOLD', status: 'HOLD' }, access: BASIC, now: '2026-11-29T00:00:00.000Z' });
    expect(formatStateLine(hold)).toBe('Up or down: committed on chain at 21:38 UTC, public on 30 Nov');
  });

  it('gives the reason why there is no call', () => {
    const lines = (['starting', 'none', 'loading'] as const).map((waiting) => formatStateLine(screen({ call: null, waiting })));
    expect(lines).toEqual(['The service is starting', 'No forecast yet', 'Loading…']);
  });

  it('notes a missed day, lost access and a problem', () => {
    expect(formatNote(screen())).toBe('');
    expect(formatNote(screen({ missedDate: '2026-11-23' }))).toBe('No forecast on 23 Nov: the day is void.');
    expect(formatNote(screen({ access: BASIC }))).toBe('The wallet no longer holds 10 tokens.');
    expect(formatNote(screen({ call: null, access: { ...BASIC, problem: 'Too many requests.' } }))).toBe('Too many requests.');
  });

  it('notes on a SELL alone what is known of such calls', () => {
    const access = { ...BASIC, sellNote: 'None was ever right.' };
    const of = (signal: 'BUY' | 'SELL') => formatNote(screen({ call: { ...CALL, signal, direction: 'DOWN', confidence: 0.6 }, access }));
    expect([of('SELL'), of('BUY')]).toEqual(['None was ever right.', '']);
  });
});
