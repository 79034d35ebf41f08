import { z } from 'zod';
import { OracleError } from '../../../platform/errors.ts';
import { readJson } from '../../../platform/outbound/bounded-json.ts';
import { createOperatorFetch } from '../../../platform/outbound/operator-fetch.ts';

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 262_144;
const KIND = z.looseObject({ scheme: z.string(), network: z.string(), extra: z.looseObject({}).nullish() });
const SUPPORTED = z.looseObject({ kinds: z.array(KIND), extensions: z.array(z.string()).nullish() });
/** Name of the setting in the reference facilitator, which a facilitator may repeat in `extra`. */
const FACTORIES_MEMBER = 'eip6492AllowedFactories';
const DEPLOYMENT_EXTENSION = 'eip6492';

/** Requires a remote facilitator that settles `exact` on the chain, by its `/supported`. @throws OracleError CONFIG_INVALID */
export async function requireFacilitatorSupport(url: string, chainId: number): Promise<void> {
  const base = url.replace(/\/+$/, '');
  const network = `eip155:${chainId}`;
  const { kinds } = await readSupported(base);
  if (kinds.some((kind) => isExactOn(kind, network))) return;
  throw facilitatorError(`does not settle "exact" on ${network}`);
}

/**
 * Whether a facilitator says that it deploys payers' wallets (ERC-6492): by its factories in `extra` of the kind, or by an extension. The
 * protocol has no member for it. @throws OracleError CONFIG_INVALID without a valid `/supported`
 */
export async function readDeploymentSupport(url: string, chainId: number): Promise<boolean> {
  const { kinds, extensions } = await readSupported(url.replace(/\/+$/, ''));
  if (extensions?.includes(DEPLOYMENT_EXTENSION) === true) return true;
  const factories = kinds.filter((kind) => isExactOn(kind, `eip155:${chainId}`)).flatMap(({ extra }) => extra?.[FACTORIES_MEMBER] ?? []);
  return factories.length > 0;
}

function isExactOn({ scheme, network }: z.output<typeof KIND>, chain: string): boolean {
  return scheme === 'exact' && network === chain;
}

async function readSupported(base: string): Promise<z.output<typeof SUPPORTED>> {
  const fetchFacilitator = createOperatorFetch({ base, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES });
  try {
    const response = await fetchFacilitator(`${base}/supported`);
    if (!response.ok) throw facilitatorError(`answers ${response.status} at /supported`);
    return SUPPORTED.parse(await readJson(response, MAX_BYTES));
  } catch (cause) {
    throw cause instanceof OracleError ? cause : facilitatorError('gives no valid answer at /supported', cause);
  }
}

function facilitatorError(problem: string, cause?: unknown): OracleError {
  return new OracleError('CONFIG_INVALID', `The facilitator of X402_FACILITATOR_URL ${problem}`, {
    field: 'X402_FACILITATOR_URL',
    suggestedAction: 'Set X402_FACILITATOR_URL to one that settles on this chain, or unset it to settle here.',
    cause,
  });
}
