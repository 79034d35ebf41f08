import { describe, expect, it } from 'vitest';
import { SKILLS } from '../../../skills/index.ts';
import { renderMarkup } from '../../../src/page/markup.ts';
import { type AppView, renderResult, VIEW_TOOLS } from '../../../src/page/mcp-app.ts';

const UID = `0x${'ab'.repeat(32)}`;
const NOW = '2026-11-28T12:00:00.000Z';

const FORECAST = {
  signal: 'SELL',
  direction: 'DOWN',
  confidence: 0.612,
  pUp: 0.388,
  horizon: '7d',
  date: '2026-11-27',
  predictionId: '2026-11-27:7d',
  status: 'PENDING',
  btcPrice: 96_653.8,
  timestamp: '2026-11-27T21:35:00.000Z',
  windowOpensAt: '2026-11-28T00:00:00.000Z',
  resolvesAt: '2026-12-05T00:00:00.000Z',
  attestationUid: UID,
  attestedAt: '2026-11-27T21:38:00.000Z',
  moveSize: 'WILD',
  pBig: 0.412,
  moveVerdict: 'P(big move) at 7d on 53 resolved days: not proven on this record',
  range: { share: 0.8, low: 91_902, high: 101_651 },
  skill: { verdict: 'no skill is proven', scored: 13, accuracy: 0.5, interval95: { low: 0.3, high: 0.7 }, alwaysUpAccuracy: 0.6 },
  replayed: true,
  source: 'simulated (seed 2)',
};

const RECORD = {
  asOf: NOW,
  filters: { horizon: '3d', from: null, to: '2026-11-20', regime: 'CHOP', status: null },
  statistics: {
    wins: 6,
    resolved: 11,
    holds: 2,
    voids: 1,
    pending: 3,
    accuracy: 6 / 11,
    accuracyInterval95: { low: 0.28, high: 0.79 },
    alwaysUpAccuracy: 0.55,
    verdict: 'not distinguishable from always-UP',
    brierDifference: { n: 4, mean: -0.015, low: -0.056, high: 0.026 },
    probabilities: {
      reliability: [{ from: 0.5, to: 0.55, n: 7, meanProbability: 0.53, observedShare: 0.43, interval95: { low: 0.16, high: 0.75 } }],
    },
    distribution: { coverage: [{ nominal: 0.8, observed: 0.82, interval95: { low: 0.52, high: 0.95 } }] },
  },
  entries: [
    { date: '2026-11-20', predictionId: '2026-11-20:3d', status: 'PENDING' },
    { date: '2026-11-19', predictionId: '2026-11-19:3d', status: 'WIN' },
  ],
  moveVerdict: 'P(big move) at 3d on 11 resolved days: not proven on this record',
  source: 'live',
};

const VERIFICATION = {
  verified: true,
  verdict: '2 of 3 checks agree',
  agreeing: 2,
  total: 3,
  checks: [
    { ok: true, what: 'The chain has an attestation of this uid.', differences: [] },
    { ok: true, what: 'It was made in time.', differences: [] },
  ],
  unchecked: [{ what: 'commitment', reason: 'its outcome is due at 2026-12-05T00:00:00.000Z' }],
  attestations: [{ type: 'prediction', uid: UID, blockTime: '2026-11-27T21:38:00.000Z' }],
  prediction: { predictionId: '2026-11-27:7d', date: '2026-11-27', horizon: '7d' },
};

const render = (view: AppView, structuredContent: unknown, result: object = {}) =>
  renderMarkup(renderResult(view, { content: [], structuredContent, ...result }, NOW));
const textOf = (html: string) => html.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');
/** Inputs of the buttons for a tool. */
const inputsOf = (html: string, view: AppView) =>
  [...html.matchAll(/data-tool="([^"]+)" data-input="([^"]+)"/g)].flatMap(([, tool, input]) =>
    tool === VIEW_TOOLS[view] ? [JSON.parse(input.replaceAll('&quot;', '"'))] : [],
  );

it('each view belongs to a skill', () => {
  expect(SKILLS.map(({ id }) => id)).toEqual(expect.arrayContaining(Object.values(VIEW_TOOLS)));
});

