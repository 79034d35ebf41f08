import { HORIZONS } from '../../forecast/model.ts';
import type { DayDoc, InputSource } from '../../record/day-doc.ts';
import { getCurrentRegime } from '../../record/market/regime-history.ts';
import { buildModelDetails } from '../../record/oracle/model-details.ts';
import { describeThresholds } from '../../record/oracle/signal-thresholds.ts';
import { type DocumentDeps, SOLD_HORIZON_DAYS } from './deps.ts';
import type { DocumentBody } from './document-head.ts';
import { describeForecast, NO_ADVICE_NOTE, probabilityToPercent } from './format.ts';
import { readSoldForecast, type SoldForecast, toForecastSection, toSoldStatistics } from './sold-forecast.ts';

/** The forecasts of all horizons with their inputs, models and records. @throws OracleError STEP_WAITING before the first forecast */
export async function composeAnalysisReport(deps: DocumentDeps): Promise<DocumentBody> {
  const sold = await Promise.all(HORIZONS.map((horizonDays) => readSoldForecast(deps, horizonDays)));
  const main = sold.find(({ newest }) => newest.horizonDays === SOLD_HORIZON_DAYS) as SoldForecast;
  const [day, regime, models, records] = await Promise.all([
    deps.record.findDay(main.newest.day) as Promise<DayDoc>,
    getCurrentRegime(deps, deps.now()),
    Promise.all(sold.map(async ({ newest }) => buildModelDetails(await deps.models.get(newest.modelVersion), newest))),
    sold.map(toSoldStatistics),
  ]);
  return {
    forecastId: main.forecastId,
    attestationUid: main.attestationUid,
    sentences: formatSentences(main, sold),
    regime,
    categories: day.categories,
    inputs: (JSON.parse(day.metadata.json) as { inputs: InputSource[] }).inputs,
    horizons: sold.map((one, index) => ({
      ...toForecastSection(one),
      thresholds: describeThresholds(one.newest),
      model: models[index],
      record: records[index],
    })),
  };
}

function formatSentences(main: SoldForecast, sold: readonly SoldForecast[]): string[] {
  return [
    ...describeForecast(main.signal),
    ...sold.map(({ signal: { horizon, signal, direction, pUp, skill } }) => {
      const call = signal === 'HOLD' ? `HOLD, leaning ${direction}` : `${signal} (${direction})`;
      return `${horizon}: ${call}, P(up) ${probabilityToPercent(pUp)}. Its record: ${skill.verdict}.`;
    }),
    'Whether bitcoin rises within days is close to a coin toss: where a record cannot be distinguished from always saying UP, its confidence is no edge.',
    NO_ADVICE_NOTE,
  ];
}
