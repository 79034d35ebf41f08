import { HORIZONS } from '../../forecast/model.ts';
import type { DayDoc, InputSource } from '../../record/day-record.ts';
import { type ModelDetails, modelDetails } from '../../record/oracle/model-details.ts';
import { thresholdsOf } from '../../record/oracle/thresholds.ts';
import { currentRegime } from '../../record/regime-history.ts';
import type { DocumentBody } from './document.ts';
import { type DocumentParts, SOLD_HORIZON_DAYS } from './parts.ts';
import { type SoldForecast, soldForecast, statisticsOf, toldForecast } from './sold-forecast.ts';
import { NO_ADVICE, percent, tellForecast } from './words.ts';

/** The forecasts of all horizons and everything that they rest on. @throws OracleError STEP_WAITING before the first forecast */
export async function analysisReport(parts: DocumentParts): Promise<DocumentBody> {
  const sold = await Promise.all(HORIZONS.map((horizonDays) => soldForecast(parts, horizonDays)));
  const main = sold.find(({ newest }) => newest.horizonDays === SOLD_HORIZON_DAYS) as SoldForecast;
  const [day, regime, models, records] = await Promise.all([
    parts.record.day(main.newest.day) as Promise<DayDoc>,
    currentRegime(parts, parts.now()),
    Promise.all(sold.map(({ newest }) => detailsOf(parts, newest))),
    Promise.all(sold.map((one) => statisticsOf(parts, one))),
  ]);
  return {
    forecastId: main.forecastId,
    attestationUid: main.attestationUid,
    sentences: sentencesOf(main, sold),
    regime,
    categories: day.categories,
    inputs: inputsOf(day),
    horizons: sold.map((one, index) => ({
      ...toldForecast(one),
      thresholds: thresholdsOf(one.newest),
      model: models[index],
      record: records[index],
    })),
  };
}

async function detailsOf({ models }: DocumentParts, newest: SoldForecast['newest']): Promise<ModelDetails> {
  return modelDetails(await models.get(newest.modelVersion), newest);
}

/** The series that the day's forecasts were made from, as the attested metadata lists them. */
function inputsOf({ metadata }: DayDoc): InputSource[] {
  return (JSON.parse(metadata.json) as { inputs: InputSource[] }).inputs;
}

function sentencesOf(main: SoldForecast, sold: readonly SoldForecast[]): string[] {
  return [
    ...tellForecast(main.signal),
    ...sold.map(({ signal: { horizon, signal, direction, pUp, skill } }) => {
      const call = signal === 'HOLD' ? `HOLD, leaning ${direction}` : `${signal} (${direction})`;
      return `${horizon}: ${call}, P(up) ${percent(pUp)}. Its record: ${skill.verdict}.`;
    }),
    'Whether bitcoin rises within days is close to a coin toss: where a record cannot be told apart from always saying UP, its confidence is no edge.',
    NO_ADVICE,
  ];
}
