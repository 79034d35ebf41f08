import { OracleError } from '../../platform/errors.ts';
import type { Channel } from '../channels.ts';
import { findOffering, getOfferingId } from '../price-list.ts';
import { composeAlphaBrief } from './alpha-brief.ts';
import { composeAnalysisReport } from './analysis-report.ts';
import { composeBitcoinSignal, composeSignalWithProof } from './bitcoin-signal.ts';
import { composeCrowdVsOracle } from './crowd/crowd-vs-oracle.ts';
import type { DocumentDeps } from './deps.ts';
import { buildDocument, type DocumentBody, type DocumentHead } from './document-head.ts';
import { composeMacroReview } from './market/macro-review.ts';
import { composeMarketContext } from './market/market-context.ts';
import { composeTrackRecord } from './track-record/track-record.ts';

/** A sold document as JSON, the input of `hashDocument`, with the forecast in it. */
export interface ComposedDocument extends Pick<DocumentHead, 'forecastId' | 'attestationUid'> {
  document: Record<string, unknown>;
}

const COMPOSERS: Record<string, (deps: DocumentDeps) => Promise<DocumentBody>> = {
  'purchase:svc_signal_with_proof': composeSignalWithProof,
  'purchase:svc_verified_track_record': composeTrackRecord,
  'purchase:svc_analysis_report': composeAnalysisReport,
  'purchase:svc_crowd_vs_oracle': composeCrowdVsOracle,
  'purchase:svc_daily_macro_review': composeMacroReview,
  'purchase:svc_alpha_brief': composeAlphaBrief,
  'agent-commerce:svc_bitcoin_signal': composeBitcoinSignal,
  'agent-commerce:svc_market_context': composeMarketContext,
  'agent-commerce:svc_crowd_vs_oracle': composeCrowdVsOracle,
};

/** As of `now`. @throws OracleError STEP_WAITING before the first forecast, PRICE_UNAVAILABLE, FEED_UNAVAILABLE; INPUT_INVALID */
export async function composeDocument(deps: DocumentDeps, channel: Channel, offering: string, now: Date): Promise<ComposedDocument> {
  const sold = findOffering(channel, offering);
  const compose = sold && COMPOSERS[getOfferingId(sold)];
  if (!sold || !compose) throw new OracleError('INPUT_INVALID', 'No document is sold under that name here', { field: 'offering' });
  const body = await compose({ ...deps, now: () => now });
  const document = buildDocument(deps, sold, { now, body });
  return { document, forecastId: document.forecastId, attestationUid: document.attestationUid };
}
