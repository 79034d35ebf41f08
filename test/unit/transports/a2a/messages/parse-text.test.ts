import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SKILLS } from '../../../../../skills/index.ts';
import { parseText } from '../../../../../src/a2a/plan.ts';
import { formatInstructions } from '../../../../../src/mcp/protocol.ts';

const UID = `0x${'ab'.repeat(32)}`;
const call = (skill: string, input: Record<string, unknown> = {}) => ({ skill, input });
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
  ['Is bitcoin going to rise this week?', predict('7d')],
  ['PREDICT THE DIRECTION OF BITCOIN FOR SEVEN DAYS', predict('7d')],
  ['Will the bitcoin price go up next week?', predict('7d')],
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
    expect(parseText(text)).toEqual(expected);
  });

  test.each(['hello', '', 'thanks!', 'What can you do?', 'tell me a joke'])('names no skill: %s', (text) => {
    expect(parseText(text)).toBeNull();
  });

  test('asks which forecast to verify', () => {
    expect(parseText('verify your forecast')).toEqual({ skill: 'verify_prediction', missing: expect.stringContaining('YYYY-MM-DD') });
  });

  test('uses the previous skill when the text names none', () => {
    expect(parseText('for 3 days please', 'predict_btc_direction')).toEqual(predict('3d'));
    expect(parseText('2026-01-05', 'verify_prediction')).toEqual(verify({ date: '2026-01-05' }));
    expect(parseText('no, the track record', 'predict_btc_direction')).toEqual(record());
  });

  test('has only fields of the skill', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), fc.constantFrom(...SKILLS.map(({ id }) => id)), (text, id) => {
        const read = parseText(text, id);
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
          parseText(text);
          return performance.now() - startedMs;
        }),
      );
    // Ten times the text: in proportion it is 10, by its square 100.
    for (const part of ['will move where ', 'a week 0x', '1 of january '])
      expect(shortestMs(part.repeat(4_000)), part).toBeLessThan(50 * shortestMs(part.repeat(400)));
  });
});

test.each(
  [...formatInstructions({ payments: 'call' }).matchAll(/(get_\w+|predict_\w+|verify_\w+)(?: first)?: ([^?.]+[?.])/g)].map(
    ([, ...one]) => one,
  ),
)('understands what the instructions of MCP suggest for %s: %s', (skill, question) => {
  expect(parseText(question!)).toMatchObject({ skill });
});

test('the instructions of MCP suggest a question for every skill', () => {
  const instructions = formatInstructions({ payments: 'call' });
  for (const { id } of SKILLS) expect(instructions).toMatch(new RegExp(`${id}(?: first)?: [^?.]+[?.]`));
});
