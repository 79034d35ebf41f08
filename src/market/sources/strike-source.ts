import type { OracleError } from '../../errors.ts';
import type { StrikeSnapshot } from '../feed.ts';
import type { Provider, ProviderId } from '../live/provider.ts';
import { finite, type RowReader } from './source.ts';

/** A contract price in dollars, which is a probability. */
export const contractPrice = finite.min(0).max(1);

export interface StrikeSource {
  /** The providers that `fetch` queries; the first is required. */
  providers: readonly [ProviderId, ...ProviderId[]];
  /**
   * The open bitcoin strikes that expire after `atMs`, near `spotUsd`, each once, in any order. An invalid market is left out.
   * @throws OracleError FEED_UNAVAILABLE without any, FEED_INVALID naming provider and field when none is valid
   */
  fetch(providers: Readonly<Record<ProviderId, Provider>>, query: { spotUsd: number; atMs: number }): Promise<StrikeSnapshot[]>;
}

/** Keeps the problems of rows beside counting them: a venue whose markets are all invalid is not a venue without markets. */
export function keepProblems(provider: Provider): { reader: RowReader; problems: OracleError[] } {
  const problems: OracleError[] = [];
  const leaveOut = (problem: OracleError) => {
    problems.push(problem);
    provider.leaveOut(problem);
  };
  return { reader: { title: provider.title, leaveOut }, problems };
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
