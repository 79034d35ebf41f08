import type { IncomingMessage, ServerResponse } from 'node:http';
import compression from 'compression';
import cors, { type CorsOptions } from 'cors';
import type { Request, RequestHandler } from 'express';
import helmet from 'helmet';
import { ADMIN_PATH } from '../../admin/admin-area.ts';
import { hasPaymentHeader, PAYMENT_HEADERS, PAYMENT_REQUIRED_HEADER, SETTLEMENT_HEADERS } from '../payments/payment-headers.ts';

/** Nothing may be loaded by, or framed from, an answer that is data. An HTML page sets its own `Content-Security-Policy`. */
const DATA_POLICY = { defaultSrc: ["'none'"], baseUri: ["'none'"], formAction: ["'none'"], frameAncestors: ["'none'"] };

const HSTS = `max-age=${365 * 86_400}`;

/** Headers that a browser may send from another site. */
const ALLOWED_HEADERS = [
  ...['Authorization', 'Content-Type', 'If-Modified-Since', 'If-None-Match', 'X-Request-Id', ...PAYMENT_HEADERS],
  ...['A2A-Version', 'A2A-Extensions', 'X-A2A-Extensions'],
  ...['Last-Event-ID', 'Mcp-Method', 'Mcp-Name', 'Mcp-Protocol-Version', 'Mcp-Session-Id'],
];

/** Headers that a script of another site may read. */
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

/** Browsers keep a preflight for two hours at most. */
const PREFLIGHT_SECONDS = 7_200;

/** Answers below it would hardly shrink. */
const MIN_COMPRESSED_BYTES = 1_024;

/** What every answer says to browsers; a route's own headers override it. Errors are kept by nobody. */
export function securityHeaders(): RequestHandler {
  const headers = [...buildConstantHeaders(), ['Cache-Control', 'no-store'] as const];
  return (request, response, next) => {
    for (const [name, value] of headers) response.setHeader(name, value);
    if (request.secure) response.setHeader('Strict-Transport-Security', HSTS);
    next();
  };
}

/** What helmet sets: nothing of it depends on the request, so it is asked once. */
function buildConstantHeaders(): [name: string, value: string][] {
  const set = helmet({
    contentSecurityPolicy: { useDefaults: false, directives: DATA_POLICY },
    // Data that anybody may read is read by pages of others.
    crossOriginResourcePolicy: { policy: 'cross-origin' },
    // `frame-ancestors` says it, and a page can override that one.
    xFrameOptions: false,
    strictTransportSecurity: false,
    xPoweredBy: false,
  });
  const headers = new Map<string, string>();
  const answer = { setHeader: (name: string, value: string) => headers.set(name, value), removeHeader: () => undefined };
  set({} as IncomingMessage, answer as unknown as ServerResponse, (error) => {
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

/**
 * Any site may ask, with a token in `Authorization` if it has one; what a browser would add by itself (cookies, passwords) is not
 * let through. What is the operator's own no other site may ask for: a page that he visits guesses no passwords from his address.
 */
export function crossOrigin(): RequestHandler {
  return cors<Request>((request, choose) => choose(null, isUnderPath(request.path, ADMIN_PATH) ? { origin: false } : PUBLIC_CORS));
}

function isUnderPath(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

/**
 * Compresses what everybody may read. An answer to a token or a payment stays as it is: its compressed size could give parts
 * of it away (BREACH).
 */
export function compressPublicReplies(): RequestHandler {
  return compression({
    threshold: MIN_COMPRESSED_BYTES,
    filter: (request, response) =>
      request.headers.authorization === undefined &&
      !hasPaymentHeader(request as Request) &&
      !String(response.getHeader('Content-Type')).startsWith('text/event-stream') &&
      compression.filter(request, response),
  });
}
