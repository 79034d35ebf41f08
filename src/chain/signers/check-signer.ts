import { type Address, type TransactionSerializableEIP1559, type TypedDataDefinition, zeroHash } from 'viem';
import type { RoleSigner } from './role-signer.ts';

/**
 * Has a signer sign what its role will need, so that a missing permission, another chain id or an unsupported method shows at the start and
 * not at the first sale. Nothing of it is of use to a finder. @throws OracleError SIGNER_UNAVAILABLE
 */
export async function checkSigner({ role, account, ping }: RoleSigner, chainId: number): Promise<void> {
  if (ping === null) return;
  await account.signTransaction(buildUselessTransaction(account.address, chainId));
  if (role === 'provider') await account.signTypedData(buildUselessTypedData(account.address, chainId));
}

/** Never valid before 2^53 others of the wallet, and of no effect then. */
function buildUselessTransaction(to: Address, chainId: number): TransactionSerializableEIP1559 {
  const fees = { gas: 21_000n, maxFeePerGas: 1n, maxPriorityFeePerGas: 1n };
  return { type: 'eip1559', chainId, nonce: Number.MAX_SAFE_INTEGER, to, data: '0x', value: 0n, ...fees };
}

/** The types of a receipt's fields, under a name that no program reads. */
function buildUselessTypedData(payer: Address, chainId: number): TypedDataDefinition {
  return {
    domain: { name: 'Bitcoin Signal Oracle signer check', version: '1', chainId },
    types: {
      SignerCheck: [
        { name: 'payer', type: 'address' },
        { name: 'amount', type: 'uint256' },
        { name: 'resource', type: 'string' },
        { name: 'answerHash', type: 'bytes32' },
        { name: 'settledAt', type: 'uint64' },
      ],
    },
    primaryType: 'SignerCheck',
    message: { payer, amount: 0n, resource: '', answerHash: zeroHash, settledAt: 0n },
  };
}
