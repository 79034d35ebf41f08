import { type Address, encodeFunctionData, erc20Abi } from 'viem';
import type { Chain } from '../chain/client.ts';
import { chainCallWithin } from '../chain/rpc/time-limit.ts';
import { isOracleError, toPublicReason } from '../platform/errors.ts';
import type { FacilitatorEndpoint } from './x402/settlement/facilitator-endpoint.ts';
import { requireFacilitatorSupport } from './x402/settlement/facilitator-support.ts';

export interface PaymentHealthDeps {
  chain: Chain;
  payee: Address;
  /** A remote facilitator, or the address of our own. */
  facilitator: FacilitatorEndpoint | { address: Address };
}

/** Whether payments can be settled (`facilitator`) and received (`payee`). */
export interface PaymentCheck {
  name: 'facilitator' | 'payee';
  ok: boolean;
  detail: string;
}

const READ_TIMEOUT_MS = 3_000;
const GAS_PER_PAYMENT = 86_000n;
const MIN_PAYMENTS = 100n;

/** Public: balances and addresses of the facilitator are left out, as its transactions show which payments were settled. */
export function checkPayments(deps: PaymentHealthDeps): Promise<PaymentCheck[]> {
  return Promise.all([runCheck('facilitator', () => checkFacilitator(deps)), runCheck('payee', () => checkPayee(deps))]);
}

async function runCheck(name: PaymentCheck['name'], check: () => Promise<Omit<PaymentCheck, 'name'>>): Promise<PaymentCheck> {
  try {
    return { name, ...(await check()) };
  } catch (error) {
    return { name, ok: false, detail: toPublicReason(error) };
  }
}

async function checkFacilitator({ chain, facilitator }: PaymentHealthDeps) {
  if ('url' in facilitator) {
    await requireFacilitatorSupport(facilitator, chain.chainId);
    return { ok: true, detail: 'a remote facilitator settles on this chain' };
  }
  const { client } = chain;
  const [balance, gasPrice] = await chainCallWithin(READ_TIMEOUT_MS, 'Reading the funds of the facilitator', () =>
    Promise.all([client.getBalance({ address: facilitator.address }), client.getGasPrice()]),
  );
  const ok = balance >= MIN_PAYMENTS * GAS_PER_PAYMENT * gasPrice;
  return { ok, detail: ok ? 'the service settles payments itself' : `has gas for fewer than ${MIN_PAYMENTS} payments` };
}

/** Some coins refuse transfers to addresses that they have blocked. */
async function checkPayee({ chain, payee }: PaymentHealthDeps) {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [payee, 0n] });
  try {
    await chainCallWithin(READ_TIMEOUT_MS, 'Simulating a transfer to the payee', () =>
      chain.client.call({ account: payee, to: chain.addresses.stablecoin, data }),
    );
    return { ok: true, detail: 'the stablecoin can be transferred to it' };
  } catch (error) {
    if (!isOracleError(error, 'CHAIN_REVERTED')) throw error;
    return { ok: false, detail: 'the stablecoin refuses a transfer to it' };
  }
}