describe('forecast', () => {
  it('shows direction, probability, range, times, record and caveats', () => {
    const html = render('forecast', FORECAST);
    const text = textOf(html);
    for (const part of ['Bitcoin, 7 days', 'Committed', 'SELL DOWN, 61.2 % confident', '38.8 %', '$91,902 to $101,651', '$96,654'])
      expect(text).toContain(part);
    for (const part of ['28 Nov 2026, 00:00', '5 Dec 2026', 'No skill is proven.', '50 %, 95 % interval 30 to 70 %', 'Replayed'])
      expect(text).toContain(part);
    expect(inputsOf(html, 'verification')).toEqual([{ predictionId: '2026-11-27:7d' }]);
    expect(inputsOf(html, 'forecast')).toEqual([{ horizon: '1d' }, { horizon: '2d' }, { horizon: '3d' }]);
  });

  it.each([
    ['1d', '3 %'],
    ['7d', '5 %'],
  ])('says first how far the price moves over %s, and what its record shows', (horizon, limit) => {
    const text = textOf(render('forecast', { ...FORECAST, horizon }));
    expect(text).toMatch(
      new RegExp(
        `WILD move: 41 % for one beyond ${limit} P\\(big move\\) .* not proven on this record\\. .* Direction, no proven skill SELL`,
      ),
    );
    expect(textOf(render('forecast', { ...FORECAST, horizon, moveSize: null, pBig: null }))).not.toMatch(/ move: /);
  });

  it('places the interval of the range by its prices', () => {
    const html = render('forecast', { ...FORECAST, btcPrice: 100, range: { share: 0.8, low: 80, high: 130 } });
    expect(html).toContain('class="range" x="25" y="3" width="250"');
    expect(html).toContain('class="reference" x1="125"');
  });

  it('shows no direction, confidence or P(up) that the answer does not have', () => {
    const gated = {
      ...FORECAST,
      signal: 'GATED',
      direction: null,
      confidence: null,
      pUp: null,
      ways: [{ way: 'wait', how: 'Wait for it.' }],
    };
    const text = textOf(render('forecast', gated));
    expect(text).toContain('The direction is hidden until its outcome.');
    expect(text).toContain('Wait for it.');
    expect(text).toContain('$91,902 to $101,651');
    expect(text).not.toMatch(/BUY|SELL|\bUP\b(?!, 60)|DOWN|P\(up\)|confident/);
  });

  it.each([
    ['a commitment that is missing', { attestationUid: null }, 'Not on chain yet'],
    ['a window that is over', { resolvesAt: '2026-11-28T00:00:00.000Z' }, 'Awaiting its outcome'],
    ['an outcome', { status: 'LOSS' }, 'Wrong'],
    ['a void day', { status: 'VOID' }, 'Void'],
    ['an answer without attestation', { attestationUid: undefined }, 'Pending'],
  ])('names the state of %s', (_, change, label) => {
    expect(render('forecast', { ...FORECAST, ...change })).toMatch(new RegExp(`class="state[^>]*>${label}<`));
  });
});

describe('record', () => {
  it('shows hit rate, verdict, scores, reliability, coverage and the newest forecasts', () => {
    const html = render('record', RECORD);
    const text = textOf(html);
    for (const part of ['over 3 days', 'to 2026-11-20, in the regime CHOP', '6 of 11 calls right', '55 %, 95 % interval 28 to 79 %'])
      expect(text).toContain(part);
    for (const part of ['Not distinguishable from always-UP.', '2 held, 1 void, 3 pending', '50–55 %', '43 % of 7 (16 to 75 %)', '82 %'])
      expect(text).toContain(part);
    expect(text).toMatch(/whole record P\(big move\) at 3d .* not proven on this record\. .*calls right/);
    expect(text).toContain('20 Nov Pending');
    expect(text).toContain('19 Nov Right');
    expect(inputsOf(html, 'record')).toEqual([{ horizon: '1d' }, { horizon: '2d' }, { horizon: '7d' }]);
  });

  it.each([
    [{ mean: -0.015, low: -0.056, high: 0.026 }, '−0.015 (−0.056 to +0.026): not proven'],
    [{ mean: -0.015, low: -0.03, high: -0.01 }, '−0.015 (−0.030 to −0.010): better'],
    [{ mean: 0.02, low: 0.01, high: 0.03 }, '+0.020 (+0.010 to +0.030): worse'],
    [{ mean: -0.015, low: null, high: null }, '−0.015: not proven'],
  ])('judges the Brier difference %o by its interval', (brierDifference, text) => {
    expect(textOf(render('record', { ...RECORD, statistics: { ...RECORD.statistics, brierDifference } }))).toContain(text);
  });

  it('leaves out what a short answer lacks, and offers the whole one for the same selection', () => {
    const { probabilities: _, distribution: __, ...statistics } = RECORD.statistics;
    const html = render('record', { ...RECORD, statistics });
    expect(html).not.toContain('Outcomes within the ranges');
    expect(inputsOf(html, 'record')[0]).toEqual({ horizon: '3d', to: '2026-11-20', regime: 'CHOP', form: 'full' });
  });

  it('draws nothing before the first outcome', () => {
    const none = { wins: 0, resolved: 0, accuracy: null, accuracyInterval95: null, brierDifference: null, verdict: 'nothing resolved yet' };
    const html = render('record', { filters: { horizon: '1d' }, statistics: { ...none, probabilities: null, distribution: null } });
    expect(textOf(html)).toContain('Nothing resolved yet.');
    expect(html).not.toContain('<svg');
    expect(inputsOf(html, 'forecast')).toEqual([{ horizon: '1d' }]);
  });
});

