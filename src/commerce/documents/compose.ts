import type { Hash } from 'viem';
import { OracleError } from '../../platform/errors.ts';
import type { Channel } from '../channels.ts';
import { findOffering, getOfferingId } from '../offerings.ts';
import { composeAlphaBrief } from './alpha-brief.ts';
import { composeAnalysisReport } from './analysis-report.ts';
import { composeBitcoinSignal } from './bitcoin-signal.ts';
import { composeCrowdVsOracle } from './crowd/crowd-vs-oracle.ts';
import type { DocumentDeps } from './deps.ts';
import { buildDocument, type DocumentBody } from './document-head.ts';
import { composeMacroReview } from './market/macro-review.ts';
import { composeMarketContext } from './market/market-context.ts';
import { composeSignalWithProof } from './signal-with-proof.ts';
import { composeTrackRecord } from './track-record/track-record.ts';

/** A document as buyers get it, and the forecast that is sold with it. */
export interface ComposedDocument {
  /** Plain JSON with `kind`, `title` and `generatedAt`: what `documentHash` is taken of. */
  document: Record<string, unknown>;
  /** Of the 7-day forecast that is told in it; null where none is sold. */
  forecastId: string | null;
  /** Of that forecast's attestation; null where none is sold, or none is on chain yet. */
  attestationUid: Hash | null;
}

/** What is delivered, by `offeringId`. */
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

/**
 * Composes what an offering of a purchase or a job delivers (interface, section 2.8), for a caller who has paid for it.
 * @param now the time that the document is about
 * @throws OracleError STEP_WAITING before the first forecast, PRICE_UNAVAILABLE and FEED_UNAVAILABLE while the market data is missing: the
 * same call delivers later; INPUT_INVALID naming `offering` when the channel sells no document of that name.
 */
export async function composeDocument(deps: DocumentDeps, channel: Channel, offering: string, now: Date): Promise<ComposedDocument> {
  const sold = findOffering(channel, offering);
  const compose = sold && COMPOSERS[getOfferingId(sold)];
  if (!sold || !compose) throw new OracleError('INPUT_INVALID', 'No document is sold under that name here', { field: 'offering' });
  const body = await compose({ ...deps, now: () => now });
  const document = buildDocument(deps, sold, { now, body });
  return { document, forecastId: document.forecastId, attestationUid: document.attestationUid };
}
