import { HOUR_MS } from '../../../src/forecast/day.ts';
import type { Cell, Row } from '../rows/row.ts';
import { halvePrice, readPayment, readRejection } from '../wire/payments.ts';
import type { World } from '../world/world.ts';
import { attempt } from './attempt.ts';

interface Rejection {
  /** Of x402 (HTTP, MCP) and of the A2A extension. */
  codes: readonly string[];
  options: Parameters<typeof attempt>[2];
}

export const REJECTIONS = {
  'no funds': { codes: ['insufficient_funds', 'INSUFFICIENT_FUNDS'], options: { funds: 0n } },
  'wrong amount': {
    codes: ['invalid_exact_evm_payload_authorization_value_mismatch', 'INVALID_AMOUNT'],
    options: { edit: halvePrice },
  },
  expired: {
    codes: ['invalid_exact_evm_payload_authorization_valid_before', 'EXPIRED_PAYMENT'],
    options: { clockBehindMs: HOUR_MS },
  },
} as const satisfies Record<string, Rejection>;

/** The service rejects the payment with the code that clients branch on, or the client does not send it; the wallet pays nothing. */
export async function expectRejection(row: Row, world: World, name: keyof typeof REJECTIONS): Promise<Cell> {
  const { codes, options } = REJECTIONS[name];
  const { error, exchanges, spent } = await attempt(row, world, options);
  if (error === null || spent !== 0n) throw new Error(`it was accepted, for ${spent} units`);
  const rejected = exchanges.findLast((exchange) => readPayment(exchange) !== undefined);
  if (rejected === undefined) return { text: 'not sent', ok: true, note: `the client: ${toMessage(error)}` };
  const code = readRejection(rejected);
  if (!(codes as readonly (string | null)[]).includes(code)) throw new Error(`the code is ${code}`);
  return { text: 'refused', ok: true, note: code! };
}

function toMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
