/** What there is to read and to call first, as paths of this service. */
export const DOCUMENTS = [
  { name: 'everything that is served', path: '/' },
  { name: 'reference for programs, OpenAPI 3.1', path: '/.well-known/openapi.json' },
  { name: 'reference for people', path: '/docs' },
  { name: 'ERC-8004 registration file', path: '/.well-known/agent-registration.json' },
  { name: 'public keys of session tokens', path: '/.well-known/jwks.json' },
  { name: 'standards and contracts with their live state', path: '/api/claw/ecosystem' },
  { name: 'offerings and prices', path: '/api/svc/commerce/offerings' },
  { name: 'state of the service', path: '/api/status' },
] as const;
