import { x402Facilitator } from '@x402/core/facilitator';
import type { FacilitatorEvmSigner } from '@x402/evm';
import { registerExactEvmScheme } from '@x402/evm/exact/facilitator';
import { type Abi, type Address, encodeFunctionData, type Hex, type PublicClient } from 'viem';
import type { Chain } from '../../chain/client.ts';
import { chainCall } from '../../chain/rpc-error.ts';
import { stablecoinAbi } from '../../chain/stablecoin.ts';
import type { Wallet } from '../../chain/wallet.ts';
import { isOracleError, type OracleError } from '../../errors.ts';
import { networkOf } from '../till.ts';
import type { Facilitator } from './facilitator.ts';
import type { Authorization, Payment } from './payload.ts';
import type { Requirements } from './terms.ts';
import { unconfirmed } from './wait.ts';

export interface LocalFacilitatorParts {
  chain: Chain;
  /** Of the role `facilitator`: pays the gas. */
  wallet: Wallet;
}

/** A transfer takes a tenth of it; the rest is for contract wallets that check a signature. We pay for it. */
const MAX_SETTLEMENT_GAS = 400_000n;

/** The transaction that settles an authorization; see `Wallet.send`. */
export function settlementKey({ from, nonce }: Pick<Authorization, 'from' | 'nonce'>): string {
  return `x402:${from}:${nonce}`;
}

/**
 * The x402 facilitator of this process: the library's rules, over our chain and a wallet that sends each settlement once, however
 * often it is asked for. The library takes a node that does not answer for a payment that is no good: what failed is kept and told.
 */
export function localFacilitator({ chain, wallet }: LocalFacilitatorParts): Facilitator {
  const open = (payment: Payment) => {
    const failures: OracleError[] = [];
    const facilitator = new x402Facilitator();
    registerExactEvmScheme(facilitator, { signer: signerFor({ chain, wallet, payment, failures }), networks: networkOf(chain) });
    return { facilitator, orThrow: () => throwFirst(failures) };
  };
  return {
    async verify(payment, requirements) {
      const { facilitator, orThrow } = open(payment);
      const { isValid, invalidReason } = await facilitator.verify(payment.payload, requirements);
      if (isValid) return null;
      orThrow();
      return invalidReason === UNEXPLAINED ? explained(chain, payment, requirements) : (invalidReason ?? 'invalid_payment');
    },
    async settle(payment, requirements) {
      const { facilitator, orThrow } = open(payment);
      const { success, transaction, errorReason } = await facilitator.settle(payment.payload, requirements);
      if (success) return { txHash: transaction as Hex };
      orThrow();
      // What was signed before, by a process that has died since, is refused as a second use.
      if (await wallet.isUnderWay(settlementKey(payment.authorization))) throw unconfirmed();
      return { refused: errorReason ?? 'settlement_failed' };
    },
  };
}

/** What the library says where it cannot tell why: it asks a contract that not every chain has. */
const UNEXPLAINED = 'invalid_exact_evm_transaction_simulation_failed';

async function explained({ client }: Chain, { authorization }: Payment, { asset, amount }: Requirements): Promise<string> {
  const { from, nonce } = authorization;
  const call = { address: asset as Address, abi: stablecoinAbi } as const;
  const [balance, isUsed] = await chainCall('Looking into a payment', () =>
    Promise.all([
      client.readContract({ ...call, functionName: 'balanceOf', args: [from] }),
      client.readContract({ ...call, functionName: 'authorizationState', args: [from, nonce] }),
    ]),
  );
  if (isUsed) return 'invalid_exact_evm_nonce_already_used';
  return balance < BigInt(amount) ? 'invalid_exact_evm_insufficient_balance' : UNEXPLAINED;
}

interface SignerParts extends LocalFacilitatorParts {
  payment: Payment;
  failures: OracleError[];
}

/** What the library asks and sends for one payment. */
function signerFor({ chain, wallet, payment, failures }: SignerParts): FacilitatorEvmSigner {
  const { client } = chain;
  const noted = async <T>(what: string, call: () => Promise<T>): Promise<T> => {
    try {
      return await chainCall(what, call);
    } catch (error) {
      if (isOracleError(error) && error.code !== 'CHAIN_REVERTED') failures.push(error);
      throw error;
    }
  };
  const send = async (to: Address, data: Hex): Promise<Hex> =>
    (
      await noted('Settling a payment', () =>
        wallet.send({ key: settlementKey(payment.authorization), to, data, maxGas: MAX_SETTLEMENT_GAS }),
      )
    ).hash;
  return {
    getAddresses: () => [wallet.address],
    // As the next block would take it: the newest one of a chain that is not busy may be older than what was signed.
    readContract: (call) =>
      noted('Checking a payment', () =>
        client.readContract({ ...call, blockTag: 'pending' } as Parameters<PublicClient['readContract']>[0]),
      ),
    verifyTypedData: (data) =>
      noted('Checking a signature', () => client.verifyTypedData(data as Parameters<PublicClient['verifyTypedData']>[0])),
    getCode: ({ address }) => noted('Reading the code of a payer', () => client.getCode({ address })),
    writeContract: ({ address, abi, functionName, args }) => send(address, encodeFunctionData({ abi: abi as Abi, functionName, args })),
    sendTransaction: ({ to, data }) => send(to, data),
    waitForTransactionReceipt: ({ hash }) => noted('Reading a receipt', () => client.getTransactionReceipt({ hash })),
  };
}

function throwFirst([failure]: readonly OracleError[]): void {
  if (failure !== undefined) throw failure;
}