describe('verification', () => {
  it('shows the verdict, attestations, checks and what was not checked', () => {
    const text = textOf(render('verification', VERIFICATION));
    for (const part of ['2026-11-27, 7 days', '✓ Verified', '2 of 3 checks agree.', UID, '27 Nov 2026, 21:38', 'It was made in time.'])
      expect(text).toContain(part);
    expect(text).toContain('Commitment: its outcome is due at 2026-12-05 00:00 UTC.');
  });

  it.each([
    ['a failed check', { verified: false, agreeing: 0, checks: [{ ok: false, what: 'It was made in time.' }] }, '✗ Not verified'],
    ['nothing to check yet', { verified: false, agreeing: 0, total: 1, checks: [] }, 'Not verified yet'],
  ])('does not say verified for %s', (_, change, label) => {
    expect(textOf(render('verification', { ...VERIFICATION, ...change }))).toContain(label);
  });

  it('lists failed checks first, and offers all checks where the answer lists some', () => {
    const failed = { ok: false, what: 'It was made in time.' };
    const html = render('verification', { ...VERIFICATION, verified: false, agreeing: 1, checks: [failed] });
    expect(html).toMatch(/<h2>Failed<\/h2>.*✗ .*It was made in time\./);
    expect(inputsOf(html, 'verification')).toEqual([{ predictionId: '2026-11-27:7d', form: 'full' }]);
  });
});

describe('any view', () => {
  it.each(['forecast', 'record', 'verification'] as const)('renders an answer without members, and members of other types: %s', (view) => {
    const odd = Object.fromEntries(Object.keys({ ...FORECAST, ...RECORD, ...VERIFICATION }).map((name) => [name, [1, { low: 'x' }, null]]));
    for (const answer of [{}, odd, { statistics: [], skill: 'x', prediction: 1, filters: null }])
      expect(render(view, answer)).toMatch(/<h1 tabindex="-1">/);
  });

  it.each(['forecast', 'record', 'verification'] as const)('escapes text of the answer: %s', (view) => {
    const evil = '<img src=x onerror=alert(1)>"\'';
    const poison = (value: unknown): unknown => {
      if (typeof value === 'string') return evil;
      if (Array.isArray(value)) return value.map(poison);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, poison(one)]));
    };
    for (const answer of [FORECAST, RECORD, VERIFICATION]) expect(render(view, poison(answer))).not.toContain('<img');
  });

  it('shows the error of a rejected call, not the payment data in its first text', () => {
    const error = { code: 'UNAUTHENTICATED', message: 'This needs an access token', suggestedAction: 'Get one.' };
    const content = [
      { type: 'text', text: '{"x402Version":2}' },
      { type: 'text', text: 'UNAUTHENTICATED: This needs an access token' },
    ];
    const rejected = { isError: true, content, _meta: { 'bitcoin-signal-oracle/error': error } };
    const text = textOf(render('forecast', { x402Version: 2, signal: 'BUY' }, rejected));
    expect(text).toContain('This needs an access token. Get one.');
    expect(text).not.toMatch(/x402|BUY/);
    expect(textOf(render('forecast', undefined, { isError: true, content }))).toContain('UNAUTHENTICATED');
  });
});
