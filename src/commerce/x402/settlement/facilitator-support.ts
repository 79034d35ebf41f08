import { z } from 'zod';
import { OracleError } from '../../../platform/errors.ts';
import { readJson } from '../../../platform/outbound/bounded-json.ts';
import { callFacilitator, type FacilitatorEndpoint, FacilitatorKeyError, MAX_ANSWER_BYTES } from './facilitator-endpoint.ts';

const TIMEOUT_MS = 5_000;
const SUPPORTED = z.looseObject({ kinds: z.array(z.looseObject({ scheme: z.string(), network: z.string() })) });

/** Requires a remote facilitator that settles `exact` on the chain, by its `/supported`, and accepts the key. @throws OracleError CONFIG_INVALID */
export async function requireFacilitatorSupport(endpoint: FacilitatorEndpoint, chainId: number): Promise<void> {
  const network = `eip155:${chainId}`;
  const [{ kinds }] = await Promise.all([readSupported(endpoint), requireKey(endpoint)]);
  if (kinds.some((kind) => kind.scheme === 'exact' && kind.network === network)) return;
  throw facilitatorError(`does not settle "exact" on ${network}`);
}

async function readSupported(endpoint: FacilitatorEndpoint): Promise<z.output<typeof SUPPORTED>> {
  try {
    const response = await callFacilitator(endpoint, { path: '/supported', timeoutMs: TIMEOUT_MS });
    if (!response.ok) throw facilitatorError(`answers ${response.status} at /supported`);
    return SUPPORTED.parse(await readJson(response, MAX_ANSWER_BYTES));
  } catch (cause) {
    throw toSupportError(cause);
  }
}

/** `/supported` may be public: only the rejection of an empty payment shows whether the key is accepted. */
async function requireKey(endpoint: FacilitatorEndpoint): Promise<void> {
  if (endpoint.authorize === undefined) return;
  try {
    const response = await callFacilitator(endpoint, { path: '/verify', body: {}, timeoutMs: TIMEOUT_MS });
    await response.body?.cancel();
    // For a payment, 403 may be about its payer.
    if (response.status === 403) throw new FacilitatorKeyError(403, endpoint);
  } catch (cause) {
    throw toSupportError(cause);
  }
}

function toSupportError(cause: unknown): OracleError {
  if (cause instanceof OracleError) return cause;
  if (!(cause instanceof FacilitatorKeyError)) return facilitatorError('gives no valid answer', cause);
  return new OracleError('CONFIG_INVALID', `The facilitator of X402_FACILITATOR_URL ${cause.message}`, {
    field: 'CDP_API_KEY_ID',
    suggestedAction: 'Set CDP_API_KEY_ID and CDP_API_KEY_SECRET to a secret API key of the project that may use the facilitator.',
    cause,
  });
}

function facilitatorError(problem: string, cause?: unknown): OracleError {
  return new OracleError('CONFIG_INVALID', `The facilitator of X402_FACILITATOR_URL ${problem}`, {
    field: 'X402_FACILITATOR_URL',
    suggestedAction: 'Set X402_FACILITATOR_URL to one that settles on this chain, or unset it to settle here.',
    cause,
  });
}
