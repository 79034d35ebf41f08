import { z } from 'zod';
import { findOffering } from '../src/commerce/price-list.ts';
import { parseHorizonDays } from '../src/forecast/horizon-input.ts';
import { formatPercent } from '../src/forecast/math/format-percent.ts';
import { findPriceRange } from '../src/record/distributions/price-range.ts';
import { FREE_HOLD_NOTE, getOracleSignal, toFreeHold } from '../src/record/oracle/oracle-signal.ts';
import { PRICE_RANGE } from '../src/record/schemas/expected-range.ts';
import { FREE_HOLD_SIGNAL, ORACLE_SIGNAL } from '../src/record/schemas/oracle.ts';
import { forecastHorizon } from './inputs.ts';
import { formatSource } from './outlines/format-figures.ts';
import { limitWords } from './outlines/limit-words.ts';
import { PREDICTION_OUTLINE } from './outlines/prediction.ts';
import { PREDICTION_PUBLIC_PART } from './outlines/prediction-public-part.ts';
import { defineSkill } from './skill.ts';

export const predictBtcDirection = defineSkill({
  id: 'predict_btc_direction',
  title: 'Forecast of BTC/USD',
  summary: 'The newest forecast of BTC/USD for 2, 3 or 7 days with its probability and its on-chain proof',
  description:
    'Signal (BUY, SELL, HOLD), direction, calibrated confidence and P(up) of the newest daily forecast of BTC/USD, with the salt of its on-chain commitment. HOLD means that P(up) is too close to one half for the regime. The direction shows no skill that can be distinguished from luck: `skill.verdict` summarizes the whole record with its interval, and `source` shows whether the market is simulated. No advice to trade.',
  tags: ['bitcoin', 'forecast', 'probability', 'on-chain commitment'],
  examples: [
    { say: 'Where is bitcoin going over the next week?', input: { horizon: '7d' } },
    { say: 'Give me the 2-day BTC forecast with its proof.', input: { horizon: '2d' } },
  ],
  input: z.strictObject({ horizon: forecastHorizon }),
  output: ORACLE_SIGNAL.omit({ success: true, access: true }).extend({ range: PRICE_RANGE }),
  outline: PREDICTION_OUTLINE,
  tier: 'basic',
  publicPart: PREDICTION_PUBLIC_PART,
  offering: findOffering('x402', 'x402_signal'),
  free: { schema: FREE_HOLD_SIGNAL, from: toFreeHold, text: FREE_HOLD_NOTE },
  freshness: { description: 'one forecast a day, at about 21:35 UTC', seconds: 86_400 },
  cost: 'normal',
  errors: ['STEP_WAITING'],
  async run({ horizon }, { deps, caller }) {
    const horizonDays = parseHorizonDays(horizon);
    const signal = await getOracleSignal(deps, horizonDays, caller);
    return { ...signal, range: await findPriceRange(deps, { horizonDays, date: signal.date }) };
  },
  formatText({ signal, direction, confidence, pUp, horizon, date, btcPrice, regime, status, skill, stale, source, range, ...rest }) {
    const { windowOpensAt, resolvesAt, attestationUid, replayed } = rest;
    const proof = attestationUid === null ? 'It is not on chain yet.' : `On chain: ${attestationUid}.`;
    return [
      `${signal} over ${horizon}: P(up) ${formatPercent(pUp)}, direction ${direction}, confidence ${formatPercent(confidence)}; forecast of ${date} at ${btcPrice} USD, regime ${regime}.`,
      `Window ${windowOpensAt.slice(0, 10)} to ${resolvesAt.slice(0, 10)}; ${status}${replayed ? ', replayed' : ''}.${stale ? ' Its successor is overdue.' : ''}`,
      ...(range ? [`${Math.round(100 * range.share)} % range at end: ${Math.round(range.low)} to ${Math.round(range.high)}.`] : []),
      `The record of this horizon: ${limitWords(skill.verdict, MAX_VERDICT_WORDS)}.`,
      proof,
      `A probability, not proven skill. ${formatSource(source)} No advice to trade.`,
    ].join('\n');
  },
});

const MAX_VERDICT_WORDS = 57;
