import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { HORIZON_NAMES } from '../../../forecast/horizon-input.ts';
import { isOracleError, OracleError } from '../../../platform/errors.ts';
import { formatStartupStep } from '../../../platform/startup/startup-progress.ts';
import { UsageError } from '../../../platform/usage-error.ts';
import { JSON_OPTION, type ServiceValues, TOKEN_OPTION, URL_OPTION } from '../arguments.ts';
import { EXIT, type SvcCommand } from '../command.ts';
import type { CliContext } from '../context.ts';
import { formatJson, printNotice, wantsJson } from '../print.ts';
import { hasKeyOption, KEY_OPTIONS, type KeyOptions } from '../secrets/keys.ts';
import { createLoginTokenSource } from '../secrets/token-source.ts';
import { queryService, resolveServiceUrl, resolveToken } from '../service-request.ts';
import { createTerminalWriter, sanitizeLine } from '../text/style.ts';
import { formatEventLine } from '../watch/event-line.ts';
import { type FollowStreamOptions, followStream } from '../watch/follow.ts';

/** Interface, section 6.1. */
const RECONNECT_MS = 5_000;
const MAX_WAIT_MS = 3_600_000;
const TOKEN_ENDED_CODE = 4001;

interface WatchValues extends ServiceValues, KeyOptions {
  token?: string;
  since?: string;
  events?: string;
  horizon?: string;
}

const HEALTH = z.object({ setup: z.object({ what: z.string(), done: z.number().nullable(), total: z.number().nullable() }).nullable() });

/** Interface, section 6.1. */
export const watchCommand: SvcCommand<WatchValues> = {
  description: `One line an event on a terminal, one JSON document a line elsewhere. Ctrl-C ends it. It needs the Basic tier: with a key it renews its login by itself; with a token, or the token of svc login, it runs until the token expires.`,
  options: [
    ['--since <id>', 'also events after this one; 0: all of the last 90 days', parseEventId],
    ['--events <names>', 'such as signal.new,signal.resolved (default: all)'],
    [
      '--horizon <days>',
      'one, several such as 2d,7d, or all (default: 7d); events without a horizon are always printed',
      undefined,
      [...HORIZON_NAMES, 'all'],
    ],
    ...KEY_OPTIONS,
    URL_OPTION,
    TOKEN_OPTION,
    JSON_OPTION,
  ],
  footer: 'Example: svc watch --since 0 --events signal.resolved | jq -r .data.outcome',
  async run(context, { since, events, horizon: horizons, ...options }) {
    const url = await resolveServiceUrl(context, options.url);
    const asJson = wantsJson(context, options.json);
    const writer = createTerminalWriter(context.out, context);
    const signal = context.createInterruptSignal();
    const follow: FollowStreamOptions = {
      url,
      query: { since, events, horizons },
      ...(await createTokenSource(context, { ...options, url, signal })),
      onEvent: (event) => {
        context.out.write(`${asJson ? formatJson(context.out, event) : sanitizeLine(formatEventLine(event, writer))}\n`);
      },
      onConnected: () => void printStartupStep(url, context),
      onNotice: (text) => printNotice(context, text),
      signal,
    };
    return followUntilStopped(follow, context);
  },
};

function parseEventId(name: string, text: string): string {
  if (!/^\d{1,15}$/.test(text)) throw new UsageError(name, 'must be an event id, or 0');
  return text;
}

/** Explains the silence of a service that is starting: events of the replay are published when it is done. */
async function printStartupStep(url: string, context: CliContext): Promise<void> {
  const health = await queryService({ url, path: '/health', schema: HEALTH }).catch(() => null);
  const step = health === null ? null : formatStartupStep({ current: health.answer.setup });
  if (step !== null) printNotice(context, `the service is starting (${step}); its events follow when it is done`);
}

/** Reconnects until interrupted, except after an error that a retry would repeat. */
async function followUntilStopped(follow: FollowStreamOptions, context: CliContext): Promise<number> {
  const { signal } = follow;
  while (!signal.aborted) {
    const { message, waitMs } = await followStream(follow).then(
      ({ code, reason }) => {
        if (code === TOKEN_ENDED_CODE) follow.forgetToken();
        return { message: `closed: ${code} ${reason}`.trimEnd(), waitMs: RECONNECT_MS };
      },
      (error: unknown) => {
        if (signal.aborted) return { message: '', waitMs: 0 };
        const isPermanent = isOracleError(error) && !error.retryable;
        if (isPermanent && !(isOracleError(error, 'UNAUTHENTICATED') && follow.forgetToken())) throw error;
        return { message: formatConnectionError(error, follow.url), waitMs: getRetryDelayMs(error) };
      },
    );
    if (signal.aborted) break;
    printNotice(context, `${message}; again in ${waitMs / 1_000} s`);
    await delay(waitMs, undefined, { signal }).catch(() => {});
  }
  return EXIT.ok;
}

/** Retry-After of the service, at least 5 seconds and at most an hour. */
function getRetryDelayMs(error: unknown): number {
  const askedMs = isOracleError(error) ? (error.retryAfterSeconds ?? 0) * 1_000 : 0;
  return Math.min(MAX_WAIT_MS, Math.max(RECONNECT_MS, askedMs));
}

function formatConnectionError(error: unknown, url: string): string {
  if (isOracleError(error)) return `${error.code}: ${error.message}`;
  const { code } = error as { code?: unknown };
  return `no service answers at ${url} (${typeof code === 'string' ? code : 'no connection'})`;
}

type TokenSource = Pick<FollowStreamOptions, 'getToken' | 'renewToken' | 'forgetToken'>;
type TokenOptions = KeyOptions & Pick<FollowStreamOptions, 'url' | 'signal'> & { token?: string };

/** Logs in with a key whenever a token is needed; a given or stored token is used until it expires. */
async function createTokenSource(context: CliContext, { url, signal, ...options }: TokenOptions): Promise<TokenSource> {
  if (options.token === undefined && hasKeyOption(options, context)) {
    return createLoginTokenSource(context, { ...options, url, signal });
  }
  const readToken = async () => {
    const found = await resolveToken(context, url, options.token);
    if (found === undefined) throw new OracleError('UNAUTHENTICATED', `Not logged in at ${url}: events require the Basic tier`);
    return found;
  };
  let used = '';
  return {
    getToken: async () => {
      used = await readToken();
      return used;
    },
    // Another terminal may have stored a new login in the meantime.
    renewToken: async () => {
      const found = await readToken().catch(() => used);
      return found === used ? null : found;
    },
    forgetToken: () => false,
  };
}
