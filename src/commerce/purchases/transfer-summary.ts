import { type Address, type Hex, type Log, parseEventLogs } from 'viem';
import { toLowerCaseAddress } from '../../chain/addresses.ts';
import { stablecoinAbi } from '../../chain/stablecoin/stablecoin.ts';
import type { SettledPayment } from '../ledger/payment.ts';

export interface RawLog {
  address: Address;
  topics: readonly Hex[];
  data: Hex;
}

export type TransferParties = Pick<SettledPayment, 'asset' | 'payer' | 'payee'>;

export interface TransferSummary {
  /** Sum from the payer to the payee. */
  paidMicros: bigint;
  /** Number of transfers between any wallets. */
  transfers: number;
  reachesPayee: boolean;
  /** The transaction also uses EIP-3009 authorizations, which pay for requests. */
  isAuthorized: boolean;
}

/** Summarizes the stablecoin's logs. Ignores logs of other contracts, and logs that do not decode. */
export function summarizeTransfers(logs: readonly RawLog[], { asset, payer, payee }: TransferParties): TransferSummary {
  const assetLogs = logs.filter(({ address }) => isSame(address, asset)) as Log[];
  const events = parseEventLogs({ abi: stablecoinAbi, eventName: ['Transfer', 'AuthorizationUsed'], logs: assetLogs });
  const transfers = events.flatMap((event) => (event.eventName === 'Transfer' ? [event.args] : []));
  const received = transfers.filter(({ to }) => isSame(to, payee));
  return {
    paidMicros: received.filter(({ from }) => isSame(from, payer)).reduce((sum, { value }) => sum + value, 0n),
    transfers: transfers.length,
    reachesPayee: received.length > 0,
    isAuthorized: events.some(({ eventName }) => eventName === 'AuthorizationUsed'),
  };
}

/** Case-insensitive, unlike viem's `isAddressEqual`, which rejects a wrong checksum. */
function isSame(one: Address, other: Address): boolean {
  return toLowerCaseAddress(one) === toLowerCaseAddress(other);
}
