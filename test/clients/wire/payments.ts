import type { Exchange } from './wire.ts';

/** What was signed, whatever the interface and the version of the protocol. */
export interface WirePayment {
  payload: { signature: string; authorization: { from: string; to: string; value: string; nonce: string } };
}

type Json = Record<string, unknown>;

const HEADERS = ['payment-signature', 'x-payment'];

/** The payment of a request, or undefined. */
export function readPayment({ headers, body }: Pick<Exchange, 'headers' | 'body'>): WirePayment | undefined {
  const header = HEADERS.map((name) => headers[name]).find((value) => value !== undefined);
  if (header !== undefined) return decodeHeader(header) as unknown as WirePayment;
  return (findMember(parseOrNull(body), 'x402/payment') ?? findMember(parseOrNull(body), 'x402.payment.payload')) as
    | WirePayment
    | undefined;
}

/** The settlement in a header, whole: clients may hand on a part of it. */
export function readSettlementHeader({ responseHeaders }: Exchange): Json | null {
  const header = responseHeaders['payment-response'] ?? responseHeaders['x-payment-response'];
  return header === undefined ? null : decodeHeader(header);
}

/** The service's error code for a rejected payment; HTTP and MCP use those of x402, A2A those of its extension. */
export function readRejection({ status, responseHeaders, responseBody }: Exchange): string | null {
  const header = responseHeaders['payment-required'];
  if (status === 402 && header !== undefined) return String(decodeHeader(header).error);
  const body = parseBody(responseBody);
  const a2a = findMember(body, 'x402.payment.error');
  if (a2a !== undefined) return String(a2a);
  const result = findMember(body, 'result') as { isError?: boolean; content?: { text: string }[] } | undefined;
  if (result?.isError !== true) return null;
  return String(parseOrNull(result.content![0].text)?.error);
}

/** Lets the client see half of the price, as after a price that has doubled meanwhile. */
export function halvePrice(exchange: Exchange): Exchange {
  const { responseHeaders, responseBody } = exchange;
  const header = responseHeaders['payment-required'];
  const required: Record<string, string> =
    header === undefined ? {} : { 'payment-required': encodeHeader(halveAmounts(decodeText(header))) };
  return { ...exchange, responseHeaders: { ...responseHeaders, ...required }, responseBody: halveAmounts(responseBody) };
}

/** Also in JSON that is text inside of JSON. */
function halveAmounts(text: string): string {
  const amounts = /(\\*"(?:amount|maxAmountRequired)\\*":\s*\\*")(\d+)/g;
  return text.replace(amounts, (_, name: string, units: string) => `${name}${BigInt(units) / 2n}`);
}

/** A JSON body, or the last event of an SSE stream. */
export function parseBody(text: string): Json | null {
  const events = [...text.matchAll(/^data: ?(\{.*)$/gm)];
  return parseOrNull(events.at(-1)?.[1] ?? text);
}

/** The first member of that name, at any depth. */
export function findMember(value: unknown, name: string): unknown {
  if (value === null || typeof value !== 'object') return undefined;
  if (name in value) return (value as Json)[name];
  for (const one of Object.values(value)) {
    const found = findMember(one, name);
    if (found !== undefined) return found;
  }
  return undefined;
}

function decodeHeader(value: string): Json {
  return JSON.parse(decodeText(value)) as Json;
}

function decodeText(value: string): string {
  return Buffer.from(value, 'base64').toString();
}

function encodeHeader(text: string): string {
  return Buffer.from(text).toString('base64');
}

function parseOrNull(text: string): Json | null {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}
