import { derivativesSummaryReport } from '../../../market/reports/derivatives/derivatives-summary.ts';
import { readMarketContext } from '../../../record/market/market-context.ts';
import { getCurrentRegime } from '../../../record/market/regime-history.ts';
import { loadOrNoteMissing, type MissingPart } from '../../../record/oracle/missing-parts.ts';
import { CONTEXT_SECTIONS } from '../../../record/schemas/market-context.ts';
import type { DocumentDeps } from '../deps.ts';
import type { DocumentBody } from '../document-head.ts';

export async function composeMarketContext(deps: DocumentDeps): Promise<DocumentBody> {
  const now = deps.now();
  const missing: MissingPart[] = [];
  const [context, derivatives, regimeDetail] = await Promise.all([
    readMarketContext(deps, CONTEXT_SECTIONS),
    loadOrNoteMissing(missing, 'derivatives', () => deps.market.report(derivativesSummaryReport, now.getTime())),
    loadOrNoteMissing(missing, 'regimeDetail', () => getCurrentRegime(deps, now)),
  ]);
  const { source: _, kind: __, include: ___, missing: missingContext, ...sections } = context;
  return {
    forecastId: null,
    attestationUid: null,
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
