import type { DocumentBody } from './document.ts';
import type { DocumentParts } from './parts.ts';
import { fullProof } from './proof.ts';
import { soldForecast, toldForecast } from './sold-forecast.ts';
import { NO_ADVICE, tellForecast } from './words.ts';

/** The newest 7-day forecast with everything that it takes to check it. @throws OracleError STEP_WAITING before the first */
export async function signalWithProof(parts: DocumentParts): Promise<DocumentBody> {
  const sold = await soldForecast(parts);
  const { forecastId, attestationUid, signal, newest } = sold;
  return {
    ...{ forecastId, attestationUid },
    sentences: [...tellForecast(signal), `The record of this horizon: ${signal.skill.verdict}.`, NO_ADVICE],
    ...toldForecast(sold),
    proof: fullProof(parts, newest),
  };
}
