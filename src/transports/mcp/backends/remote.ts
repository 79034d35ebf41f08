import { z } from 'zod';
import { renderMethodology } from '../../../../agent-card/documents/methodology.ts';
import { ENDPOINTS } from '../../../../agent-card/endpoints.ts';
import { findSkill, type SkillAnswer } from '../../../../skills/runner.ts';
import { PUBLIC_CALLER } from '../../../auth/caller.ts';
import { requireTier } from '../../../auth/tiers/tiers.ts';
import { formatSingleAnswerHint } from '../../../commerce/payment-instructions.ts';
import { isOracleError, OracleError } from '../../../platform/errors.ts';
import {
  isTokenRejected,
  parseServiceError,
  type ServiceRequest,
  type ServiceResponse,
  sendServiceRequest,
} from '../../../platform/service-client/service-client.ts';
import { getTraceHeaders } from '../../../platform/tracing/active-trace.ts';
import { parseInput } from '../../../platform/validation/parse-input.ts';
import { EXPECTED_RANGE } from '../../../record/schemas/expected-range.ts';
import { PUBLIC_SIGNAL } from '../../../record/schemas/signal.ts';
import type { McpBackend } from './backend.ts';

/** Above the time limit of a skill that reads the chain. */
const REQUEST_TIMEOUT_MS = 30_000;

export interface RemoteBackendOptions {
  url: string;
  /** Awaited before each request. @throws OracleError SERVICE_UNREACHABLE, STEP_WAITING */
  ready?(): Promise<void>;
  token?(): Promise<string | undefined>;
  /** Drops a rejected token. True if the next one may differ. */
  forgetToken?(): boolean;
  deadlineMs?: number;
}

type ServiceCall = Pick<ServiceRequest, 'path' | 'body'>;

export function createRemoteBackend(options: RemoteBackendOptions): McpBackend {
  return {
    async run(skillId, input) {
      const { id, tier, offering, input: known, output } = findSkill(skillId);
      const answer = await requestWithRetry(options, { path: `${ENDPOINTS.skills}/${id}`, body: input }).catch(async (error: unknown) => {
        const isInvalid = isOracleError(error, 'INPUT_INVALID');
        // This transport has no payments: where the service offers a sale, or rejects its input, a token is what is missing.
        const isSale = isOracleError(error, 'PAYMENT_REQUIRED') || (isInvalid && (await options.token?.()) === undefined);
        if (isSale && tier !== 'public') requireTier(PUBLIC_CALLER, tier, formatSingleAnswerHint(offering));
        // Local validation names the argument instead of the member of a request body.
        if (isInvalid) parseInput(known, input, { kind: 'input', root: 'input' });
        throw error;
      });
      return parseServiceAnswer(z.object({ output, text: z.string() }), answer, options.url) as SkillAnswer;
    },
    async publicSignal(horizon) {
      const answer = await requestWithRetry(options, { path: `/api/svc/open/signal?horizon=${horizon}` });
      return parseServiceAnswer(PUBLIC_SIGNAL, answer, options.url);
    },
    async expectedRange(horizon) {
      const answer = await requestWithRetry(options, { path: `/api/svc/open/range?horizon=${horizon}` });
      return parseServiceAnswer(EXPECTED_RANGE, answer, options.url);
    },
    methodology: renderMethodology({ publicUrl: options.url }),
  };
}

/** Retries once with another token. Without one, the service has answered public operations as for an anonymous client. */
async function requestWithRetry(options: RemoteBackendOptions, call: ServiceCall): Promise<unknown> {
  const first = await requestOnce(options, call);
  const isRejected = first.status === 401 || isTokenRejected(first);
  const answer = isRejected && options.forgetToken?.() === true ? await requestOnce(options, call) : first;
  if (answer.status < 300 && answer.body !== undefined) return answer.body;
  throw parseServiceError(answer, options.url);
}

async function requestOnce(
  { url, ready, token, deadlineMs = REQUEST_TIMEOUT_MS }: RemoteBackendOptions,
  call: ServiceCall,
): Promise<ServiceResponse> {
  await ready?.();
  return sendServiceRequest({ ...call, url, token: await token?.(), headers: { ...getTraceHeaders() }, deadlineMs });
}

/** Strips fields that the schema does not declare, and keeps the order of the service. */
function parseServiceAnswer<T extends z.ZodType>(schema: T, answer: unknown, url: string): z.output<T> {
  const { success, data, error } = schema.safeParse(answer);
  if (success) return restoreFieldOrder(data, answer) as z.output<T>;
  const suggestedAction = 'Use the version of this program that belongs to the service.';
  throw new OracleError('INTERNAL', `The service at ${url} answers in a form that is not known here`, { suggestedAction, cause: error });
}

/** zod returns fields in the order of the schema; answers must equal those over HTTP. */
function restoreFieldOrder(value: unknown, sent: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item, index) => restoreFieldOrder(item, (sent as unknown[])[index]));
  const known = value as Record<string, unknown>;
  const all = sent as Record<string, unknown>;
  const names = new Set([...Object.keys(all).filter((name) => Object.hasOwn(known, name)), ...Object.keys(known)]);
  return Object.fromEntries([...names].map((name) => [name, restoreFieldOrder(known[name], all[name])]));
}
