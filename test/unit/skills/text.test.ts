import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SKILLS } from '../../../skills/index.ts';
import { findHorizon, parseText, type TextRules } from '../../../skills/text.ts';
import { formatInstructions } from '../../../src/mcp/server.ts';

const parse = (text: string, previous?: string) => parseText(text, SKILLS, previous);

describe('parse text', () => {
  const UID = `0x${'ab'.repeat(32)}`;
  const call = (skill: string, input: Record<string, unknown> = {}) => ({ skill, input });
  const size = (horizon: string) => call('predict_btc_direction', { horizon, detail: 'public' });
  const predict = (horizon?: string) => call('predict_btc_direction', horizon === undefined ? {} : { horizon });
  const verify = (input: Record<string, unknown>) => call('verify_prediction', input);
  const record = (input: Record<string, unknown> = {}) => call('get_track_record', input);
  const market = (...include: string[]) => call('get_market_context', include.length === 0 ? {} : { include });

  const PHRASINGS: [string, ReturnType<typeof call>][] = [
    ['predict_btc_direction', predict()],
    ['Forecast', predict()],
    ['Where is bitcoin going over the next week?', predict('7d')],
    ['Give me the 2-day BTC forecast with its proof.', predict('2d')],
    ['what is your signal for 3 days?', predict('3d')],
    ['Will BTC go up or down in the next two days?', predict('2d')],
    ['bullish or bearish?', predict()],
    ['Should I buy or sell', predict()],
    ['BTC outlook 3d', predict('3d')],
    [
      'position size for 1 day at 1% risk of $10,000',
      call('predict_btc_direction', { horizon: '1d', detail: 'public', riskPercent: 1, accountUsd: 10_000 }),
    ],
    [
      '2d forecast, risk 0.5 percent of 2500.50 USD',
      call('predict_btc_direction', { horizon: '2d', riskPercent: 0.5, accountUsd: 2500.5 }),
    ],
    ['where should I put my stop?', predict()],
    ['forecast with 1 % risk', predict()],
    ['Is bitcoin going to rise this week?', predict('7d')],
    ['PREDICT THE DIRECTION OF BITCOIN FOR SEVEN DAYS', predict('7d')],
    ['Will the bitcoin price go up next week?', predict('7d')],
    ['How far will bitcoin move tomorrow?', size('1d')],
    ['how volatile is the next week?', size('7d')],
    ['Is a big move coming?', size('1d')],
    ['How much will BTC swing over the next 3 days?', size('3d')],
    ['expected range of bitcoin in two days', size('2d')],
    ['volatility tomorrow', size('1d')],
    ['How big a move is expected tomorrow?', size('1d')],
    ['Will bitcoin go up tomorrow?', predict('1d')],
    ['How far will bitcoin move tomorrow, and in which direction?', predict('1d')],
    ['forecast for five hundred years', predict()],
    ['forecast for 5 days', predict('5d')],
    [`verify ${UID}`, verify({ uid: UID })],
    [`is this genuine: ${UID.toUpperCase().replace('0X', '0x')}?`, verify({ uid: UID })],
    [UID, verify({ uid: UID })],
    ['Check the forecast of 2026-01-05', verify({ date: '2026-01-05' })],
    ['verify the prediction of 2026-01-05 for 2 days', verify({ date: '2026-01-05', horizon: '2d' })],
    ['2026-01-05:3d', verify({ predictionId: '2026-01-05:3d' })],
    ['please validate 2026-01-05:7d on chain', verify({ predictionId: '2026-01-05:7d' })],
    ['Prove that you committed to the forecast of 2026-01-05', verify({ date: '2026-01-05' })],
    ['Was the forecast of 5 January 2026 really made before its outcome?', verify({ date: '2026-01-05' })],
    ['verify January 5th, 2026', verify({ date: '2026-01-05' })],
    ['How did you do in the first quarter?', record()],
    ['How accurate are your predictions?', record()],
    ['show me the track record', record()],
    ['track record of the 2 day horizon', record({ horizon: '2d' })],
    ['What is your hit rate since 2026-01-01?', record({ from: '2026-01-01' })],
    ['scorecard from 2026-01-01 to 2026-02-01', record({ from: '2026-01-01', to: '2026-02-01' })],
    ['statistics until 2026-02-01', record({ to: '2026-02-01' })],
    ['How many of the forecasts were right so far?', record()],
    ['how good are you', record()],
    ['is it any good?', record()],
    ['Are you any good at this?', record()],
    ['Is this oracle worth listening to?', record()],
    ['Can I trust you?', record()],
    ['Is the forecast any good?', record()],
    ['Is the 2-day forecast reliable?', record({ horizon: '2d' })],
    ['how have your forecasts turned out?', record()],
    ['what does it say today?', predict()],
    ['What do you say about bitcoin?', predict()],
    ['what do you think', predict()],
    ['the market, without a forecast', market()],
    ['market context but no prediction please', market()],
    ['Was the forecast of 2026-01-05 made in time and left unchanged?', verify({ date: '2026-01-05' })],
    ['was the call of 2026-01-05 altered afterwards?', verify({ date: '2026-01-05' })],
    ['past results over 3 days', record({ horizon: '3d' })],
    ['Show me the last 10 calls over 2 days.', record({ horizon: '2d', pageSize: 10 })],
    ['the latest 5 2-day calls', record({ horizon: '2d', pageSize: 5 })],
    ['results of Monday and Tuesday', record()],
    ['your results of the last 3 days', record({ horizon: '3d' })],
    ['How did you do between 2026-03-31 and 2026-01-01?', record({ from: '2026-01-01', to: '2026-03-31' })],
    ['statistics to 2026-02-01', record({ to: '2026-02-01' })],
    ['Which calls in the regime CHOP were wrong?', record({ regime: 'CHOP', status: 'LOSS' })],
    ['show the calls in sideways markets', record({ regime: 'CHOP' })],
    ['track record in a bear-trend', record({ regime: 'BEAR_TREND' })],
    ['track record of the regime default', record({ regime: 'DEFAULT' })],
    ['track record of the default horizon', record()],
    ['list the calls that you lost', record({ status: 'LOSS' })],
    ['Which calls were right?', record({ status: 'WIN' })],
    ['show only the calls you won', record({ status: 'WIN' })],
    ['Which of your calls were right or wrong?', record()],
    ['show me the track record right now', record()],
    ['How many of your calls were wrong?', record()],
    ['calls with the status VOID', record({ status: 'VOID' })],
    ['What does the bitcoin market look like right now?', market()],
    ['What is the BTC price and the Fear & Greed index?', market('price', 'sentiment')],
    ['how do the dollar and stocks move with bitcoin these days', market('macro')],
    ['ETF inflows', market('flows')],
    ['bitcoin price', market('price')],
    ['which regime are we in?', market('regime')],
    ['How much is one BTC', market('price')],
  ];

  describe('a call in plain text', () => {
    test.each(PHRASINGS)('%s', (text, expected) => {
      expect(parse(text)).toEqual(expected);
    });

    test.each(['hello', '', 'thanks!', 'What can you do?', 'tell me a joke'])('names no skill: %s', (text) => {
      expect(parse(text)).toBeNull();
    });

    test('asks which forecast to verify', () => {
      expect(parse('verify your forecast')).toEqual({ skill: 'verify_prediction', missing: expect.stringContaining('YYYY-MM-DD') });
    });

    test('uses the previous skill when the text names none', () => {
      expect(parse('for 3 days please', 'predict_btc_direction')).toEqual(predict('3d'));
      expect(parse('2026-01-05', 'verify_prediction')).toEqual(verify({ date: '2026-01-05' }));
      expect(parse('no, the track record', 'predict_btc_direction')).toEqual(record());
    });

    test('has only fields of the skill', () => {
      fc.assert(
        fc.property(fc.string({ maxLength: 200 }), fc.constantFrom(...SKILLS.map(({ id }) => id)), (text, id) => {
          const read = parse(text, id);
          const known = Object.keys(SKILLS.find((skill) => skill.id === read?.skill)!.input.shape);
          expect(known).toEqual(expect.arrayContaining(Object.keys(read !== null && 'input' in read ? read.input : {})));
        }),
      );
    });

    test('takes time in proportion to the text, however many patterns it begins', () => {
      const shortestMs = (text: string) =>
        Math.min(
          ...Array.from({ length: 20 }, () => {
            const startedMs = performance.now();
            parse(text);
            return performance.now() - startedMs;
          }),
        );
      // Ten times the text: in proportion it is 10, by its square 100.
      for (const part of ['will move where ', 'a week 0x', '1 of january '])
        expect(shortestMs(part.repeat(4_000)), part).toBeLessThan(50 * shortestMs(part.repeat(400)));
    });
  });

  test.each(SKILLS)('understands what the instructions of MCP suggest for $id: $question', ({ id, question }) => {
    expect(question).toMatch(/^[^?.]+[?.]$/);
    expect(formatInstructions({ payments: 'call' }).replace(`${id} first:`, `${id}:`)).toContain(`${id}: ${question}`);
    expect(parse(question)).toMatchObject({ skill: id });
  });
});

