import {
  type Address,
  encodeDeployData,
  erc6492SignatureValidatorAbi,
  erc6492SignatureValidatorByteCode,
  type Hex,
  isAddressEqual,
  recoverAddress,
  zeroAddress,
} from 'viem';
import { isOracleError } from '../platform/errors.ts';
import type { Chain } from './client.ts';
import { chainCall, getNodeMessage } from './rpc/chain-call.ts';
import { withChainTimeout } from './rpc/time-limit.ts';

export interface SignedHash {
  wallet: Address;
  /** What was signed: `hashMessage(text)` of a text (EIP-191), `hashTypedData(data)` of typed data (EIP-712). */
  hash: Hex;
  signature: Hex;
}

/** Longest signature that is looked at, in bytes: one of a contract that is yet to be deployed carries its creation (ERC-6492). */
export const MAX_SIGNATURE_BYTES = 8_192;

/** Gas of one check, chosen for passkey wallets and their deployment: a contract that never ends costs the node no more. */
const MAX_CHECK_GAS = 3_000_000n;

/** Milliseconds for one check, its requests to the node included. */
const CHECK_TIMEOUT_MS = 3_000;

/** Some accounts take any signature from the zero address, which calls come from unless told, to let fees be estimated. */
const CALLER_ADDRESS: Address = '0x5165c0de00000000000000000000000000006492';

/** Failures of the code that was called, in the words of nodes that do not mark them as reverts. */
const CODE_FAILURE_MESSAGE =
  /out of ?gas|invalid ?(fe)?opcode|invalid jump|opcode not found|stack ?(under|over)flow|evm ?error|create collision/;

/**
 * Whether a wallet signed a hash: a key's own wallet is recovered here; only where that is somebody else the chain is asked, for
 * contract wallets (EIP-1271) and those that are yet to be deployed (ERC-6492).
 * Where the chain is asked, the check is bounded in gas and in time.
 * @param timeoutMs for the whole check, in milliseconds
 * @throws OracleError CHAIN_UNREACHABLE when the chain was needed and did not answer in time: that says nothing about the signature.
 */
export async function isSignedBy(chain: Pick<Chain, 'client'>, signed: SignedHash, timeoutMs = CHECK_TIMEOUT_MS): Promise<boolean> {
  // The EVM's recovery answers with it for a signature that is none: what was burned would be anybody's.
  if (isAddressEqual(signed.wallet, zeroAddress)) return false;
  if (await isRecoveredSigner(signed)) return true;
  try {
    return await withChainTimeout(timeoutMs, CHAIN_CALL_LABEL, (signal) =>
      chainCall(CHAIN_CALL_LABEL, () => validateOnChain(chain, signed, signal)),
    );
  } catch (error) {
    if (isOracleError(error, 'CHAIN_REVERTED')) return false;
    throw error;
  }
}

async function isRecoveredSigner({ wallet, hash, signature }: SignedHash): Promise<boolean> {
  try {
    return isAddressEqual(await recoverAddress({ hash, signature }), wallet);
  } catch {
    // Not of the form of a key's signature: a contract may read it.
    return false;
  }
}

const CHAIN_CALL_LABEL = 'Checking the signature';

/** The universal validator runs as the creation of a contract that is never kept: nothing has to be deployed for it. */
async function validateOnChain(
  { client }: Pick<Chain, 'client'>,
  { wallet, hash, signature }: SignedHash,
  signal: AbortSignal,
): Promise<boolean> {
  const args = [wallet, hash, signature] as const;
  const data = encodeDeployData({ abi: erc6492SignatureValidatorAbi, bytecode: erc6492SignatureValidatorByteCode, args });
  try {
    const answer = await client.call({ account: CALLER_ADDRESS, data, gas: MAX_CHECK_GAS, requestOptions: { signal } });
    return answer.data === '0x01';
  } catch (error) {
    if (CODE_FAILURE_MESSAGE.test(getNodeMessage(error))) return false;
    throw error;
  }
}
