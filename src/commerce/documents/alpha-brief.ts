import { DAY_MS } from '../../forecast/day.ts';
import { HORIZONS } from '../../forecast/model.ts';
import type { BriefOutcome } from '../../record/briefs/brief.ts';
import { outcomeOf } from '../../record/briefs/compose.ts';
import { betOfWager, type TradeIntent } from '../../record/intent/intent.ts';
import { nextIntent } from '../../record/intent/next.ts';
import { viewWager } from '../../record/intent/wager.ts';
import { currentRegime } from '../../record/regime-history.ts';
import type { DocumentBody } from './document.ts';
import { type DocumentParts, PAYER, SOLD_HORIZON_DAYS } from './parts.ts';
import { fullProof } from './proof.ts';
import { soldForecast, toldForecast } from './sold-forecast.ts';
import { NO_ADVICE, percent, tellForecast } from './words.ts';

/** What is to be done in the prediction market, and on which terms; parts that there are none of are null. */
type Stake = Pick<TradeIntent, 'contractSide' | 'market' | 'sizing' | 'marketReason' | 'wager'> & {
  entry: TradeIntent['entry'] | null;
  actionable: boolean;
  notActionableBecause: string | null;
};

/** The day on one page. @throws OracleError STEP_WAITING before the first forecast */
export async function alphaBrief(parts: DocumentParts): Promise<DocumentBody> {
  const sold = await soldForecast(parts);
  const { forecastId, attestationUid, signal, newest } = sold;
  const since = new Date(parts.now().getTime() - DAY_MS);
  const [regime, stake, resolved] = await Promise.all([
    currentRegime(parts, parts.now()),
    stakeOf(parts, sold.newest.day),
    resolvedSince(parts, since),
  ]);
  return {
    ...{ forecastId, attestationUid },
    sentences: [...tellForecast(signal), stakeSentence(stake), resolvedSentence(resolved), ...RISKS, NO_ADVICE],
    ...toldForecast(sold),
    proof: fullProof(parts, newest),
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

/** An intent where the forecast is a call; on a day of HOLD the wager of the day, which is sized on the model's probability all the same. */
async function stakeOf(parts: DocumentParts, day: number): Promise<Stake> {
  const intent = await nextIntent(parts, SOLD_HORIZON_DAYS, PAYER);
  if (intent !== null) {
    const { contractSide, market, sizing, marketReason, wager, entry, actionable, notActionableBecause } = intent;
    return { contractSide, market, sizing, marketReason, wager, entry, actionable, notActionableBecause };
  }
  const wager = await parts.wagers.wager(day);
  const bet = betOfWager(wager);
  const { market, sizing } = 'reason' in bet ? { market: null, sizing: null } : bet;
  return {
    contractSide: sizing?.side ?? null,
    ...{ market, sizing, marketReason: 'reason' in bet ? bet.reason : null },
    wager: wager && viewWager(wager),
    entry: null,
    actionable: false,
    notActionableBecause: 'The forecast is HOLD: it calls for no trade.',
  };
}

/** Forecasts of all horizons whose outcome has come on chain since an instant, oldest first. */
async function resolvedSince({ record }: DocumentParts, since: Date): Promise<BriefOutcome[]> {
  const docs = (await Promise.all(HORIZONS.map((horizonDays) => record.ofHorizon(horizonDays)))).flat();
  return docs
    .filter(({ reveal, resolution }) => reveal !== null && resolution !== null && reveal.at > since)
    .toSorted((a, b) => (a._id < b._id ? -1 : 1))
    .map(outcomeOf);
}

function stakeSentence({ market, sizing, marketReason, contractSide, actionable, notActionableBecause }: Stake): string {
  if (market === null || sizing === null) return marketReason ?? 'There is no market to stake on.';
  const quoted = `The market asks ${percent((market.bid + market.ask) / 2)} for a price above ${market.strike} USD at ${market.expiresAt}, the model says ${percent(sizing.pModel)}`;
  const side = contractSide === null ? 'no side has an edge after costs' : `the side with an edge is ${contractSide}`;
  return `${quoted}: ${side}. ${sizing.note}${actionable ? '' : ` ${notActionableBecause ?? ''}`}`.trim();
}

function resolvedSentence(resolved: readonly BriefOutcome[]): string {
  if (resolved.length === 0) return 'No outcome has come on chain within the last 24 hours.';
  const told = resolved.map(({ predictionId, signal, outcome }) => `${predictionId} ${signal} ${outcome}`);
  return `Outcomes of the last 24 hours: ${told.join(', ')}.`;
}
