import type { z } from 'zod';
import type { Caller } from '../../../auth/caller.ts';
import type { RequestContext } from '../../../auth/request-context.ts';
import type { Offering } from '../../../commerce/offerings.ts';
import type { ErrorCode } from '../../../platform/errors.ts';
import type { EncodedText } from './replies/encoded-text.ts';
import type { RequestSource } from './security/request-log.ts';

type Shape = z.ZodObject;

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** Who may call: anybody, a tier and all above it, whoever pays for this very answer, or the operator under HTTP Basic. */
export type AccessLevel = 'public' | 'basic' | 'premium' | 'paid' | 'admin';

/** What a request counts as: `rpc` for one that makes us call the chain, `free` for one that is never counted. */
export type Cost = 'normal' | 'rpc' | 'free';

/** Groups of the reference, in its order. */
export const TAGS = {
  signal: 'Signals, regimes and trade intents',
  record: 'The scorecard and what stands on chain',
  market: 'Market data, each with its source and age',
  crowd: 'Prediction markets, and how the oracle compares',
  'self-test': 'What the service finds out about itself: tests that could embarrass it, stored and told',
  access: 'Wallet login and session tokens',
  webhooks: 'Registered callbacks',
  commerce: 'Offerings, prices and what was earned',
  contest: 'Forecasting against the oracle, for points',
  reports: 'Daily and weekly reports',
  skills: 'What agents ask for, one call each, and as tasks',
  agent: 'Identity and reputation of this agent',
  service: 'State of the service and machine-readable descriptions',
  admin: "The operator's own",
} as const;

export type Tag = keyof typeof TAGS;

/** What a handler gets: parsed parameters, and who asks. */
export interface RouteInput<Params, Query, Body> {
  params: Params;
  query: Query;
  body: Body;
  /** The body of an operation that judges it by itself: whatever JSON was sent. */
  json: unknown;
  caller: Caller;
  /** The same, with what the request is counted against. */
  context: RequestContext;
  /** The `Accept` header; empty when there is none. */
  accept: string;
  source: RequestSource;
  /** A header by its name. */
  header(name: string): string | undefined;
  /** True for `HEAD`: the answer is made, and its body is not sent. */
  isHead: boolean;
}

/**
 * `body` is sent as JSON; `raw` as it is, under the `Content-Type` among the headers; `encoded` like `raw`, in the encoding that the
 * client accepts, under an `ETag` among the headers.
 */
export type Reply<B = unknown> = { status?: number; headers?: Record<string, string> } & (
  | { body: B }
  | { raw: string }
  | { encoded: EncodedText }
);

/** A further media type of the same resource. */
interface Alternative {
  description: string;
}

interface OtherReply {
  description: string;
  /** Unset: no body. */
  schema?: z.ZodType;
}

/** One operation: parsing, access, limits, the type of its answer and the reference all follow from it. Paths are written as in OpenAPI. */
export interface Route {
  method: Method;
  path: string;
  /** Unique: `operationId` in the reference. */
  name: string;
  tag: Tag;
  /** One sentence without a full stop. */
  summary: string;
  /** More, as Markdown. */
  description?: string;
  /** A WebSocket: whoever sends no handshake is told so, before he is asked who he is. */
  isWebSocket?: true;
  /** Kept for those who use it; its successor is named in the description. */
  deprecated?: boolean;
  access: AccessLevel;
  /** What an answer of a paid operation is sold as. */
  offering?: Offering;
  /** Of an operation for a tier: what buys a single answer without it. */
  boughtAs?: Offering | null;
  cost: Cost;
  params?: Shape;
  query?: Shape;
  body?: Shape;
  /** In place of `body`, of a protocol with its own words for what is wrong with it: told in the reference, judged by the handler. */
  json?: z.ZodType;
  /** What a problem document says besides its own members, from the body as it was sent. */
  problemMembers?(body: unknown): Record<string, unknown>;
  /** A request without any body is one with an empty object. */
  bodyOptional?: true;
  /** Status of success. */
  status: number;
  /** The JSON of success; null for an answer without one. */
  reply: z.ZodType | null;
  /** By media type, beside JSON or instead of it. */
  alternatives?: Record<string, Alternative>;
  /** By status, beside success and errors. */
  otherReplies?: Record<number, OtherReply>;
  /** Errors that follow from neither the parameters nor the access. */
  errors: readonly ErrorCode[];
  handle(input: RouteInput<Record<string, unknown>, Record<string, unknown>, Record<string, unknown>>): Promise<Reply> | Reply;
}

type Defaults = 'method' | 'access' | 'cost' | 'errors' | 'status';
type Typed = 'params' | 'query' | 'body' | 'reply' | 'handle';

/** Declares an operation; its handler is typed by its schemas. Unless told it is a public GET of normal cost that answers 200. */
export function route<
  P extends Shape = z.ZodObject,
  Q extends Shape = z.ZodObject,
  B extends Shape = z.ZodObject,
  R extends z.ZodType | null = z.ZodType,
>(
  definition: Omit<Route, Defaults | Typed> &
    Partial<Pick<Route, Defaults>> & {
      params?: P;
      query?: Q;
      body?: B;
      reply: R;
      handle(
        input: RouteInput<z.output<P>, z.output<Q>, z.output<B>>,
      ): Promise<Reply<R extends z.ZodType ? z.input<R> : never>> | Reply<R extends z.ZodType ? z.input<R> : never>;
    },
): Route {
  return { method: 'get', access: 'public', cost: 'normal', errors: [], status: 200, ...definition } as unknown as Route;
}
