import { z } from 'zod';
import { OracleError } from '../../../platform/errors.ts';
import { TICK_SIZES } from '../tick-price.ts';

const decimal = z.union([z.string().trim().min(1).transform(Number), z.number()]).pipe(z.number().nonnegative());
const level = z.object({ price: decimal.pipe(z.number().lte(1)), size: decimal });

export const bookResponse = z.object({
  asset_id: z.string(),
  bids: z.array(level),
  asks: z.array(level),
  min_order_size: decimal,
  tick_size: z.string().pipe(z.enum(TICK_SIZES)),
  neg_risk: z.boolean(),
});

/** `t`: tokens with their outcomes; `fd`: fee with its rate and exponent. */
export const marketInfoResponse = z.object({
  t: z.array(z.object({ t: z.string().min(1), o: z.string() })),
  fd: z.object({ r: z.number().nonnegative().optional(), e: z.number().nonnegative().optional() }).nullish(),
});

export const marketResponse = z.object({
  closed: z.boolean(),
  tokens: z.array(z.object({ outcome: z.string(), winner: z.boolean() })),
});

export const versionResponse = z.union([z.literal(2), z.literal(3)]);
export const credentialsResponse = z.object({ key: z.string().min(1), secret: z.string().min(1), passphrase: z.string().min(1) });
export const balanceResponse = z.object({ balance: z.string().regex(/^\d+$/, 'must be whole micros') });

export const postOrderResponse = z.object({
  success: z.boolean(),
  errorMsg: z.string().nullish(),
  orderID: z.string().nullish(),
  status: z.string().nullish(),
  makingAmount: z.string().nullish(),
  takingAmount: z.string().nullish(),
});

/** Empty for a finished order. */
export const orderResponse = z.union([
  z.object({ status: z.string(), size_matched: decimal }),
  z.literal('').transform(() => null),
  z.null(),
]);
const trade = z.object({ taker_order_id: z.string(), size: decimal, price: decimal, status: z.string() });
export const tradesResponse = z.object({ trades: z.array(trade), next_cursor: z.string().min(1) });

/** @throws OracleError FEED_INVALID with the path of the invalid field */
export function parseResponse<T>(what: string, schema: z.ZodType<T>, answer: unknown): T {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = [what, ...issue.path].join('.');
  throw invalidResponseError(field, issue.message);
}

export function invalidResponseError(field: string, problem: string): OracleError {
  return new OracleError('FEED_INVALID', `Polymarket: ${field}: ${problem}`, { field });
}
