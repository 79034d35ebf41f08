import type { IncomingMessage, ServerResponse } from 'node:http';
import { constants } from 'node:zlib';
import compression from 'compression';
import cors, { type CorsOptions } from 'cors';
import type { Request, RequestHandler } from 'express';
import helmet from 'helmet';
import { OAUTH_PATHS } from '../../../../auth/oauth/resources.ts';
import { ADMIN_PATH } from '../../admin/admin-area.ts';
import { hasPaymentHeader, PAYMENT_HEADERS, PAYMENT_REQUIRED_HEADER, SETTLEMENT_HEADERS } from '../payments/payment-headers.ts';
import { MIN_COMPRESSED_BYTES } from '../replies/encoded-text.ts';

/** Data responses load nothing and cannot be framed; HTML pages set their own `Content-Security-Policy`. */
const DATA_POLICY = { defaultSrc: ["'none'"], baseUri: ["'none'"], formAction: ["'none'"], frameAncestors: ["'none'"] };

const HSTS = `max-age=${365 * 86_400}`;

const A2A_HEADERS = ['A2A-Version', 'A2A-Extensions', 'X-A2A-Extensions'];
const MCP_HEADERS = ['Last-Event-ID', 'Mcp-Method', 'Mcp-Name', 'Mcp-Protocol-Version', 'Mcp-Session-Id'];
const CACHE_HEADERS = ['If-Modified-Since', 'If-None-Match'];

const ALLOWED_HEADERS = [
  'Authorization',
  'Content-Type',
  ...CACHE_HEADERS,
  'X-Request-Id',
  'traceparent',
  ...PAYMENT_HEADERS,
  ...A2A_HEADERS,
  ...MCP_HEADERS,
];

const EXPOSED_HEADERS = [
  'A2A-Extensions',
  'Deprecation',
  'ETag',
  'Link',
  PAYMENT_REQUIRED_HEADER,
  ...Object.values(SETTLEMENT_HEADERS),
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'WWW-Authenticate',
  'X-Request-Id',
];

/** Browsers cache a preflight for two hours at most. */
const PREFLIGHT_SECONDS = 7_200;

/** Default response headers, which a route may override; `no-store` covers errors. */
export function securityHeaders(): RequestHandler {
  const headers = [...buildConstantHeaders(), ['Cache-Control', 'no-store'] as const];
  return (request, response, next) => {
    for (const [name, value] of headers) response.setHeader(name, value);
    if (request.secure) response.setHeader('Strict-Transport-Security', HSTS);
    next();
  };
}

/** Headers of helmet, which do not depend on the request, computed once. */
function buildConstantHeaders(): [name: string, value: string][] {
  const set = helmet({
    contentSecurityPolicy: { useDefaults: false, directives: DATA_POLICY },
    // Pages of other sites may read public data.
    crossOriginResourcePolicy: { policy: 'cross-origin' },
    // `frame-ancestors` covers it, and a page can override that.
    xFrameOptions: false,
    strictTransportSecurity: false,
    xPoweredBy: false,
  });
  const headers = new Map<string, string>();
  const response = { setHeader: (name: string, value: string) => headers.set(name, value), removeHeader: () => undefined };
  set({} as IncomingMessage, response as unknown as ServerResponse, (error) => {
    if (error !== undefined) throw error;
  });
  return [...headers];
}

const PUBLIC_CORS: CorsOptions = {
  origin: '*',
  methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
  allowedHeaders: ALLOWED_HEADERS,
  exposedHeaders: EXPOSED_HEADERS,
  maxAge: PREFLIGHT_SECONDS,
};

/** Paths for the pages of this service alone: another page could guess the operator's password, or use the demo wallets. */
const OWN_PAGES_PATHS = [ADMIN_PATH, '/api/demo', OAUTH_PATHS.consent];

/** Any origin, without cookies and passwords. */
export function crossOrigin(): RequestHandler {
  return cors<Request>((request, choose) =>
    choose(null, OWN_PAGES_PATHS.some((path) => isUnderPath(request.path, path)) ? { origin: false } : PUBLIC_CORS),
  );
}

function isUnderPath(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

/** The first quality with a context model: a twentieth smaller than the default of 4, in about the same time; beyond it little is gained. */
const BROTLI_QUALITY = 5;

/** Compresses public responses only: the compressed size of a response to a token or payment could leak its content (BREACH). */
export function compressPublicReplies(): RequestHandler {
  return compression({
    threshold: MIN_COMPRESSED_BYTES,
    brotli: { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } },
    filter: (request, response) =>
      request.headers.authorization === undefined &&
      !hasPaymentHeader(request as Request) &&
      !String(response.getHeader('Content-Type')).startsWith('text/event-stream') &&
      compression.filter(request, response),
  });
}
