import type { Address } from 'viem';
import { formatMoney } from '../../money.ts';
import type { PaymentQuote } from './payment-quote.ts';

/** Problem of a payment and advice for its payer, as text. */
export interface RejectionAdvice {
  problem: string;
  action: string;
}

interface AdviceContext extends Pick<PaymentQuote, 'merchant' | 'requirements'> {
  /** E.g. `0.001 USD (1000 units)`. */
  price: string;
  /** Network names of both protocol versions. */
  chain: string;
  /** Null when the payment could not be parsed. */
  payer: Address | null;
}

/** Advice by reason of this service or of a facilitator; the first match decides. */
const ADVICE_BY_REASON: readonly (readonly [reason: RegExp, advice: (context: AdviceContext) => RejectionAdvice])[] = [
  [
    /too_costly/,
    () => ({
      problem: 'Its settlement needs more gas than the price covers: the signature check of the contract wallet is too expensive',
      action: 'Pay from a wallet of a key (EOA), or from a contract wallet with a cheaper check.',
    }),
  ],
  [/insufficient|balance/, insufficientBalanceAdvice],
  [
    /nonce|spent/,
    () => ({ problem: 'Its authorization was used or cancelled before', action: 'Sign a new authorization with a new nonce.' }),
  ],
  [
    /factory/,
    () => ({
      problem: 'The payer is a contract wallet that is not deployed yet',
      action: 'Deploy the wallet first, or pay from another wallet.',
    }),
  ],
  [/signature|domain|token_name|token_version/, wrongSignatureAdvice],
  [
    /valid_before|expired|expires/,
    ({ requirements: { maxTimeoutSeconds } }) => ({
      problem: 'The authorization has expired or is about to expire',
      action: `Sign a new authorization with a validBefore of ${maxTimeoutSeconds} seconds from now, in seconds since 1970.`,
    }),
  ],
  [
    /valid_after|not_yet/,
    () => ({ problem: 'The authorization is not valid yet', action: 'Sign one with validAfter 0, or a minute before your clock.' }),
  ],
  [
    /too_long/,
    ({ requirements: { maxTimeoutSeconds } }) => ({
      problem: 'The authorization is valid for too long',
      action: `Sign one with a validBefore of ${maxTimeoutSeconds} seconds from now, in seconds since 1970.`,
    }),
  ],
  [/network/, ({ chain }) => ({ problem: `The payment is not for ${chain}`, action: `Pay on ${chain} and name it as \`network\`.` })],
  [
    /asset|token/,
    ({ requirements: { asset, extra } }) => ({
      problem: `The payment is not in ${extra.name}`,
      action: `Pay in ${extra.name}, the contract ${asset}.`,
    }),
  ],
  [
    /recipient|payee/,
    ({ requirements: { payTo } }) => ({ problem: `The payee of the payment is not ${payTo}`, action: `Pay to ${payTo}.` }),
  ],
  [/amount|value/, ({ price }) => ({ problem: `The payment is not exactly ${price}`, action: `Authorize exactly ${price}.` })],
  [/scheme/, () => ({ problem: 'The payment does not use the scheme "exact"', action: 'Pay with the scheme "exact".' })],
];

/** Null for an unknown reason. @param reason of this service or verbatim of a facilitator */
export function getRejectionAdvice(
  reason: string,
  { merchant, requirements, requirementsV1, offering }: PaymentQuote,
  payer: Address | null,
): RejectionAdvice | null {
  const price = `${formatMoney(offering.price)} (${requirements.amount} units)`;
  const chain = requirementsV1 === null ? requirements.network : `${requirements.network} (${requirementsV1.network} in version 1)`;
  const [, advice] = ADVICE_BY_REASON.find(([pattern]) => pattern.test(reason)) ?? [];
  return advice?.({ merchant, requirements, price, chain, payer }) ?? null;
}

function insufficientBalanceAdvice({ requirements: { asset, extra, network }, price, payer }: AdviceContext): RejectionAdvice {
  const wallet = payer ?? 'The wallet';
  return {
    problem: `${wallet} holds less than ${price} of ${extra.name}`,
    action: `Send ${payer ?? 'it'} at least ${price} of ${extra.name} (${asset}) on ${network}, or pay from another wallet.`,
  };
}

function wrongSignatureAdvice({ requirements: { asset, extra }, merchant: { chainId }, payer }: AdviceContext): RejectionAdvice {
  const domain = `name "${extra.name}", version "${extra.version}", chainId ${chainId}, verifyingContract ${asset}`;
  return {
    problem: `The signature of this authorization is not from ${payer ?? 'the payer'}`,
    action: `Sign TransferWithAuthorization (EIP-712) under the domain ${domain}, with the key of authorization.from and exactly the values that you send.`,
  };
}
