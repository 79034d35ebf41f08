import { type Address, type Hex, isAddressEqual, type Log, parseEventLogs } from 'viem';
import { stablecoinAbi } from './stablecoin.ts';

/** One transfer of the stablecoin. `nonce` is that of its EIP-3009 authorization; null for a transfer without one. */
export interface StablecoinTransfer {
  from: Address;
  to: Address;
  value: bigint;
  nonce: Hex | null;
}

/** An authorization's transfer is the first of its signer after its `AuthorizationUsed` (EIP-3009): each counts for its own one only. */
export function parseStablecoinTransfers(logs: readonly Pick<Log, 'address' | 'topics' | 'data'>[], asset: Address): StablecoinTransfer[] {
  const assetLogs = logs.filter(({ address }) => isAddressEqual(address, asset)) as Log[];
  const events = parseEventLogs({ abi: stablecoinAbi, eventName: ['Transfer', 'AuthorizationUsed'], logs: assetLogs });
  const nonceBySigner = new Map<Address, Hex>();
  return events.flatMap((event) => {
    if (event.eventName === 'AuthorizationUsed') {
      nonceBySigner.set(event.args.authorizer, event.args.nonce);
      return [];
    }
    const { from, to, value } = event.args;
    const nonce = nonceBySigner.get(from) ?? null;
    nonceBySigner.delete(from);
    return [{ from, to, value, nonce }];
  });
}
