import { readFileSync } from 'node:fs';
import type { SkillsExtension } from '@modelcontextprotocol/server/ext/skills';
import { ENDPOINTS } from '../../agent-card/endpoints.ts';
import { buildSkillSample, type Skill, toSkillJsonSchema } from '../../skills/skill.ts';
import { formatTierRequirement } from '../auth/tiers.ts';
import { formatMoney } from '../commerce/offerings.ts';
import { type BazaarDeclaration, declareMcpTool } from '../commerce/x402/terms.ts';
import { APP_VIEWS, type AppView } from '../page/mcp-app.ts';
import { joinUrl } from '../platform/service-client.ts';
import type { McpFixtures } from './fixtures.ts';

export type TokenAdviceOptions = Pick<McpServerOptions, 'publicUrl' | 'accountUrl' | 'howToSendToken'>;

/** How to get an access token and where to send it. */
export function formatTokenAdvice({ publicUrl, accountUrl, howToSendToken }: TokenAdviceOptions): string {
  const login = joinUrl(publicUrl, '/api/svc/oracle/verify');
  const inAssistant = `In an assistant: ask the user to replace the address of this server by ${accountUrl}, which signs in with a wallet.`;
  return [
    ...(accountUrl === undefined ? [] : [inAssistant]),
    `A wallet that holds ${formatTierRequirement('basic')} makes an API key at ${joinUrl(publicUrl, '/access')}, or gets a token for 30 minutes from POST ${login}`,
    '(body: wallet, timestamp, and its signature of "Verify svc balance: <wallet>:<timestamp>").',
    howToSendToken ?? `Send it to ${joinUrl(publicUrl, ENDPOINTS.mcp)} as the header "Authorization: Bearer <token>".`,
  ].join(' ');
}

/** Members of `_meta` that this service reads and writes. */
export const META_KEYS = {
  /** In a tool: tier, price of a single answer, and the seconds for which an answer is fresh. */
  terms: 'bitcoin-signal-oracle/terms',
  /** In a result with `isError`: the client error, as in REST. */
  error: 'bitcoin-signal-oracle/error',
  ref: 'bitcoin-signal-oracle/ref',
  /** In a paid result: the settlement and the signed receipt. */
  receipt: 'bitcoin-signal-oracle/receipt',
  /** In a call, by the x402 transport for MCP: the payment payload. */
  payment: 'x402/payment',
  /** In a result, by the same transport: the settlement response. */
  paymentResponse: 'x402/payment-response',
  /** In a request, by the protocol (2026-07-28): W3C Trace Context. */
  traceparent: 'traceparent',
} as const;

/** Runs the handler of a message once it is admitted, unless its client has gone. @throws OracleError OVERLOADED, RATE_LIMITED */
export type AdmitMessage = <T>(message: { params?: unknown }, signal: AbortSignal, work: () => Promise<T>) => Promise<T>;

export interface HandledMessage {
  method: string;
  /** As named by a `tools/call`. */
  tool?: string;
  isError: boolean;
}

export interface McpServerOptions {
  version: string;
  /** Base URL under which clients reach the service. */
  publicUrl: string;
  /** Address at which assistants authorize by OAuth; unset: there is none. */
  accountUrl?: string;
  /** Instruction on where an access token goes. Default: as a request header. */
  howToSendToken?: string;
  /** Where single answers are paid for with x402. */
  payments: McpPayments;
  /** Documents in which hosts with MCP Apps show answers; unset: none is declared. */
  apps?: AppDocuments;
  /** The skill file; unset: the extension is not declared. */
  skillCatalog?: SkillsExtension;
  /** Tools, resources and prompts that the conformance suites call by name. */
  fixtures?: McpFixtures;
  /** Admits the work of each message. */
  admit?: AdmitMessage;
  /** Called when a message has been handled, or rejected. */
  observeMessage?(message: HandledMessage): void;
  /** Logs internal errors; the client receives none of their text. */
  onError?(error: unknown): void;
}

/** Where `npm run build:page` writes the documents. */
export const APP_FOLDER = new URL('../../dist/mcp-app/', import.meta.url);

/** HTML by view. */
export type AppDocuments = Readonly<Record<AppView, string>>;

export function getAppFileName(view: AppView): string {
  return `${view}.html`;
}

/** Undefined where they have not been built: tools then answer with text and data alone. */
export function readAppDocuments(folder: URL = APP_FOLDER): AppDocuments | undefined {
  try {
    const read = (view: AppView) => readFileSync(new URL(getAppFileName(view), folder), 'utf8');
    return Object.fromEntries(APP_VIEWS.map((view) => [view, read(view)])) as unknown as AppDocuments;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * `call`: single answers are paid for with the call. `elsewhere`: over HTTP only, as this connection carries no payment. `off`: nothing over
 * MCP names or takes payments (setting `MCP_PAYMENTS`).
 */
export type McpPayments = 'call' | 'elsewhere' | 'off';

/** Argument by which a client asks for payment requirements in place of the public part of an answer. */
export const ACCESS_ARGUMENT = 'access';

export const PAY = 'pay';

/** Price of a single answer, e.g. `0.001 USD`; null where none is sold. */
export function formatSinglePrice({ offering }: Pick<Skill, 'offering'>): string | null {
  return offering === null ? null : formatMoney(offering.price);
}

/** Null before the body is read, for a batch, and for an invalid one. */
export function getRpcId(body: unknown): string | number | null {
  const id = (body as { id?: unknown } | null | undefined)?.id;
  return typeof id === 'number' || (typeof id === 'string' && id.length <= 100) ? id : null;
}

/** A skill does not change within a process. */
const listings = new Map<string, BazaarDeclaration>();

/** How facilitators list the tool of a skill whose single answers are sold. */
export function getToolListing(skill: Skill): BazaarDeclaration {
  const known = listings.get(skill.id);
  if (known !== undefined) return known;
  const { id, summary, examples } = skill;
  const { properties, ...schema } = toSkillJsonSchema(skill.input, 'input');
  const inputSchema = { ...schema, properties: { ...(properties as object), [ACCESS_ARGUMENT]: { type: 'string', const: PAY } } };
  const tool = { toolName: id, description: summary, inputSchema, example: { ...examples[0].input, [ACCESS_ARGUMENT]: PAY } };
  const listing = declareMcpTool(tool, buildSkillSample(skill));
  listings.set(id, listing);
  return listing;
}
