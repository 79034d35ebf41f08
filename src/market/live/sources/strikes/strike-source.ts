import type { StrikeSnapshot } from '../../../strikes.ts';
import type { Provider } from '../../providers/provider.ts';
import type { ProviderId } from '../../providers/providers.ts';

export interface StrikeQuery {
  /** Of bitcoin: the strikes nearest to it are the ones that matter. */
  spotUsd: number;
  atMs: number;
}

/**
 * A prediction market's strikes on bitcoin: open ones that expire after `atMs`, each once, in any order.
 * @throws OracleError FEED_UNAVAILABLE when there are none, FEED_INVALID naming provider and field
 */
export interface StrikeSource {
  /** Whom `fetch` asks; without an answer of the first there are no strikes. */
  providers: readonly [ProviderId, ...ProviderId[]];
  fetch(providers: Readonly<Record<ProviderId, Provider>>, query: StrikeQuery): Promise<StrikeSnapshot[]>;
}

const MAX_QUESTION_LENGTH = 200;
const MAX_RESOLUTION_LENGTH = 500;

/** A venue's words as they are kept: on one line, without control and invisible characters, bounded. */
export function boundVenueTexts(question: string, resolution: string): Pick<StrikeSnapshot, 'question' | 'resolution'> {
  return { question: truncateText(question, MAX_QUESTION_LENGTH), resolution: truncateText(resolution, MAX_RESOLUTION_LENGTH) };
}

function truncateText(text: string, length: number): string {
  const plain = text.replaceAll(/[\p{C}\s]+/gu, ' ').trim();
  return [...plain].slice(0, length).join('');
}

/** The price of an offer or a trade; null for 0 and 1, which venues tell where there is none. */
export function toOfferPrice(price: number | null | undefined): number | null {
  return price != null && price > 0 && price < 1 ? price : null;
}
