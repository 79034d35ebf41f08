import type { Hash } from 'viem';
import { OracleError } from '../../errors.ts';
import type { Channel } from '../channel.ts';
import { findOffering, offeringId } from '../offerings.ts';
import { alphaBrief } from './alpha-brief.ts';
import { analysisReport } from './analysis-report.ts';
import { bitcoinSignal } from './bitcoin-signal.ts';
import { crowdVsOracle } from './crowd-vs-oracle.ts';
import { type DocumentBody, documentOf } from './document.ts';
import { dailyMacroReview } from './macro-review.ts';
import { marketContextDocument } from './market-context.ts';
import type { DocumentParts } from './parts.ts';
import { signalWithProof } from './signal-with-proof.ts';
import { verifiedTrackRecord } from './track-record.ts';

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
const COMPOSERS: Record<string, (parts: DocumentParts) => Promise<DocumentBody>> = {
  'purchase:svc_signal_with_proof': signalWithProof,
  'purchase:svc_verified_track_record': verifiedTrackRecord,
  'purchase:svc_analysis_report': analysisReport,
  'purchase:svc_crowd_vs_oracle': crowdVsOracle,
  'purchase:svc_daily_macro_review': dailyMacroReview,
  'purchase:svc_alpha_brief': alphaBrief,
  'agent-commerce:svc_bitcoin_signal': bitcoinSignal,
  'agent-commerce:svc_market_context': marketContextDocument,
  'agent-commerce:svc_crowd_vs_oracle': crowdVsOracle,
};

/**
 * Composes what an offering of a purchase or a job delivers (interface, section 2.8), for a caller who has paid for it.
 * @param now the time that the document is about
 * @throws OracleError STEP_WAITING before the first forecast, PRICE_UNAVAILABLE and FEED_UNAVAILABLE while the market data is missing: the
 * same call delivers later; INPUT_INVALID naming `offering` when the channel sells no document of that name.
 */
export async function composeDocument(parts: DocumentParts, channel: Channel, offering: string, now: Date): Promise<ComposedDocument> {
  const sold = findOffering(channel, offering);
  const compose = sold && COMPOSERS[offeringId(sold)];
  if (!sold || !compose) throw new OracleError('INPUT_INVALID', 'No document is sold under that name here', { field: 'offering' });
  const body = await compose({ ...parts, now: () => now });
  const document = documentOf(parts, sold, { now, body });
  return { document, forecastId: document.forecastId, attestationUid: document.attestationUid };
}
