import type { Hash } from 'viem';
import type { FeedKind } from '../../market/feed.ts';
import type { DocumentDeps } from './deps.ts';

/** What every document begins with. */
export interface DocumentHead {
  /** What it is: the name of its offering without `svc_`. */
  kind: string;
  title: string;
  generatedAt: string;
  /** Of the 7-day forecast that is told in it; null where none is sold. */
  forecastId: string | null;
  /** Of that forecast's attestation; null where none is sold, or none is on chain yet. */
  attestationUid: Hash | null;
  /** Where the market data comes from. */
  source: string;
  marketKind: FeedKind;
  /** What it says, for people. */
  sentences: string[];
}

/** What the composer of a document adds to what all have. */
export type DocumentBody = Pick<DocumentHead, 'forecastId' | 'attestationUid' | 'sentences'> & Record<string, unknown>;

/** A document of an offering. */
export function buildDocument(
  { market }: Pick<DocumentDeps, 'market'>,
  { name, title }: { name: string; title: string },
  { now, body: { forecastId, attestationUid, sentences, ...body } }: { now: Date; body: DocumentBody },
): DocumentHead & Record<string, unknown> {
  return {
    kind: name.replace(/^svc_/, ''),
    title,
    generatedAt: now.toISOString(),
    ...{ forecastId, attestationUid },
    source: market.source,
    marketKind: market.kind,
    sentences,
    ...body,
  };
}
