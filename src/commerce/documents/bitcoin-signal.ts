import { buildModelDetails } from '../../record/oracle/model-details.ts';
import { describeThresholds } from '../../record/oracle/signal-thresholds.ts';
import type { DocumentDeps } from './deps.ts';
import type { DocumentBody } from './document-head.ts';
import { describeForecast, NO_ADVICE_NOTE } from './format.ts';
import { buildFullProof } from './full-proof.ts';
import { readSoldForecast, type SoldForecast, toForecastSection, toSoldStatistics } from './sold-forecast.ts';

/** The newest 7-day forecast with its proof. @throws OracleError STEP_WAITING before the first forecast */
export async function composeSignalWithProof(deps: DocumentDeps): Promise<DocumentBody> {
  return toSignalWithProof(deps, await readSoldForecast(deps));
}

function toSignalWithProof(deps: DocumentDeps, sold: SoldForecast): DocumentBody {
  const { forecastId, attestationUid, signal, newest } = sold;
  return {
    forecastId,
    attestationUid,
    sentences: [...describeForecast(signal), `The record of this horizon: ${signal.skill.verdict}.`, NO_ADVICE_NOTE],
    ...toForecastSection(sold),
    proof: buildFullProof(deps, newest),
  };
}

/** `composeSignalWithProof` with methodology and record. @throws OracleError STEP_WAITING before the first forecast */
export async function composeBitcoinSignal(deps: DocumentDeps): Promise<DocumentBody> {
  const sold = await readSoldForecast(deps);
  const { newest } = sold;
  const [model, record] = [await deps.models.get(newest.modelVersion), toSoldStatistics(sold)];
  return {
    ...toSignalWithProof(deps, sold),
    methodology: {
      description: METHOD_DESCRIPTION,
      url: `${deps.publicUrl}/methodology.md`,
      model: buildModelDetails(model, newest),
      thresholds: describeThresholds(newest),
    },
    record,
  };
}

const METHOD_DESCRIPTION =
  'A logistic regression on five scores (trend, momentum, flow, value, volatility), shrunk towards the base rate and calibrated on days that it had not seen; BUY and SELL begin where P(up) is far enough from one half for the market regime, and HOLD lies between.';
