import { type Address, concatHex, encodeFunctionData, erc20Abi, formatGwei, keccak256, slice, toHex } from 'viem';
import type { Chain } from '../chain/client.ts';
import type { SignedHash } from '../chain/contracts.ts';
import { chainCall, chainCallWithin, withChainTimeout } from '../chain/rpc.ts';
import { readL1DataFee } from '../chain/wallet.ts';
import { isOracleError, toPublicReason } from '../errors.ts';
import type { Ledger } from './ledger.ts';
import {
  type ClosedChannels,
  type MerchantConfig,
  OFFERINGS,
  type ReadForecastTerms,
  type RequireSalesOpen,
  type SignatureRule,
} from './offerings.ts';
import type { SignReceipt } from './receipts.ts';
import { type FacilitatorEndpoint, requireFacilitatorSupport } from './x402/facilitator.ts';
import type { SalesService } from './x402/sales.ts';

export interface Commerce {
  ledger: Ledger;
  merchant: MerchantConfig;
  signReceipt: SignReceipt;
  receiptSigner: Address;
  sales: SalesService;
  /** Remote x402 facilitator; null when this process settles payments. */
  facilitatorUrl: string | null;
  /** Whether a wallet signed a hash. @throws OracleError CHAIN_UNREACHABLE */
  isSignedBy(signed: SignedHash): Promise<boolean>;
  purchaseSignatures: SignatureRule;
  closed: ClosedChannels;
  requireOpen: RequireSalesOpen;
  readForecastTerms: ReadForecastTerms;
}

interface PaymentHealthDeps {
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

/** By gas at a price of the chain's currency, null where it is not known, or by the fee of a hosted facilitator in millionths of a dollar. */
export type SettlementPricing = { currencyUsd: number | null; isAssumed: boolean } | { feeMicros: bigint | null };

/** As long as the calldata of `transferWithAuthorization`, and not compressible: the data fee is not underestimated. */
const SETTLEMENT_DATA = slice(concatHex(Array.from({ length: 10 }, (_, index) => keccak256(toHex(index)))), 0, 292);
const WEI_PER_ETHER = 10n ** 18n;

/** An unreachable chain leaves the cost unknown. */
export async function readSettlementCost(chain: Chain, pricing: SettlementPricing) {
  const isHosted = 'feeMicros' in pricing;
  const feeDetail = isHosted && pricing.feeMicros === null ? 'X402_FACILITATOR_FEE_USD is unset' : 'the fee of the hosted facilitator';
  const { costMicros, detail } = isHosted ? { costMicros: pricing.feeMicros, detail: feeDetail } : await readGasCost(chain, pricing);
  return {
    settledBy: isHosted ? ('facilitator' as const) : ('service' as const),
    costMicros: costMicros === null ? null : Number(costMicros),
    /** How the cost follows, or why it is not known. */
    detail,
    margins: OFFERINGS.filter(({ channel }) => channel === 'x402').map(({ name, price }) => ({
      offering: name,
      priceMicros: Number(price.amount),
      marginMicros: costMicros === null ? null : Number(price.amount - costMicros),
    })),
  };
}

async function readGasCost({ client }: Chain, { currencyUsd, isAssumed }: { currencyUsd: number | null; isAssumed: boolean }) {
  if (currencyUsd === null) return { costMicros: null, detail: "CHAIN_CURRENCY_USD is unset, and a local chain's gas costs nothing" };
  try {
    const [gasPrice, dataFee] = await withChainTimeout(READ_TIMEOUT_MS, 'Reading the fees of a settlement', () =>
      Promise.all([chainCall('Reading the gas price', () => client.getGasPrice()), readL1DataFee(client, SETTLEMENT_DATA)]),
    );
    const microsPerEther = BigInt(currencyUsd) * 1_000_000n;
    const costMicros = ((GAS_PER_PAYMENT * gasPrice + dataFee) * microsPerEther + WEI_PER_ETHER - 1n) / WEI_PER_ETHER;
    const price = `ether at ${currencyUsd} USD${isAssumed ? ', assumed as CHAIN_CURRENCY_USD is unset' : ''}`;
    const gas = `${GAS_PER_PAYMENT.toLocaleString('en-US')} gas at ${formatGwei(gasPrice)} gwei and ${formatGwei(dataFee)} gwei for data`;
    return { costMicros, detail: `${gas}, ${price}` };
  } catch (error) {
    return { costMicros: null, detail: toPublicReason(error) };
  }
}
