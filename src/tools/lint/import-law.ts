import { posix } from 'node:path';
import type { Finding } from './house-words.ts';

const DOMAIN = ['src/platform', 'src/forecast', 'src/market', 'src/chain', 'src/wager'];
const RECORD = [...DOMAIN, 'src/verify', 'src/record', 'src/auth/caller.ts'];
const SKILLS = [...RECORD, 'src/auth', 'src/commerce', 'skills'];
const TRANSPORTS = [...SKILLS, 'src/contest', 'src/events', 'agent-card', 'src/transports/adapter.ts'];
/** The part of the audit that only Node can run. */
const NODE_AUDIT = String.raw`^src\/audit\/(?:command\/|prices\/(?!audit-prices))`;
const EVERYTHING = ['src', 'skills', 'agent-card', 'contracts'];

/** Besides packages and files below the same path. The longest matching path applies; type imports count like any other. */
export const IMPORT_LAW: Readonly<Record<string, readonly string[]>> = {
  'src/platform': [],
  'src/forecast': ['src/platform/errors.ts'],
  'src/market': ['src/platform', 'src/forecast'],
  'src/chain': ['src/platform', 'src/forecast'],
  'src/verify': [
    'src/platform/errors.ts',
    'src/forecast',
    'src/chain/eas/commitment.ts',
    'src/chain/eas/distribution-digest.ts',
    'src/chain/eas/raw-attestation.ts',
    'src/chain/eas/attestation-schemas.ts',
  ],
  // It runs in the server and in browsers.
  'src/views': [],
  'src/wager': ['src/platform', 'src/forecast'],
  'src/record': [...DOMAIN, 'src/verify', 'src/auth/caller.ts'],
  'src/audit': [
    'src/verify',
    'src/forecast',
    'src/platform/errors.ts',
    'src/platform/usage-error.ts',
    'src/chain/addresses.ts',
    'src/chain/eas',
    'src/chain/rpc/chain-call.ts',
  ],
  'src/audit/command': ['src/audit', 'src/platform', 'src/forecast', 'src/chain', 'src/verify'],
  'src/audit/prices': ['src/platform', 'src/forecast', 'src/verify'],
  'src/auth': RECORD,
  'src/commerce': RECORD,
  'src/events': RECORD,
  'src/pipeline': RECORD,
  'src/contest': RECORD,
  skills: SKILLS,
  'agent-card': SKILLS,
  'src/transports/adapter.ts': ['src/platform', 'src/auth'],
  'src/transports/http': [...TRANSPORTS, 'src/views'],
  'src/transports/a2a': TRANSPORTS,
  'src/transports/mcp': [...TRANSPORTS, 'src/views'],
  // Both run in Node and in browsers.
  'src/payer': [
    'src/platform/errors.ts',
    'src/chain/addresses.ts',
    'src/commerce/receipts/receipt.ts',
    'src/commerce/receipts/offer-receipt.ts',
  ],
  'clients/typescript/src': [
    'src/payer',
    'src/audit',
    'src/verify',
    'src/platform/errors.ts',
    'src/chain/addresses.ts',
    'src/auth/login/login-message.ts',
  ],
  // It runs in browsers; the types of responses are erased.
  'src/dashboard': [
    'src/views',
    'src/audit',
    'src/verify',
    'src/platform/errors.ts',
    'src/chain/addresses.ts',
    'src/chain/eas/raw-attestation.ts',
    'src/chain/eas/attestation-schemas.ts',
    'src/commerce/receipts/receipt.ts',
  ],
  'src/dashboard/state/responses.ts': ['src/transports/http', 'src/record/schemas', 'src/events/event-payloads.ts'],
  'src/cli/svc': [
    'src/platform',
    'src/forecast',
    'src/chain',
    'src/verify',
    'src/audit',
    'src/payer',
    'src/auth/login/login-client.ts',
    'src/commerce/receipts/receipt.ts',
    'src/commerce/receipts/offer-receipt.ts',
  ],
  'src/cli': EVERYTHING,
  'src/app': EVERYTHING,
  'src/dev': EVERYTHING,
  'src/tools': EVERYTHING,
  'src/main.ts': EVERYTHING,
};

/** Packages that a layer must not import: verify, payer, the page, the client and parts of the audit run in browsers, forecast has no I/O, and audit runs without a database. */
const FORBIDDEN_PACKAGES: Readonly<Record<string, RegExp>> = {
  'src/forecast': /^(node:|mongodb$)/,
  'src/verify': /^(?!viem$|src\/)/,
  'src/views': /^(?!src\/)/,
  'src/audit': new RegExp(String.raw`^(?!(?:viem(?:\/actions)?|zod\/mini)$|src\/)|${NODE_AUDIT}`),
  'src/audit/command': /^mongodb$/,
  'src/audit/prices': /^mongodb$/,
  'src/payer': /^node:/,
  'clients/typescript/src': new RegExp(`^node:|${NODE_AUDIT}`),
  'src/dashboard': new RegExp(`^node:|${NODE_AUDIT}`),
};

const LAYERS = Object.keys(IMPORT_LAW).sort((a, b) => b.length - a.length);

export function findForbiddenImports(file: string, imports: readonly { specifier: string; line: number }[]): Finding[] {
  const layer = LAYERS.find((path) => isBelow(file, path));
  if (layer === undefined) return [];
  return imports.flatMap(({ specifier, line }) => {
    const target = specifier.startsWith('.') ? posix.join(posix.dirname(file), specifier) : specifier;
    if (isAllowed(layer, target)) return [];
    return [{ file, line, message: `${layer} may not import ${target} (docs/ARCHITECTURE.md, "The import law")` }];
  });
}

function isAllowed(layer: string, target: string): boolean {
  if (FORBIDDEN_PACKAGES[layer]?.test(target)) return false;
  const isGoverned = /^(src|skills|agent-card|contracts)\//.test(target);
  return !isGoverned || [layer, ...IMPORT_LAW[layer]].some((allowed) => isBelow(target, allowed));
}

function isBelow(file: string, path: string): boolean {
  return file === path || file.startsWith(`${path}/`);
}
