import { z } from 'zod';
import { renderMethodology } from '../../../../agent-card/documents/methodology.ts';
import { ENDPOINTS } from '../../../../agent-card/endpoints.ts';
import { findSkill, type SkillAnswer } from '../../../../skills/runner.ts';
import { isOracleError, OracleError } from '../../../platform/errors.ts';
import {
  isTokenRejected,
  parseServiceError,
  type ServiceRequest,
  type ServiceResponse,
  sendServiceRequest,
} from '../../../platform/service-client/service-client.ts';
import { parseInput } from '../../../platform/validation/parse-input.ts';
import { PUBLIC_SIGNAL } from '../../../record/schemas/signal.ts';
import type { McpBackend } from './backend.ts';

/** What a skill may take, the chain included, and some more. */
const REQUEST_TIMEOUT_MS = 30_000;

export interface RemoteBackendOptions {
  /** Where the service answers, without query and fragment. */
  url: string;
  /** Asked before each call: resolves once the service can answer. @throws OracleError SERVICE_UNREACHABLE, STEP_WAITING */
  ready?(): Promise<void>;
  /** Access token to call with; unset or undefined: as anybody. */
  token?(): Promise<string | undefined>;
  /** Forgets a token that the service refused. True where the next one may be another. */
  forgetToken?(): boolean;
  deadlineMs?: number;
}

type ServiceCall = Pick<ServiceRequest, 'path' | 'body'>;

/** What a running service tells, asked over HTTP by its own operations. */
export function createRemoteBackend(options: RemoteBackendOptions): McpBackend {
  return {
    async run(skillId, input) {
      const { id, input: known, output } = findSkill(skillId);
      const answer = await requestWithRetry(options, { path: `${ENDPOINTS.skills}/${id}`, body: input }).catch((error: unknown) => {
        // The same, in the words of a door that has no request bodies.
        if (isOracleError(error, 'INPUT_INVALID')) parseInput(known, input, { kind: 'input', root: 'input' });
        throw error;
      });
      return parseServiceAnswer(z.object({ output, text: z.string() }), answer, options.url) as SkillAnswer;
    },
    async publicSignal(horizon) {
      const answer = await requestWithRetry(options, { path: `/api/svc/open/signal?horizon=${horizon}` });
      return parseServiceAnswer(PUBLIC_SIGNAL, answer, options.url);
    },
    methodology: renderMethodology({ publicUrl: options.url }),
  };
}

/** A rejected token is replaced once where there may be another one; otherwise a public answer is that of an anonymous client. */
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
  return sendServiceRequest({ ...call, url, token: await token?.(), deadlineMs });
}

/** Nothing that the schema does not know goes on to the client; what it knows comes in the order in which it was sent. */
function parseServiceAnswer<T extends z.ZodType>(schema: T, answer: unknown, url: string): z.output<T> {
  const { success, data, error } = schema.safeParse(answer);
  if (success) return restoreFieldOrder(data, answer) as z.output<T>;
  throw new OracleError('INTERNAL', `The service at ${url} answers in a form that is not known here`, {
    suggestedAction: 'Use the version of this program that belongs to the service.',
    cause: error,
  });
}

/** A schema gives its own order to what it reads; whoever asks the service itself gets that of the service. */
function restoreFieldOrder(value: unknown, sent: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item, index) => restoreFieldOrder(item, (sent as unknown[])[index]));
  const known = value as Record<string, unknown>;
  const all = sent as Record<string, unknown>;
  const names = new Set([...Object.keys(all).filter((name) => Object.hasOwn(known, name)), ...Object.keys(known)]);
  return Object.fromEntries([...names].map((name) => [name, restoreFieldOrder(known[name], all[name])]));
}
