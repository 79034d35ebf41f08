import type { StrikeSnapshot } from '../../../strikes.ts';
import type { Provider } from '../../providers/provider.ts';
import type { ProviderId } from '../../providers/providers.ts';
import { finite } from '../http-source.ts';

/** A contract price in dollars, which is a probability. */
export const contractPrice = finite.min(0).max(1);

export interface StrikeSource {
  /** The providers that `fetch` queries; the first is required. */
  providers: readonly [ProviderId, ...ProviderId[]];
  /**
   * The open bitcoin strikes that expire after `atMs`, near `spotUsd`, each once, in any order.
   * @throws OracleError FEED_UNAVAILABLE without any, FEED_INVALID naming provider and field
   */
  fetch(providers: Readonly<Record<ProviderId, Provider>>, query: { spotUsd: number; atMs: number }): Promise<StrikeSnapshot[]>;
}

const MAX_QUESTION_LENGTH = 200;
const MAX_RESOLUTION_LENGTH = 500;

/** Sanitizes untrusted text of a venue to one line of bounded length without control and invisible characters. */
export function boundVenueTexts(question: string, resolution: string): Pick<StrikeSnapshot, 'question' | 'resolution'> {
  return { question: truncateText(question, MAX_QUESTION_LENGTH), resolution: truncateText(resolution, MAX_RESOLUTION_LENGTH) };
}

function truncateText(text: string, length: number): string {
  const plain = text.replaceAll(/[\p{C}\s]+/gu, ' ').trim();
  return [...plain].slice(0, length).join('');
}

/** Price of an offer or trade; null for 0 and 1, which venues send for a missing one. */
export function toOfferPrice(price: number | null | undefined): number | null {
  return price != null && price > 0 && price < 1 ? price : null;
}
