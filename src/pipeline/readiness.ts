import { type Chain, readChainHealth } from '../chain/client.ts';
import { formatDay } from '../forecast/day.ts';
import type { Market } from '../market/market.ts';
import { isOracleError, OracleError } from '../platform/errors.ts';
import type { TrustedTime } from '../platform/time/trusted-time.ts';

export interface ReadinessDeps {
  chain: Chain;
  localChain: boolean;
  market: Market;
  pingDatabase(): Promise<void>;
  time: Pick<TrustedTime, 'describe'>;
  /** Unset while all wallets sign by keys of this process. */
  checkSigners?: (() => Promise<string>) | null;
  setup(): string | null;
  now(): Date;
}

export type ReadinessCheck = Awaited<ReturnType<typeof runCheck>>;

/** Base produces a block every 2 s; a local chain produces none while idle. */
const MAX_BLOCK_AGE_MS = 5 * 60_000;

/** A failed check with a message that is safe to serve. */
class NotReadyError extends Error {}

export function checkReadiness(deps: ReadinessDeps): Promise<ReadinessCheck[]> {
  return Promise.all([
    runCheck('setup', async () => {
      const left = deps.setup();
      if (left !== null) throw new NotReadyError(left);
      return 'complete';
    }),
    runCheck('database', async () => {
      await deps.pingDatabase();
      return 'answers';
    }),
    runCheck('clock', () => deps.time.describe()),
    runCheck('chain', () => describeNewestBlock(deps)),
    runCheck('price', () => checkPrice(deps)),
    ...(deps.checkSigners ? [runCheck('signers', deps.checkSigners)] : []),
  ]);
}

async function runCheck(name: string, check: () => Promise<string>) {
  try {
    return { name, ok: true, detail: await check() };
  } catch (error) {
    // `/ready` is public: driver and node messages may hold credentials or addresses and are not served.
    const isOwn = error instanceof NotReadyError || isOracleError(error);
    return { name, ok: false, detail: isOwn ? error.message : 'does not answer' };
  }
}

/** A stalled node still answers RPC calls, so the age of its newest block is checked. @throws OracleError CHAIN_UNREACHABLE */
export async function describeNewestBlock({
  chain,
  localChain,
  now,
}: Pick<ReadinessDeps, 'chain' | 'localChain' | 'now'>): Promise<string> {
  const { blockNumber, at } = await readChainHealth(chain);
  const ageMs = now().getTime() - at.getTime();
  if (localChain || Math.abs(ageMs) <= MAX_BLOCK_AGE_MS) return `block ${blockNumber}`;
  if (ageMs < 0)
    throw stalledError(`block ${blockNumber} is ${Math.round(-ageMs / 60_000)} minutes ahead of the local clock, which is wrong`);
  throw stalledError(
    `block ${blockNumber} is ${Math.round(ageMs / 60_000)} minutes old: the RPC endpoint is stalled, or the clock is wrong`,
  );
}

function stalledError(message: string): OracleError {
  return new OracleError('CHAIN_UNREACHABLE', message, { suggestedAction: 'Set CHAIN_RPC_URL to another endpoint, or repair NTP.' });
}

/** A feed that ends is never stale; a live feed must have a current price. */
async function checkPrice({ market, now }: ReadinessDeps): Promise<string> {
  const { lastDay } = await market.coverage();
  if (lastDay !== null) return `history until ${formatDay(lastDay)}`;
  const { observedAtMs, source } = await market.spot(now().getTime());
  return `${source}, ${new Date(observedAtMs).toISOString()}`;
}
