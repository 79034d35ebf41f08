import { modelDetails } from '../../record/oracle/model-details.ts';
import { thresholdsOf } from '../../record/oracle/thresholds.ts';
import type { DocumentBody } from './document.ts';
import type { DocumentParts } from './parts.ts';
import { fullProof } from './proof.ts';
import { soldForecast, statisticsOf, toldForecast } from './sold-forecast.ts';
import { NO_ADVICE, tellForecast } from './words.ts';

/** The newest 7-day forecast with the method that it was made by. @throws OracleError STEP_WAITING before the first */
export async function bitcoinSignal(parts: DocumentParts): Promise<DocumentBody> {
  const sold = await soldForecast(parts);
  const { forecastId, attestationUid, signal, newest } = sold;
  const [model, record] = await Promise.all([parts.models.get(newest.modelVersion), statisticsOf(parts, sold)]);
  return {
    ...{ forecastId, attestationUid },
    sentences: [...tellForecast(signal), `The record of this horizon: ${signal.skill.verdict}.`, NO_ADVICE],
    ...toldForecast(sold),
    proof: fullProof(parts, newest),
    methodology: {
      description: METHOD,
      url: `${parts.publicUrl}/methodology.md`,
      model: modelDetails(model, newest),
      thresholds: thresholdsOf(newest),
    },
    record,
  };
}

const METHOD =
  'A logistic regression on five scores (trend, momentum, flow, value, volatility), shrunk towards the base rate and calibrated on days that it had not seen; BUY and SELL begin where P(up) is far enough from one half for the market regime, and HOLD lies between.';
