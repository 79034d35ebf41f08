import { z } from 'zod';
import { findOffering } from '../src/commerce/offerings.ts';
import { oracleSignal } from '../src/record/oracle/signal.ts';
import { ORACLE_SIGNAL } from '../src/record/schemas/oracle.ts';
import { daysOf, forecastHorizon } from './horizon.ts';
import { defineSkill } from './skill.ts';

/** The newest forecast with what it takes to check it: for those who may see it. */
export const predictBtcDirection = defineSkill({
  id: 'predict_btc_direction',
  title: 'Forecast of BTC/USD',
  summary: 'The newest forecast of BTC/USD for 2, 3 or 7 days with its probability, and what it takes to check it on chain',
  description:
    'Signal (BUY, SELL, HOLD), direction, calibrated confidence and P(up) of the newest daily forecast of BTC/USD, with the salt that opens its on-chain commitment. The direction has little skill: `skill.verdict` says what the whole record amounts to, with its interval. No advice to trade.',
  tags: ['bitcoin', 'forecast', 'probability', 'on-chain commitment'],
  examples: [
    { say: 'Where is bitcoin going over the next week?', input: { horizon: '7d' } },
    { say: 'Give me the 2-day BTC forecast with its proof.', input: { horizon: '2d' } },
  ],
  input: z.strictObject({ horizon: forecastHorizon }),
  output: ORACLE_SIGNAL.omit({ success: true, access: true }),
  tier: 'basic',
  offering: findOffering('x402', 'x402_signal'),
  freshness: { description: 'one forecast a day, at about 21:35 UTC', seconds: 86_400 },
  cost: 'normal',
  errors: ['STEP_WAITING'],
  run: ({ horizon }, { parts, caller }) => oracleSignal(parts, daysOf(horizon), caller),
  tell({ signal, direction, confidence, horizon, date, btcPrice, regime, status, windowOpensAt, resolvesAt, attestationUid, skill }) {
    const percent = (confidence * 100).toFixed(1);
    const proof = attestationUid === null ? 'It is not on chain yet.' : `Committed on chain as ${attestationUid}.`;
    return [
      `${signal}: ${direction} over ${horizon} with ${percent} % confidence, forecast of ${date} at ${btcPrice} USD in the regime ${regime}.`,
      `Its window runs from ${windowOpensAt} to ${resolvesAt}; its status is ${status}. ${proof}`,
      `The record of this horizon: ${skill.verdict}.`,
    ].join('\n');
  },
});
