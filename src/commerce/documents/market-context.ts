import { derivativesSummary } from '../../market/reports/derivatives-summary.ts';
import { contextOf } from '../../record/market-context.ts';
import { type Missing, orMissing } from '../../record/oracle/missing.ts';
import { currentRegime } from '../../record/regime-history.ts';
import { CONTEXT_SECTIONS } from '../../record/schemas/market-context.ts';
import type { DocumentBody } from './document.ts';
import type { DocumentParts } from './parts.ts';

/** The day's market data with the regime and its factors; no forecast is in it. */
export async function marketContextDocument(parts: DocumentParts): Promise<DocumentBody> {
  const now = parts.now();
  const missing: Missing[] = [];
  const [context, derivatives, regimeDetail] = await Promise.all([
    contextOf(parts, CONTEXT_SECTIONS),
    orMissing(missing, 'derivatives', () => parts.market.report(derivativesSummary, now.getTime())),
    orMissing(missing, 'regimeDetail', () => currentRegime(parts, now)),
  ]);
  const { source: _, kind: __, include: ___, missing: missingContext, ...sections } = context;
  return {
    ...{ forecastId: null, attestationUid: null },
    sentences: [
      context.price === null ? 'There is no price right now.' : `Bitcoin stands at ${context.price.btcPrice} USD.`,
      regimeDetail === null
        ? 'There is no regime yet.'
        : `The regime is ${regimeDetail.regime} since ${regimeDetail.since}, risk ${regimeDetail.riskLevel}. ${regimeDetail.description}`,
      'No forecast is in this document.',
    ],
    ...sections,
    derivatives,
    regimeDetail,
    missing: [...missing, ...missingContext],
  };
}
