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
import { orElse } from '../platform/errors.ts';
import type { ChainReader } from './rpc/blocks.ts';
import { getNodeMessage } from './rpc/chain-call.ts';
import { chainCallWithin } from './rpc/time-limit.ts';

export interface SignedHash {
  wallet: Address;
  /** `hashMessage(text)` (EIP-191) or `hashTypedData(data)` (EIP-712). */
  hash: Hex;
  signature: Hex;
}

/** Signature size limit in bytes: an ERC-6492 signature carries the deployment of its contract wallet. */
export const MAX_SIGNATURE_BYTES = 8_192;

/** Gas limit of one check. Covers passkey wallets and their deployment; bounds the node's cost of a contract that loops. */
const MAX_CHECK_GAS = 3_000_000n;
const CHECK_TIMEOUT_MS = 3_000;
/** Some accounts accept any signature from the zero address, the default `from` of a call, to allow fee estimates. */
const CALLER_ADDRESS: Address = '0x5165c0de00000000000000000000000000006492';

/** Messages of nodes that do not report a failure of the called code as a revert. */
const CODE_FAILURE_MESSAGE =
  /out of ?gas|invalid ?(fe)?opcode|invalid jump|opcode not found|stack ?(under|over)flow|evm ?error|create collision/;

/**
 * Signatures of an EOA are recovered locally; any other is checked on chain for contract wallets (EIP-1271) and counterfactual ones
 * (ERC-6492). @throws OracleError CHAIN_UNREACHABLE when the chain was needed: the signature is then neither valid nor invalid.
 */
export async function isSignedBy(chain: ChainReader, signed: SignedHash, timeoutMs = CHECK_TIMEOUT_MS): Promise<boolean> {
  // `ecrecover` returns the zero address for an invalid signature, so any signature would pass for it.
  if (isAddressEqual(signed.wallet, zeroAddress)) return false;
  if (await isRecoveredSigner(signed)) return true;
  const checked = chainCallWithin(timeoutMs, 'Checking the signature', (signal) => validateOnChain(chain, signed, signal));
  return checked.catch(orElse('CHAIN_REVERTED', false));
}

async function isRecoveredSigner({ wallet, hash, signature }: SignedHash): Promise<boolean> {
  try {
    return isAddressEqual(await recoverAddress({ hash, signature }), wallet);
  } catch {
    // Not an ECDSA signature; a contract wallet may still accept it.
    return false;
  }
}

/** Runs the universal validator as a simulated contract creation, so that nothing needs to be deployed. */
async function validateOnChain({ client }: ChainReader, { wallet, hash, signature }: SignedHash, signal: AbortSignal): Promise<boolean> {
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
