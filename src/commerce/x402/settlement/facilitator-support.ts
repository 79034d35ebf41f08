import { z } from 'zod';
import { OracleError } from '../../../platform/errors.ts';
import { readJson } from '../../../platform/outbound/bounded-json.ts';
import { callFacilitator, type FacilitatorEndpoint, FacilitatorKeyError, MAX_ANSWER_BYTES } from './facilitator-endpoint.ts';

const TIMEOUT_MS = 5_000;
const KIND = z.looseObject({ scheme: z.string(), network: z.string(), extra: z.looseObject({}).nullish() });
const SUPPORTED = z.looseObject({ kinds: z.array(KIND), extensions: z.array(z.string()).nullish() });
/** Name of the setting in the reference facilitator, which a facilitator may repeat in `extra`. */
const FACTORIES_MEMBER = 'eip6492AllowedFactories';
const DEPLOYMENT_EXTENSION = 'eip6492';

/** Requires a remote facilitator that settles `exact` on the chain, by its `/supported`, and accepts the key. @throws OracleError CONFIG_INVALID */
export async function requireFacilitatorSupport(endpoint: FacilitatorEndpoint, chainId: number): Promise<void> {
  const network = `eip155:${chainId}`;
  const [{ kinds }] = await Promise.all([readSupported(endpoint), requireKey(endpoint)]);
  if (kinds.some((kind) => isExactOn(kind, network))) return;
  throw facilitatorError(`does not settle "exact" on ${network}`);
}

/**
 * Whether a facilitator says that it deploys payers' wallets (ERC-6492): by its factories in `extra` of the kind, or by an extension. The
 * protocol has no member for it. @throws OracleError CONFIG_INVALID without a valid `/supported`
 */
export async function readDeploymentSupport(endpoint: FacilitatorEndpoint, chainId: number): Promise<boolean> {
  const { kinds, extensions } = await readSupported(endpoint);
  if (extensions?.includes(DEPLOYMENT_EXTENSION) === true) return true;
  const factories = kinds.filter((kind) => isExactOn(kind, `eip155:${chainId}`)).flatMap(({ extra }) => extra?.[FACTORIES_MEMBER] ?? []);
  return factories.length > 0;
}

function isExactOn({ scheme, network }: z.output<typeof KIND>, chain: string): boolean {
  return scheme === 'exact' && network === chain;
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
