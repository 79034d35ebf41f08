import { z } from 'zod';
import { findOffering } from '../src/commerce/price-list.ts';
import { parseHorizonDays } from '../src/forecast/horizon-input.ts';
import { findPriceRange } from '../src/record/distributions/price-range.ts';
import { FREE_HOLD_NOTE, getOracleSignal, toFreeHold } from '../src/record/oracle/oracle-signal.ts';
import { sanitizeText } from '../src/record/sanitize-text.ts';
import { PRICE_RANGE } from '../src/record/schemas/expected-range.ts';
import { FREE_HOLD_SIGNAL, ORACLE_SIGNAL } from '../src/record/schemas/oracle.ts';
import { forecastHorizon } from './inputs.ts';
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
  tier: 'basic',
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
  formatText({ signal, direction, confidence, pUp, horizon, date, btcPrice, regime, status, skill, stale, source, ...rest }) {
    const { windowOpensAt, resolvesAt, attestationUid } = rest;
    const proof = attestationUid === null ? 'It is not on chain yet.' : `Committed on chain as ${attestationUid}; salt and values open it.`;
    return [
      `${signal}: ${direction} over ${horizon} with ${formatPercent(confidence)} confidence, P(up) ${formatPercent(pUp)}; forecast of ${date} at ${btcPrice} USD in the regime ${regime}.`,
      `Its window runs from ${windowOpensAt} to ${resolvesAt}; its status is ${status}.${stale ? ' A newer forecast is overdue.' : ''}`,
      proof,
      `The record of this horizon: ${skill.verdict}.`,
      `Market data: ${sanitizeText(source, 80)}. No advice to trade.`,
    ].join('\n');
  },
});

const formatPercent = (p: number) => `${(p * 100).toFixed(1)} %`;
