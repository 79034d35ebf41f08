import type { Hash } from 'viem';
import type { FeedKind } from '../../market/feed.ts';
import type { DocumentDeps } from './deps.ts';

export interface DocumentHead {
  /** Name of the offering without `svc_`. */
  kind: string;
  title: string;
  generatedAt: string;
  /** The included 7-day forecast, or null. */
  forecastId: string | null;
  /** Attestation of that forecast; null without one, or before it is on chain. */
  attestationUid: Hash | null;
  source: string;
  marketKind: FeedKind;
  sentences: string[];
}

export type DocumentBody = Pick<DocumentHead, 'forecastId' | 'attestationUid' | 'sentences'> & Record<string, unknown>;

export function buildDocument(
  { market }: Pick<DocumentDeps, 'market'>,
  { name, title }: { name: string; title: string },
  { now, body: { forecastId, attestationUid, sentences, ...body } }: { now: Date; body: DocumentBody },
): DocumentHead & Record<string, unknown> {
  return {
    kind: name.replace(/^svc_/, ''),
    title,
    generatedAt: now.toISOString(),
    forecastId,
    attestationUid,
    source: market.source,
    marketKind: market.kind,
    sentences,
    ...body,
  };
}
