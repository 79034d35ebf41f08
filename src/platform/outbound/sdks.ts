import { createOperatorFetch } from './operator.ts';

/** Request of the AWS SDK (`HttpRequest` of `@smithy/types`), of which it reads these fields. */
interface AwsHttpRequest {
  method: string;
  protocol: string;
  hostname: string;
  port?: number;
  path: string;
  query?: Record<string, string | string[] | null>;
  headers: Record<string, string>;
  body?: unknown;
}

interface AwsHttpResponse {
  statusCode: number;
  reason: string;
  headers: Record<string, string>;
  body: Uint8Array;
}

/** `HttpHandler` of the AWS SDK. */
export interface AwsRequestHandler {
  readonly metadata: { handlerProtocol: string };
  handle(request: AwsHttpRequest, options?: { abortSignal?: AbortSignal }): Promise<{ response: AwsHttpResponse }>;
  updateHttpClientConfig(): void;
  httpHandlerConfigs(): object;
}

interface AwsHandlerOptions {
  /** The only endpoint beside STS; default: the public ones of KMS. */
  endpoint?: string;
  timeoutMs: number;
}

const MAX_BYTES = 256 * 1_024;
const KMS_HOST = /^kms(-fips)?\.[a-z0-9-]+\.amazonaws\.(com|com\.cn|eu)$/;
/** The token service gives credentials for a role by the token of a workload (IRSA). */
const STS_HOST = /^sts(\.[a-z0-9-]+)?\.amazonaws\.(com|com\.cn|eu)$/;

/** For clients of the AWS SDK: their requests leave by `createOperatorFetch`, to KMS and STS only. */
export function createAwsRequestHandler({ endpoint, timeoutMs }: AwsHandlerOptions): AwsRequestHandler {
  const isAllowed = (url: URL) => {
    if (url.protocol === 'https:' && STS_HOST.test(url.hostname)) return true;
    return endpoint === undefined ? url.protocol === 'https:' && KMS_HOST.test(url.hostname) : url.origin === new URL(endpoint).origin;
  };
  return {
    metadata: { handlerProtocol: 'http/1.1' },
    async handle(request, { abortSignal } = {}) {
      const url = toUrl(request);
      if (!isAllowed(url)) throw new Error(`the AWS SDK may not call ${url.host}`);
      const { method, headers } = request;
      const fetchAws = createOperatorFetch({ base: url, timeoutMs, maxBytes: MAX_BYTES });
      const response = await fetchAws(url, { method, headers, body: toText(request.body), signal: abortSignal ?? null });
      const body = new Uint8Array(await response.arrayBuffer());
      const answer = { statusCode: response.status, reason: response.statusText, headers: Object.fromEntries(response.headers), body };
      return { response: answer };
    },
    updateHttpClientConfig: () => undefined,
    httpHandlerConfigs: () => ({}),
  };
}

function toUrl({ protocol, hostname, port, path, query = {} }: AwsHttpRequest): URL {
  const url = new URL(`${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}`);
  for (const [name, values] of Object.entries(query)) for (const value of [values ?? ''].flat()) url.searchParams.append(name, value);
  return url;
}

/** Bodies of KMS and STS are JSON and form text. */
function toText(body: unknown): string | undefined {
  if (body === undefined || typeof body === 'string') return body;
  if (body instanceof Uint8Array) return new TextDecoder().decode(body);
  throw new Error('a request of the AWS SDK has a body that is no text');
}

const AXIOS_GUARD_MAX_BYTES = 8 * 2 ** 20;

const allowed = new Set<string>();

/** For libraries that use `axios` internally: allowed origins only, no redirects, no environment proxy, bounded size and time. */
export async function allowAxiosOrigin(base: string, timeoutMs: number): Promise<void> {
  // On demand: few processes have such a library, and it is large.
  const { default: axios } = await import('axios');
  if (allowed.size === 0) axios.interceptors.request.use((request) => Object.assign(request, boundRequest(axios.getUri(request))));
  allowed.add(new URL(base).origin);
  axios.defaults.timeout = Math.max(axios.defaults.timeout ?? 0, timeoutMs);
}

/** @throws Error for an origin that is not allowed */
function boundRequest(url: string) {
  if (!allowed.has(new URL(url).origin)) throw new Error('a library asked for an origin that is not configured');
  return { proxy: false, maxRedirects: 0, maxContentLength: AXIOS_GUARD_MAX_BYTES, maxBodyLength: AXIOS_GUARD_MAX_BYTES } as const;
}
