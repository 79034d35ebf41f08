import type { z } from 'zod';
import type { RequestContext } from '../auth/auth.ts';
import type { Caller } from '../auth/caller.ts';
import type { Offering } from '../commerce/offerings.ts';
import type { ErrorCode } from '../errors.ts';
import type { Reply } from './replies.ts';
import type { RequestSource } from './request.ts';

type Shape = z.ZodObject;

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** `basic` and `premium`: this tier or above; `paid`: a payment with the request; `admin`: HTTP Basic. */
export type AccessLevel = 'public' | 'basic' | 'premium' | 'paid' | 'admin';

/** Rate limit of a request: `rpc` for one that calls the chain, `free` for an unmetered one. */
type Cost = 'normal' | 'rpc' | 'free';

/** Price of an answer that is computed already, in units of the rate limit. */
export const MEMOISED_UNITS = 0.1;

/** Tags of the OpenAPI document, in order. */
export const TAGS = {
  signal: 'Signals, regimes and trade intents',
  record: 'Scorecard and on-chain attestations',
  market: 'Market data with sources and ages',
  crowd: 'Prediction markets, and their comparison with the oracle',
  'self-test': 'Tests of the model and the service on themselves, with stored results',
  access: 'Wallet login and session tokens',
  webhooks: 'Webhooks',
  commerce: 'Offerings, prices and revenue',
  contest: 'Forecasting contest against the oracle, for points',
  reports: 'Daily and weekly reports',
  skills: 'Skills for agents, as calls and as tasks',
  agent: 'Identity and reputation of this agent',
  service: 'Status and machine-readable descriptions',
  admin: 'Operations of the operator',
} as const;

export type Tag = keyof typeof TAGS;

export interface RouteInput<Params, Query, Body> {
  params: Params;
  query: Query;
  body: Body;
  /** The unvalidated body of a route that declares `json`. */
  json: unknown;
  caller: Caller;
  context: RequestContext;
  /** The `Accept` header; empty when absent. */
  accept: string;
  source: RequestSource;
  header(name: string): string | undefined;
  isHead: boolean;
}

export interface Route {
  method: Method;
  /** In OpenAPI syntax. */
  path: string;
  /** `operationId`. */
  name: string;
  tag: Tag;
  /** One sentence without a full stop. */
  summary: string;
  /** Markdown. */
  description?: string;
  /** Answers 426 to a request without a handshake, before authentication. */
  isWebSocket?: true;
  /** The description names the successor. */
  deprecated?: boolean;
  access: AccessLevel;
  offering?: Offering;
  /** Offering that buys a single answer without the required tier. */
  boughtAs?: Offering | null;
  /** A caller without the required tier may pay `boughtAs` with the request: without a payment it gets the terms. */
  isSold?: boolean;
  cost: Cost;
  /** Units that a request takes of the limit of its address or wallet; 1 by default, a tenth at least. A unit is the work of reading a signal. */
  units?: number | undefined;
  /** Delivers what may be paid already: never shed under load. The limit of chain calls bounds such requests. */
  deliversPaid?: true;
  /** For the wallet itself, which grants access that lasts: an API key is rejected. */
  ownerOnly?: true;
  /** Rejects requests of pages of other origins, as their browser names them. */
  ownPagesOnly?: true;
  /** Each answer is made for its request alone, e.g. a nonce; those of other public reads may be sent again within a second. */
  isLive?: true;
  /**
   * The reply depends on URL, `Accept` and tier alone, apart from what `personalize` changes: callers of a tier share it for up to a second,
   * or until the record, the market or the minute changes (`state`). The handler gets a caller without a wallet, and must not read headers.
   */
  shared?: 'second' | 'state';
  /** The answer of this public operation changes with a token, e.g. values that are gated without one. */
  variesByCaller?: true;
  /** Replaces members of a shared body that are about the caller. */
  personalize?(body: object, caller: Caller): object;
  params?: Shape;
  query?: Shape;
  /** Of an address that others link to: unknown parameters are never taken for an attempt to page. */
  takesAnyQuery?: true;
  body?: Shape;
  /** In place of `body` where the handler validates, because its protocol has its own errors. */
  json?: z.ZodType;
  /** Extension members of a problem document, from the unvalidated body. */
  problemMembers?(body: unknown): Record<string, unknown>;
  /** A missing body is an empty object. */
  bodyOptional?: true;
  status: number;
  /** Schema of the JSON of success; null for a reply without JSON. */
  reply: z.ZodType | null;
  /** Further media types of success; without a schema they are text. */
  alternatives?: Record<string, { description: string; schema?: z.ZodType }>;
  /** Schema of errors, with any status, of an operation whose protocol has its own in place of problem documents. */
  protocolErrors?: z.ZodType;
  /** Replies besides success and errors, by status; without a schema they have no body. */
  otherReplies?: Record<number, { description: string; schema?: z.ZodType }>;
  /** Errors besides those that follow from parameters and access. */
  errors: readonly ErrorCode[];
  handle(input: RouteInput<Record<string, unknown>, Record<string, unknown>, Record<string, unknown>>): Promise<Reply> | Reply;
}

type Target = 'method' | 'path' | 'name';
type Defaults = 'access' | 'cost' | 'errors' | 'status';
type Typed = 'params' | 'query' | 'body' | 'reply' | 'handle';

/** Declares an operation, by default public, of normal cost, with status 200. The schemas type the handler. */
export function route<
  P extends Shape = z.ZodObject,
  Q extends Shape = z.ZodObject,
  B extends Shape = z.ZodObject,
  R extends z.ZodType | null = z.ZodType,
>(
  target: `${Uppercase<Method>} ${string}`,
  name: string,
  definition: Omit<Route, Target | Defaults | Typed> &
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
  const [method, path] = target.split(' ');
  return { method: method!.toLowerCase(), path, name, access: 'public', cost: 'normal', errors: [], status: 200, ...definition } as Route;
}
