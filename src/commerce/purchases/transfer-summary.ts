import { type Address, decodeEventLog, type Hex } from 'viem';
import { stablecoinAbi } from '../../chain/stablecoin/stablecoin.ts';

/** A log as receipts have it. */
export interface RawLog {
  address: Address;
  topics: readonly Hex[];
  data: Hex;
}

/** Who should have paid whom, in which coin. */
export interface TransferParties {
  asset: Address;
  payer: Address;
  payee: Address;
}

/** What the logs of a transaction say of payments in one coin. */
export interface TransferSummary {
  /** From the payer to the payee, summed. */
  paidMicros: bigint;
  /** Transfers of the coin in all, whoever they are between. */
  transfers: number;
  /** Some of them go to the payee. */
  reachesPayee: boolean;
  /** Payments that were signed for requests (EIP-3009) are among them. */
  isAuthorized: boolean;
}

/** Reads the stablecoin's logs; what other contracts say is not looked at, and what cannot be decoded is no transfer. */
export function summarizeTransfers(logs: readonly RawLog[], { asset, payer, payee }: TransferParties): TransferSummary {
  const events = logs.filter(({ address }) => isSameAddress(address, asset)).flatMap(decodeEvents);
  const transfers = events.flatMap((event) => (event.eventName === 'Transfer' ? [event.args] : []));
  const received = transfers.filter(({ to }) => isSameAddress(to, payee));
  return {
    paidMicros: received.filter(({ from }) => isSameAddress(from, payer)).reduce((sum, { value }) => sum + value, 0n),
    transfers: transfers.length,
    reachesPayee: received.length > 0,
    isAuthorized: events.some(({ eventName }) => eventName === 'AuthorizationUsed'),
  };
}

function decodeEvents({ topics, data }: RawLog) {
  try {
    return [decodeEventLog({ abi: stablecoinAbi, topics: topics as [Hex, ...Hex[]], data })];
  } catch {
    // Of another event, or junk.
    return [];
  }
}

function isSameAddress(a: Address, b: Address): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