describe('a further skill', () => {
  const range = {
    id: 'get_expected_range',
    fromText: { words: [[7, /\brange\b/]], read: (text: string) => ({ horizon: findHorizon(text) }) } satisfies TextRules<object>,
  };

  test('is recognized by its own words and by its id', () => {
    const input = { horizon: '3d' };
    for (const text of ['What range do you expect for the next 3 days?', 'get_expected_range for three days'])
      expect(parseText(text, [...SKILLS, range])).toEqual({ skill: range.id, input });
    expect(parseText('for 3 days', [...SKILLS, range], range.id)).toEqual({ skill: range.id, input });
  });

  test('with as many points as another wins by its rank, or by its place in the list', () => {
    const wins = (rank?: number, other = 1) =>
      parseText('range', [
        { ...range, id: 'other', fromText: { ...range.fromText, rank: other } },
        { ...range, fromText: { ...range.fromText, ...(rank === undefined ? {} : { rank }) } },
      ])?.skill;
    expect([wins(2), wins(1), wins(), wins(undefined, -1)]).toEqual([range.id, 'other', 'other', range.id]);
  });

  test('is not recognized by what a text does not want', () => {
    const picky = { ...range, fromText: { ...range.fromText, unwanted: /\bno range\b/g } };
    expect(['a range', 'no range', 'no range, but a range'].map((text) => parseText(text, [picky])?.skill)).toEqual([
      range.id,
      undefined,
      range.id,
    ]);
  });
});
