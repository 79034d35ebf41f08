import { type Hex, hexToBigInt, type PublicClient } from 'viem';
import { chainCall } from '../rpc/chain-call.ts';

/** EIP-1559 fees in wei per gas. */
export interface Fees {
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
}

export interface FeeQuote extends Fees {
  /** Of the newest block. */
  baseFeePerGas: bigint;
  /** The newest block. */
  blockNumber: number;
}

export interface FeeSource {
  /** At most two seconds old. */
  quote(): Promise<FeeQuote>;
  quoteFresh(): Promise<FeeQuote>;
}

const MAX_AGE_MS = 2_000;

/** Offers twice the base fee, which lasts for six full blocks in a row, plus the tip the node suggests. */
export function createFeeSource(client: PublicClient): FeeSource {
  let latest: { at: number; quote: Promise<FeeQuote> } | undefined;

  function fresh(): Promise<FeeQuote> {
    const quote = chainCall('Reading the fees', () => readFees(client));
    latest = { at: Date.now(), quote };
    quote.catch(() => {
      latest = undefined;
    });
    return quote;
  }

  return { quoteFresh: fresh, quote: () => (latest && Date.now() - latest.at < MAX_AGE_MS ? latest.quote : fresh()) };
}

async function readFees(client: PublicClient): Promise<FeeQuote> {
  const [block, tip] = await Promise.all([
    client.getBlock(),
    client.request<{ Method: 'eth_maxPriorityFeePerGas'; Parameters?: undefined; ReturnType: Hex }>({ method: 'eth_maxPriorityFeePerGas' }),
  ]);
  const baseFeePerGas = block.baseFeePerGas ?? 0n;
  const maxPriorityFeePerGas = hexToBigInt(tip);
  const maxFeePerGas = 2n * baseFeePerGas + maxPriorityFeePerGas;
  return { baseFeePerGas, maxPriorityFeePerGas, maxFeePerGas, blockNumber: Number(block.number) };
}

/**
 * Fees of a replacement: an eighth more in both parts (nodes ask for a tenth), and what is quoted now if the cap allows it.
 * Null when the cap forbids a replacement.
 */
export function bumpFees(previous: Fees, quote: FeeQuote, cap: bigint): Fees | null {
  const minFeePerGas = addEighth(previous.maxFeePerGas);
  const maxPriorityFeePerGas = maxBigint(addEighth(previous.maxPriorityFeePerGas), quote.maxPriorityFeePerGas);
  if (minFeePerGas > cap || maxPriorityFeePerGas > cap) return null;
  const wanted = maxBigint(minFeePerGas, quote.maxFeePerGas, quote.baseFeePerGas + maxPriorityFeePerGas);
  return { maxFeePerGas: wanted > cap ? cap : wanted, maxPriorityFeePerGas };
}

/** Fees of which neither part exceeds a cap. */
export function capFees({ maxFeePerGas, maxPriorityFeePerGas }: Fees, cap: bigint): Fees {
  const clampToCap = (fee: bigint) => (fee < cap ? fee : cap);
  return { maxFeePerGas: clampToCap(maxFeePerGas), maxPriorityFeePerGas: clampToCap(maxPriorityFeePerGas) };
}

function addEighth(fee: bigint): bigint {
  return fee + fee / 8n + 1n;
}

/** `Math.max` does not take bigints. */
function maxBigint(...values: bigint[]): bigint {
  return values.toSorted((a, b) => (a < b ? 1 : -1))[0];
}
