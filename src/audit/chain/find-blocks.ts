import { type AuditChain, type BlockTime, readBlock } from './audit-chain.ts';

/** Blocks read per round between the two around an instant. */
const SPREAD = 14;

/** Finds the first blocks at or after some instants; newest + 1 when all are earlier. @throws OracleError CHAIN_UNREACHABLE */
export async function findFirstBlocks(chain: AuditChain, instants: readonly Date[]) {
  const [first, newest] = await Promise.all([readBlock(chain, 0), readBlock(chain, 'latest')]);
  const known = [first, newest];
  // Each round narrows the gap, whatever times the endpoint claims; with even block times the second one hits.
  for (;;) {
    known.sort((a, b) => a.number - b.number);
    const numbers = new Set(instants.flatMap((at) => guessBlocks(known, at)));
    if (numbers.size === 0) return { first: instants.map((at) => getGap(known, at).after?.number ?? newest.number + 1), newest };
    known.push(...(await Promise.all([...numbers].map((number) => readBlock(chain, number)))));
  }
}

/** The known blocks around an instant. @param known ascending */
function getGap(known: readonly BlockTime[], at: Date): { before: BlockTime | undefined; after: BlockTime | undefined } {
  const index = known.findIndex((block) => block.at >= at);
  return index < 0 ? { before: known.at(-1), after: undefined } : { before: known[index - 1], after: known[index] };
}

/** Numbers to read next: interpolated by time, and evenly spread in case that is off. */
function guessBlocks(known: readonly BlockTime[], at: Date): number[] {
  const { before, after } = getGap(known, at);
  if (before === undefined || after === undefined) return [];
  const room = after.number - before.number;
  const guess = Math.ceil((room * (at.getTime() - before.at.getTime())) / (after.at.getTime() - before.at.getTime()));
  const spread = Array.from({ length: SPREAD }, (_, index) => Math.round((room * (index + 1)) / (SPREAD + 1)));
  return [guess - 1, guess, ...spread].filter((step) => step > 0 && step < room).map((step) => before.number + step);
}
