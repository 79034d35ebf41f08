import { type Address, type Hex, isAddressEqual, type Log, parseEventLogs } from 'viem';
import { stablecoinAbi } from './stablecoin.ts';

/** One transfer of the stablecoin, with the authorization that brought it; null for one that its sender sent himself. */
export interface SignedTransfer {
  from: Address;
  to: Address;
  value: bigint;
  nonce: Hex | null;
}

/**
 * The transfers of a coin in the logs of one transaction, in their order. The transfer of an authorization is the first one of its
 * signer after its `AuthorizationUsed` (EIP-3009): a transaction may use several, and each stands for its own transfer only.
 */
export function signedTransfers(logs: readonly Pick<Log, 'address' | 'topics' | 'data'>[], asset: Address): SignedTransfer[] {
  const ours = logs.filter(({ address }) => isAddressEqual(address, asset)) as Log[];
  const events = parseEventLogs({ abi: stablecoinAbi, eventName: ['Transfer', 'AuthorizationUsed'], logs: ours });
  const signed = new Map<Address, Hex>();
  return events.flatMap((event) => {
    if (event.eventName === 'AuthorizationUsed') {
      signed.set(event.args.authorizer, event.args.nonce);
      return [];
    }
    const { from, to, value } = event.args;
    const nonce = signed.get(from) ?? null;
    signed.delete(from);
    return [{ from, to, value, nonce }];
  });
}
