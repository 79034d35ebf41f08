import type { Address } from 'viem';
import { formatMoney } from '../../money.ts';
import { MAX_FACTORY_DATA_BYTES } from '../settlement/deployments/wallet-deployment.ts';
import type { PaymentQuote } from './payment-quote.ts';

interface AdviceContext extends Pick<PaymentQuote, 'merchant' | 'requirements'> {
  /** E.g. `0.001 USD (1000 units)`. */
  price: string;
  /** Network names of both protocol versions. */
  chain: string;
  /** Null when the payment could not be parsed. */
  payer: Address | null;
}

/** Advice by reason of this service or of a facilitator; the first match decides. */
function listAdvice({ merchant, requirements, price, chain, payer }: AdviceContext): [reason: RegExp, problem: string, action: string][] {
  const { asset, extra, network, payTo, maxTimeoutSeconds } = requirements;
  const validBefore = `with a validBefore of ${maxTimeoutSeconds} seconds from now, in seconds since 1970.`;
  const domain = `name "${extra.name}", version "${extra.version}", chainId ${merchant.chainId}, verifyingContract ${asset}`;
  const deployFirst = 'Deploy the wallet first, as its first transaction does, or pay from another wallet.';
  return [
    [/eip6492_deployment_too_costly/, 'The deployment of the wallet with its transfer needs more gas than the price covers', deployFirst],
    [/eip6492_factory_not_allowed/, 'The wallet is not deployed yet, and its factory is none that is called for payers here', deployFirst],
    [
      /eip6492_factory_data_too_large/,
      `The factory call in the signature (ERC-6492) has more than ${MAX_FACTORY_DATA_BYTES} bytes`,
      deployFirst,
    ],
    [/eip6492_unsupported/, 'The wallet is not deployed yet, and the facilitator of this service does not deploy wallets', deployFirst],
    [
      /eip6492_signature_invalid/,
      `The factory call in the signature (ERC-6492) does not deploy ${payer ?? 'the payer'}, or the wallet does not accept the signature in it`,
      `Sign TransferWithAuthorization (EIP-712) under the domain ${domain} as the wallet will check it, and wrap it with the factory call that creates authorization.from.`,
    ],
    [
      /too_costly/,
      'Its settlement needs more gas than the price covers: the signature check of the contract wallet is too expensive',
      'Pay from a wallet of a key (EOA), or from a contract wallet with a cheaper check.',
    ],
    [
      /insufficient|balance/,
      `${payer ?? 'The wallet'} holds less than ${price} of ${extra.name}`,
      `Send ${payer ?? 'it'} at least ${price} of ${extra.name} (${asset}) on ${network}, or pay from another wallet.`,
    ],
    [/nonce|spent/, 'Its authorization was used or cancelled before', 'Sign a new authorization with a new nonce.'],
    [/factory/, 'The payer is a contract wallet that is not deployed yet', 'Deploy the wallet first, or pay from another wallet.'],
    [
      /signature|domain|token_name|token_version/,
      `The signature of this authorization is not from ${payer ?? 'the payer'}`,
      `Sign TransferWithAuthorization (EIP-712) under the domain ${domain}, with the key of authorization.from and exactly the values that you send.`,
    ],
    [/valid_before|expired|expires/, 'The authorization has expired or is about to expire', `Sign a new authorization ${validBefore}`],
    [/valid_after|not_yet/, 'The authorization is not valid yet', 'Sign one with validAfter 0, or a minute before your clock.'],
    [/too_long/, 'The authorization is valid for too long', `Sign one ${validBefore}`],
    [/network/, `The payment is not for ${chain}`, `Pay on ${chain} and name it as \`network\`.`],
    [/asset|token/, `The payment is not in ${extra.name}`, `Pay in ${extra.name}, the contract ${asset}.`],
    [/recipient|payee/, `The payee of the payment is not ${payTo}`, `Pay to ${payTo}.`],
    [/amount|value/, `The payment is not exactly ${price}`, `Authorize exactly ${price}.`],
    [/scheme/, 'The payment does not use the scheme "exact"', 'Pay with the scheme "exact".'],
  ];
}

/** Null for an unknown reason. @param reason of this service or verbatim of a facilitator */
export function getRejectionAdvice(reason: string, quote: PaymentQuote, payer: Address | null): { problem: string; action: string } | null {
  const { merchant, requirements, requirementsV1, offering } = quote;
  const price = `${formatMoney(offering.price)} (${requirements.amount} units)`;
  const chain = requirementsV1 === null ? requirements.network : `${requirements.network} (${requirementsV1.network} in version 1)`;
  const found = listAdvice({ merchant, requirements, price, chain, payer }).find(([pattern]) => pattern.test(reason));
  return found === undefined ? null : { problem: found[1], action: found[2] };
}
