import { type Address, type Hex, isAddressEqual, type Log, parseAbi, parseEventLogs } from 'viem';
import { isOracleError, OracleError } from '../errors.ts';
import { type ChainReader, chainCall } from './rpc.ts';

/** Subset of the ABI of an EIP-3009 stablecoin (USDC's FiatTokenV2). */
export const stablecoinAbi = parseAbi([
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function decimals() view returns (uint8)',
  'function balanceOf(address account) view returns (uint256)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)',
]);

/** EIP-712 domain of payment signatures, without chain id and contract. */
export interface StablecoinDomain {
  name: string;
  version: string;
}

/** Amounts are integers of 10^-6 dollar throughout. */
const STABLECOIN_DECIMALS = 6;

/** @throws OracleError CONFIG_INVALID naming STABLECOIN_ADDRESS for a coin without six decimals or EIP-712 domain; CHAIN_UNREACHABLE */
export async function readStablecoin({ client }: ChainReader, address: Address): Promise<StablecoinDomain> {
  const read = <T>(functionName: 'name' | 'version' | 'decimals') =>
    chainCall(`Reading ${functionName} of the stablecoin`, () =>
      client.readContract({ address, abi: stablecoinAbi, functionName }),
    ) as Promise<T>;
  try {
    const [name, version, decimals] = await Promise.all([read<string>('name'), read<string>('version'), read<number>('decimals')]);
    if (decimals === STABLECOIN_DECIMALS) return { name, version };
    throw unusableStablecoinError(address, `it has ${decimals} decimals, and ${STABLECOIN_DECIMALS} are needed`);
  } catch (error) {
    if (isOracleError(error, 'CHAIN_REVERTED')) throw unusableStablecoinError(address, 'it has no name, version or decimals', error);
    throw error;
  }
}

function unusableStablecoinError(address: Address, problem: string, cause?: unknown): OracleError {
  return new OracleError('CONFIG_INVALID', `Setting STABLECOIN_ADDRESS: payments cannot be taken in ${address}: ${problem}`, {
    field: 'STABLECOIN_ADDRESS',
    suggestedAction: 'Set STABLECOIN_ADDRESS to the USDC of the chain, or another EIP-3009 coin with six decimals.',
    cause,
  });
}

export interface ClaimedPayer {
  wallet: Address;
  /** The wallet's key signed the payment; otherwise any client may have named the wallet. */
  isProven: boolean;
}

/**
 * Transfers of the stablecoin with the nonce of their EIP-3009 authorization, null without one. An authorization's transfer is the first of its
 * signer after its `AuthorizationUsed`: each counts for its own one only.
 */
export function parseStablecoinTransfers(logs: readonly Pick<Log, 'address' | 'topics' | 'data'>[], asset: Address) {
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
