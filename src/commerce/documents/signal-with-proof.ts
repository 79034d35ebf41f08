import type { DocumentDeps } from './deps.ts';
import type { DocumentBody } from './document-head.ts';
import { describeForecast, NO_ADVICE_NOTE } from './format.ts';
import { buildFullProof } from './full-proof.ts';
import { readSoldForecast, toForecastSection } from './sold-forecast.ts';

/** The newest 7-day forecast with everything that it takes to check it. @throws OracleError STEP_WAITING before the first */
export async function composeSignalWithProof(deps: DocumentDeps): Promise<DocumentBody> {
  const sold = await readSoldForecast(deps);
  const { forecastId, attestationUid, signal, newest } = sold;
  return {
    ...{ forecastId, attestationUid },
    sentences: [...describeForecast(signal), `The record of this horizon: ${signal.skill.verdict}.`, NO_ADVICE_NOTE],
    ...toForecastSection(sold),
    proof: buildFullProof(deps, newest),
  };
}
