import { type SendMessageRequest, type Task, TaskState } from '@a2a-js/sdk';
import { EXTENSION_URIS } from '../../../agent-card/card.ts';
import { a2aClientAt } from '../a2a/a2a-client.ts';
import { asHeader, readHeader } from '../commerce/payments.ts';
import { MCP_CLIENTS } from '../mcp/mcp.ts';
import { dataPart, findContent, messageOf } from './a2a.ts';

// biome-ignore lint/suspicious/noExplicitAny: payments and terms are what is tested
type Loose = any;

/** What a call with a payment came to. */
export interface PaidOutcome {
  /** Null for an answer. */
  error: { code: string; field: string | null; message: string; suggestedAction: string } | null;
  output: Record<string, unknown> | null;
  /** `SettlementResponse` of x402; null without a charge. */
  settlement: Loose;
  receipt: Loose;
}

export interface PayableCall {
  input?: Record<string, unknown>;
  ref?: string;
}

/** One way to buy an answer of `predict_btc_direction`. */
export interface PayingClient {
  /** `PaymentRequired` of version 2. */
  terms(): Promise<Loose>;
  pay(payment: unknown, call?: PayableCall): Promise<PaidOutcome>;
  close(): Promise<void>;
}

const SKILL = 'predict_btc_direction';
/** REST has the message in `detail` (RFC 9457). */
const toError = ({ code, field, message, detail, suggestedAction }: Loose) => ({
  ...{ code, field: field ?? null },
  ...{ message: detail ?? message, suggestedAction },
});
const refused = (error: Loose): PaidOutcome => ({ error: toError(error), output: null, settlement: null, receipt: null });

export async function openPayingRest(url: string): Promise<PayingClient> {
  const post = (headers: Record<string, string>, { input = {}, ref }: PayableCall = {}) =>
    fetch(`${url}/api/svc/skills/${SKILL}${ref === undefined ? '' : `?ref=${encodeURIComponent(ref)}`}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(input),
    });
  return {
    terms: async () => readHeader((await post({})).headers.get('PAYMENT-REQUIRED')),
    async pay(payment, call) {
      const response = await post({ 'PAYMENT-SIGNATURE': asHeader(payment) }, call);
      const body: Loose = await response.json();
      if (!response.ok) return refused(body);
      return { error: null, output: body.output, settlement: readHeader(response.headers.get('PAYMENT-RESPONSE')), receipt: body.receipt };
    },
    close: async () => undefined,
  };
}

export async function openPayingMcp(url: string): Promise<PayingClient> {
  const client = await MCP_CLIENTS['2026-07-28'](url, {});
  const call = (input: Record<string, unknown>, meta?: Record<string, unknown>) =>
    client.callTool({ name: SKILL, arguments: input, ...(meta && { _meta: meta }) } as Loose);
  return {
    terms: async () => JSON.parse((await call({ access: 'pay' })).content[0].text),
    async pay(payment, { input = {}, ref } = {}) {
      const meta = { 'x402/payment': payment, ...(ref === undefined ? {} : { 'bitcoin-signal-oracle/ref': ref }) };
      const { isError, structuredContent, _meta } = await call(input, meta);
      if (isError === true) return refused(_meta['bitcoin-signal-oracle/error']);
      const { 'x402/payment-response': settlement, 'bitcoin-signal-oracle/receipt': sale } = _meta;
      return { error: null, output: structuredContent, settlement, receipt: sale.receipt };
    },
    close: () => client.close(),
  };
}

export const openPayingA2a =
  (binding: 'JSONRPC' | 'HTTP+JSON') =>
  async (url: string): Promise<PayingClient> => {
    const client = await a2aClientAt(url, binding);
    const send = async (request: SendMessageRequest) =>
      (await client.sendMessage(request, { serviceParameters: { 'A2A-Extensions': EXTENSION_URIS.x402 } })) as Task;
    const call = (input: Record<string, unknown>) => [dataPart({ skill: SKILL, input })];
    const metadataOf = ({ status }: Task) => status!.message!.metadata as Loose;
    return {
      terms: async () => metadataOf(await send(messageOf(call({}))))['bitcoin-signal-oracle/payment-required'],
      async pay(payment, { input = {}, ref } = {}) {
        const metadata = {
          'x402.payment.status': 'payment-submitted',
          'x402.payment.payload': payment,
          ...(ref === undefined ? {} : { 'bitcoin-signal-oracle/ref': ref }),
        };
        const task = await send(messageOf(call(input), { metadata })).catch((error: Loose) => error);
        if (task.status === undefined) return refused(task.metadata ?? task.data.find(({ metadata: found }: Loose) => found).metadata);
        if (task.status.state !== TaskState.TASK_STATE_COMPLETED) return refused(findContent(task.status.message.parts, 'data'));
        const said = metadataOf(task);
        return {
          error: null,
          output: findContent(task.artifacts[0].parts, 'data') as Record<string, unknown>,
          settlement: said['x402.payment.receipts'].at(-1),
          receipt: said['bitcoin-signal-oracle/receipt'].receipt,
        };
      },
      close: async () => undefined,
    };
  };

/** Every transport on which an answer of a skill is sold. */
export const PAYING_CLIENTS: Record<string, (url: string) => Promise<PayingClient>> = {
  REST: openPayingRest,
  MCP: openPayingMcp,
  'A2A JSON-RPC': openPayingA2a('JSONRPC'),
  'A2A HTTP+JSON': openPayingA2a('HTTP+JSON'),
};
