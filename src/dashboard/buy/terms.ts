import { ApiProblem, fetchFromService, toApiProblem } from '../state/api.ts';
import type { ApiResponses } from '../state/responses.ts';

/** An accepted entry of `PAYMENT-REQUIRED` (x402 version 2), which is sent back unchanged. */
export interface AcceptedTerms {
  network: string;
  amount: string;
  asset: string;
  payTo: string;
  maxTimeoutSeconds: number;
  extra: { name: string; version: string };
}

export interface PaymentTerms {
  accepted: AcceptedTerms;
  resource: { url: string; description: string };
  /** Price in USD, an exact decimal. */
  usd: string;
  realMoney: boolean;
  /** An abstention is free. */
  freeHold: boolean;
}

/** A longer authorization would stay usable long after the sale. */
const MAX_VALIDITY_SECONDS = 600;

/** Path of the paid request, which also names the purchase. */
export function getPaidPath(horizonDays: number) {
  return `oracle?horizon=${horizonDays}d`;
}

/** The terms of the service's 402, if they are for its own stablecoin and chain. @throws {ApiProblem} */
export async function fetchTerms(
  path: string,
  { chain, contracts }: Pick<ApiResponses['info'], 'chain' | 'contracts'>,
): Promise<PaymentTerms> {
  const response = await fetchFromService(path, { headers: { accept: 'application/json' } });
  const answer = await response.json().catch(() => null);
  const header = response.headers.get('PAYMENT-REQUIRED');
  if (response.status !== 402 || header === null) throw toApiProblem(response, answer);
  const { resource, accepts } = decodeBase64(header);
  const accepted: AcceptedTerms = accepts[0];
  const isOwn = accepted.network === chain.caip2 && accepted.asset.toLowerCase() === contracts.stablecoin.toLowerCase();
  if (!isOwn || !(accepted.maxTimeoutSeconds <= MAX_VALIDITY_SECONDS)) {
    throw new ApiProblem({ code: 'UNEXPECTED', detail: 'The terms name another coin or chain than the service' });
  }
  const { usd, realMoney } = answer.payment;
  return { accepted, resource, usd, realMoney, freeHold: await isHoldFree() };
}

/** What the service publishes for payers. */
export async function fetchSeller(): Promise<{ freeHold: boolean; signer: string }> {
  const { resources, receipt } = await (await fetchFromService('.well-known/x402.json', {})).json();
  return { freeHold: resources.some((one: { freeHold: boolean }) => one.freeHold), signer: receipt.signer };
}

async function isHoldFree() {
  return (await fetchSeller().catch(() => null))?.freeHold ?? false;
}

function decodeBase64(text: string) {
  return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(text), (character) => character.charCodeAt(0))));
}
