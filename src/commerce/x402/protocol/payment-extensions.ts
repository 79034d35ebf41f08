import { BAZAAR, type BazaarDeclaration } from './bazaar.ts';

/** Extension of the quote: an optional id of the client, 16 to 128 characters, that entitles it to the stored answer. */
export const PAYMENT_IDENTIFIER = 'payment-identifier';
export const PAYMENT_ID_PATTERN = /^[a-zA-Z0-9_-]{16,128}$/;

/** What extensions declare of a quote. */
export interface ExtensionSource {
  /** Unset for what no facilitator lists. */
  bazaar?: BazaarDeclaration;
}

/** `extensions` of a 402, an entry each. Clients read them from a header: keep them short. */
export function buildPaymentExtensions({ bazaar }: ExtensionSource): Record<string, unknown> {
  return {
    [PAYMENT_IDENTIFIER]: PAYMENT_IDENTIFIER_DECLARATION,
    ...(bazaar === undefined ? {} : { [BAZAAR]: bazaar }),
  };
}

const PAYMENT_IDENTIFIER_DECLARATION = {
  info: { required: false },
  schema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      required: { type: 'boolean' },
      id: { type: 'string', minLength: 16, maxLength: 128, pattern: PAYMENT_ID_PATTERN.source },
    },
    required: ['required'],
  },
};
