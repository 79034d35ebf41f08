import { PUBLIC_CALLER } from '../../../../auth/caller.ts';
import type { ConfirmedAttestation } from '../../../../chain/eas/attester.ts';
import { widenPrice } from '../../../../forecast/central-range.ts';
import { formatDay } from '../../../../forecast/day.ts';
import type { HorizonDays } from '../../../../forecast/model.ts';
import type { DayDoc } from '../../../../record/day-doc.ts';
import { type ForecastDoc, fromCents } from '../../../../record/forecast-doc.ts';
import { type ForecastView, mayReadQuantiles, type ViewOptions, viewForecast } from '../../../../record/forecast-visibility.ts';
import { toScoredForecast } from '../../../../record/scorecard/scorecard.ts';
import type { AttestationFacts, ForecastFacts } from '../../../../views/forecast/forecast-facts.ts';
import type { HttpDeps } from '../../deps.ts';
import { toStateName } from './to-state-name.ts';

export type ForecastFactsDeps = Pick<HttpDeps, 'about' | 'record' | 'viewFor' | 'explorerUrl' | 'market' | 'now'>;

/** Those of the same horizon on the day before and after and within the window, and those of the same day. */
export interface AroundForecast {
  doc: ForecastDoc;
  neighbours: readonly ForecastDoc[];
  day: Pick<DayDoc, 'halfWidths'> | null;
}

/** What an anonymous caller may see of a forecast. */
export function toForecastFacts(deps: ForecastFactsDeps, { doc, neighbours, day }: AroundForecast): ForecastFacts {
  const now = deps.now();
  const view = viewForecast(doc, deps.viewFor(PUBLIC_CALLER));
  const ofHorizon = neighbours.filter(({ horizonDays }) => horizonDays === doc.horizonDays);
  const dateOf = (other: number) => (ofHorizon.some((one) => one.day === other) ? formatDay(other) : null);
  return {
    ...toOwnFacts(doc, view, now),
    committed: toAttestationFacts(doc.attestation, deps),
    revealed: toAttestationFacts(doc.reveal, deps),
    ...toDistributionFacts(doc, { view, day, options: deps.viewFor(PUBLIC_CALLER) }),
    brier: toBrier(doc),
    closes: toCloses(doc, ofHorizon),
    previousDate: dateOf(doc.day - 1),
    nextDate: dateOf(doc.day + 1),
    horizons: [doc, ...neighbours.filter((one) => one.day === doc.day && one._id !== doc._id)]
      .map(({ horizonDays }) => horizonDays)
      .sort((a, b) => a - b),
    isLocalChain: deps.about.local,
    isSimulated: deps.market.kind === 'simulated',
    isReplayed: doc.replayed,
  };
}

function toOwnFacts(doc: ForecastDoc, view: ForecastView, now: Date) {
  return {
    date: view.date,
    horizonDays: doc.horizonDays,
    sequence: doc.sequence,
    state: toStateName(doc, now),
    madeAt: view.timestamp,
    windowOpensAt: view.windowOpensAt,
    endsAt: view.resolvesAt,
    now: now.toISOString(),
    regime: view.regime,
    modelVersion: view.modelVersion,
    ...toVisibleFacts(view),
  };
}

/** Values and prices of a view, as a row of the list has them. */
export function toVisibleFacts(view: ForecastView): Pick<ForecastFacts, 'values' | 'price'> {
  const { signal, direction, pUp, btcPrice, btcAtSignal, provisional, btcAtResolution, returnBps } = view;
  return {
    values: signal === null || direction === null || pUp === null ? null : { signal, direction, pUp },
    price: { atSignal: btcPrice, atOpening: provisional ? null : btcAtSignal, atEnd: btcAtResolution, returnBps },
  };
}

function toAttestationFacts(made: ConfirmedAttestation | null, { explorerUrl }: ForecastFactsDeps): AttestationFacts | null {
  if (made === null) return null;
  const { uid, txHash, blockNumber: block, at } = made;
  const page = explorerUrl === null ? null : `${explorerUrl}/attestation/view/${uid}`;
  return { uid, txHash, block, at: at.toISOString(), explorerUrl: page };
}

/** The committed quantiles once they are public; before, the range of the day's widths, which holds no committed value. */
function toDistributionFacts(
  doc: ForecastDoc,
  { view, day, options }: { view: ForecastView; day: AroundForecast['day']; options: ViewOptions },
): Pick<ForecastFacts, 'band' | 'quantiles'> {
  if (doc.values !== null && mayReadQuantiles(doc, options)) {
    const { priceQuantiles } = doc.values;
    const quantiles = Object.entries(priceQuantiles)
      .map(([level, price]) => ({ percent: Number(level.slice(1)), price }))
      .sort((a, b) => a.percent - b.percent);
    return { band: { low: priceQuantiles.p10, high: priceQuantiles.p90, isCommitted: true }, quantiles };
  }
  const widths = day?.halfWidths?.[doc.horizonDays as HorizonDays];
  if (widths === undefined || view.btcPrice === null) return { band: null, quantiles: [] };
  return { band: { ...widenPrice(view.btcPrice, widths.central80), isCommitted: false }, quantiles: [] };
}

function toBrier(doc: ForecastDoc): ForecastFacts['brier'] {
  const scored = toScoredForecast(doc);
  if (scored === null) return null;
  const score = (probability: number) => (probability - Number(scored.rose)) ** 2;
  return { own: score(scored.pUp), baseRate: scored.climatology === null ? null : score(scored.climatology) };
}

/** The opening closes of the forecasts of the window's days, this one's included. */
function toCloses(doc: ForecastDoc, ofHorizon: readonly ForecastDoc[]): ForecastFacts['closes'] {
  return [doc, ...ofHorizon]
    .filter(({ day }) => day >= doc.day && day < doc.day + doc.horizonDays)
    .flatMap(({ windowOpensAt, btcAtSignalCents }) =>
      btcAtSignalCents === null ? [] : [{ at: windowOpensAt.toISOString(), price: fromCents(btcAtSignalCents) }],
    )
    .sort((a, b) => a.at.localeCompare(b.at));
}
