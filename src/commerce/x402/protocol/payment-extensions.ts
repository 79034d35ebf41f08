import { OFFER_RECEIPT, type SignedOffer } from '../../receipts/offer-receipt.ts';
import { BAZAAR, type BazaarDeclaration } from './bazaar.ts';

/** An optional id of the client, 16 to 128 characters, that entitles it to the stored answer. */
export const PAYMENT_IDENTIFIER = 'payment-identifier';
export const PAYMENT_ID_PATTERN = /^[a-zA-Z0-9_-]{16,128}$/;

/** All extensions that quotes may declare. */
export const PAYMENT_EXTENSIONS = [PAYMENT_IDENTIFIER, BAZAAR, OFFER_RECEIPT] as const;

/** What the extensions of a quote declare. */
export interface QuotedExtensions {
  /** Unset for what no facilitator lists. */
  bazaar?: BazaarDeclaration;
  /** Null when it is not signed in time. */
  offer: SignedOffer | null;
}

/**
 * `extensions` of a 402, by name. PAYMENT-REQUIRED carries them in base64; Node's clients accept 16 kB of headers in all, and proxies by
 * default 4 kB. So a schema names the required members, and leaves their forms to the specification.
 */
export function buildPaymentExtensions({ bazaar, offer }: QuotedExtensions): Record<string, unknown> {
  return {
    [PAYMENT_IDENTIFIER]: PAYMENT_IDENTIFIER_DECLARATION,
    ...(bazaar === undefined ? {} : { [BAZAAR]: bazaar }),
    ...(offer === null ? {} : { [OFFER_RECEIPT]: declareOffer(offer) }),
  };
}

const JSON_SCHEMA = 'https://json-schema.org/draft/2020-12/schema';

const PAYMENT_IDENTIFIER_DECLARATION = {
  info: { required: false },
  schema: {
    $schema: JSON_SCHEMA,
    type: 'object',
    properties: {
      required: { type: 'boolean' },
      id: { type: 'string', minLength: 16, maxLength: 128, pattern: PAYMENT_ID_PATTERN.source },
    },
    required: ['required'],
  },
};

function declareOffer(offer: SignedOffer) {
  return {
    info: { offers: [offer] },
    schema: { $schema: JSON_SCHEMA, type: 'object', properties: { offers: { type: 'array' } }, required: ['offers'] },
  };
}
