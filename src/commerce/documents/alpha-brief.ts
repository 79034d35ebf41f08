import { DAY_MS } from '../../forecast/day.ts';
import { type BriefOutcome, toBriefOutcome } from '../../record/briefs/compose.ts';
import { getNextIntent } from '../../record/intent/next-intent.ts';
import { buildBetFromWager, type TradeIntent } from '../../record/intent/trade-intent.ts';
import { viewWager } from '../../record/intent/wager-view.ts';
import { getCurrentRegime } from '../../record/market/regime-history.ts';
import { type DocumentDeps, PAYER_CALLER, SOLD_HORIZON_DAYS } from './deps.ts';
import type { DocumentBody } from './document-head.ts';
import { describeForecast, NO_ADVICE_NOTE, probabilityToPercent } from './format.ts';
import { buildFullProof } from './full-proof.ts';
import { readSoldForecast, toForecastSection } from './sold-forecast.ts';

type Stake = Pick<TradeIntent, 'contractSide' | 'market' | 'sizing' | 'marketReason' | 'wager'> & {
  entry: TradeIntent['entry'] | null;
  actionable: boolean;
  notActionableBecause: string | null;
};

/** The day on one page. @throws OracleError STEP_WAITING before the first forecast */
export async function composeAlphaBrief(deps: DocumentDeps): Promise<DocumentBody> {
  const sold = await readSoldForecast(deps);
  const { forecastId, attestationUid, signal, newest } = sold;
  const since = new Date(deps.now().getTime() - DAY_MS);
  const [regime, stake, resolved] = await Promise.all([
    getCurrentRegime(deps, deps.now()),
    readStake(deps, sold.newest.day),
    listResolvedSince(deps, since),
  ]);
  return {
    forecastId,
    attestationUid,
    sentences: [...describeForecast(signal), formatStake(stake), formatResolved(resolved), ...RISKS, NO_ADVICE_NOTE],
    ...toForecastSection(sold),
    proof: buildFullProof(deps, newest),
    regime,
    stake,
    resolvedSince: { since: since.toISOString(), forecasts: resolved },
    risks: [`The record of this horizon: ${signal.skill.verdict}.`, ...RISKS],
  };
}

const RISKS = [
  'A contract pays 1 or nothing: the whole stake is lost when its side loses, also when the probability was right.',
  'A size by Kelly is right only for a probability that is right; a fraction of it is staked, and nothing where the model has not earned belief against the market.',
  'Prices move after they were quoted: enter below the highest cost or not at all.',
];

/** The trade intent of a BUY or SELL; for a HOLD the wager of the day, which is sized on the model's probability, too. */
async function readStake(deps: DocumentDeps, day: number): Promise<Stake> {
  const intent = await getNextIntent(deps, SOLD_HORIZON_DAYS, PAYER_CALLER);
  if (intent !== null) {
    const { contractSide, market, sizing, marketReason, wager, entry, actionable, notActionableBecause } = intent;
    return { contractSide, market, sizing, marketReason, wager, entry, actionable, notActionableBecause };
  }
  const wager = await deps.wagers.findByDay(day);
  const bet = buildBetFromWager(wager);
  const { market, sizing } = 'reason' in bet ? { market: null, sizing: null } : bet;
  return {
    contractSide: sizing?.side ?? null,
    market,
    sizing,
    marketReason: 'reason' in bet ? bet.reason : null,
    wager: wager && viewWager(wager),
    entry: null,
    actionable: false,
    notActionableBecause: 'The forecast is HOLD: it calls for no trade.',
  };
}

/** Forecasts of all horizons that were revealed since an instant, oldest first. */
async function listResolvedSince({ record }: DocumentDeps, since: Date): Promise<BriefOutcome[]> {
  return (await record.listRevealedSince(since)).map(toBriefOutcome);
}

function formatStake({ market, sizing, marketReason, contractSide, actionable, notActionableBecause }: Stake): string {
  if (market === null || sizing === null) return marketReason ?? 'There is no market to stake on.';
  const quoted = `The market asks ${probabilityToPercent((market.bid + market.ask) / 2)} for a price above ${market.strike} USD at ${market.expiresAt}, the model says ${probabilityToPercent(sizing.pModel)}`;
  const side = contractSide === null ? 'no side has an edge after costs' : `the side with an edge is ${contractSide}`;
  return `${quoted}: ${side}. ${sizing.note}${actionable ? '' : ` ${notActionableBecause ?? ''}`}`.trim();
}

function formatResolved(resolved: readonly BriefOutcome[]): string {
  if (resolved.length === 0) return 'No outcome has come on chain within the last 24 hours.';
  const outcomes = resolved.map(({ predictionId, signal, outcome }) => `${predictionId} ${signal} ${outcome}`);
  return `Outcomes of the last 24 hours: ${outcomes.join(', ')}.`;
}
