import { createRandom } from './random.ts';

/** First days of the resampled blocks: block by block, one start a resample. */
export type BlockStarts = readonly Uint32Array[];

export interface BlockDraw {
  days: number;
  blockDays: number;
  seed: number;
  resamples: number;
}

/** Draws in memory, of 1 MB each: the statistics of one record need two, over all its days and over those with calls. */
const MAX_DRAWS = 2;
const draws: { of: BlockDraw; starts: BlockStarts }[] = [];

/** The same draw for the same numbers: as many blocks as cover the days. */
export function drawBlocks(of: BlockDraw): BlockStarts {
  const index = draws.findIndex((draw) => isSameDraw(draw.of, of));
  const [found] = index === -1 ? [{ of, starts: computeStarts(of) }] : draws.splice(index, 1);
  draws.unshift(found);
  draws.length = Math.min(draws.length, MAX_DRAWS);
  return found.starts;
}

function isSameDraw(a: BlockDraw, b: BlockDraw): boolean {
  return a.days === b.days && a.blockDays === b.blockDays && a.seed === b.seed && a.resamples === b.resamples;
}

function computeStarts({ days, blockDays, seed, resamples }: BlockDraw): BlockStarts {
  const random = createRandom(seed);
  const starts = Array.from({ length: Math.ceil(days / blockDays) }, () => new Uint32Array(resamples));
  for (let resample = 0; resample < resamples; resample++) {
    for (const block of starts) block[resample] = Math.floor(random() * days);
  }
  return starts;
}
