import { type Hex, hexToBigInt, type PublicClient } from 'viem';
import { chainCall } from '../rpc/chain-call.ts';

/** EIP-1559 fees in wei per gas. */
export interface Fees {
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
}

export interface FeeQuote extends Fees {
  baseFeePerGas: bigint;
  blockNumber: number;
}

export interface FeeSource {
  /** A quote at most two seconds old. */
  quote(): Promise<FeeQuote>;
  quoteFresh(): Promise<FeeQuote>;
}

const MAX_AGE_MS = 2_000;

/** Quotes twice the base fee, enough for six full blocks in a row, plus the priority fee that the node suggests. */
export function createFeeSource(client: PublicClient): FeeSource {
  let latest: { at: number; quote: Promise<FeeQuote> } | undefined;

  function quoteFresh(): Promise<FeeQuote> {
    const quote = chainCall('Reading the fees', () => readFees(client));
    latest = { at: performance.now(), quote };
    quote.catch(() => {
      latest = undefined;
    });
    return quote;
  }

  return { quoteFresh, quote: () => (latest && performance.now() - latest.at < MAX_AGE_MS ? latest.quote : quoteFresh()) };
}

async function readFees(client: PublicClient): Promise<FeeQuote> {
  const [block, tip] = await Promise.all([
    client.getBlock(),
    client.request<{ Method: 'eth_maxPriorityFeePerGas'; Parameters?: undefined; ReturnType: Hex }>({ method: 'eth_maxPriorityFeePerGas' }),
  ]);
  const baseFeePerGas = block.baseFeePerGas ?? 0n;
  const maxPriorityFeePerGas = hexToBigInt(tip);
  return {
    baseFeePerGas,
    maxPriorityFeePerGas,
    maxFeePerGas: 2n * baseFeePerGas + maxPriorityFeePerGas,
    blockNumber: Number(block.number),
  };
}

/** Both raised by an eighth (nodes require a tenth), and to the current quote if the cap allows; null when the cap forbids it. */
export function bumpFees(previous: Fees, quote: FeeQuote, cap: bigint): Fees | null {
  const minFeePerGas = addEighth(previous.maxFeePerGas);
  const maxPriorityFeePerGas = maxBigint(addEighth(previous.maxPriorityFeePerGas), quote.maxPriorityFeePerGas);
  if (minFeePerGas > cap || maxPriorityFeePerGas > cap) return null;
  const wanted = maxBigint(minFeePerGas, quote.maxFeePerGas, quote.baseFeePerGas + maxPriorityFeePerGas);
  return { maxFeePerGas: wanted > cap ? cap : wanted, maxPriorityFeePerGas };
}

export function capFees({ maxFeePerGas, maxPriorityFeePerGas }: Fees, cap: bigint): Fees {
  const clamp = (fee: bigint) => (fee < cap ? fee : cap);
  return { maxFeePerGas: clamp(maxFeePerGas), maxPriorityFeePerGas: clamp(maxPriorityFeePerGas) };
}

function addEighth(fee: bigint): bigint {
  return fee + fee / 8n + 1n;
}

/** `Math.max` does not accept bigints. */
function maxBigint(...values: bigint[]): bigint {
  return values.toSorted((a, b) => (a < b ? 1 : -1))[0];
}
