import { expect, it } from 'vitest';
import { resolveLink } from '../../../../../../src/http/routes/documents.ts';

const resolve = (href: string) => resolveLink(href, { path: 'verify' }, 'https://oracle.test/btc/');

it.each([
  ['#by-hand', 'verify#by-hand'],
  ['AUDIT.md', 'documents/audit'],
  ['OPERATE.md#containers', 'operate#containers'],
  ['../docs/MODEL.md', 'documents/model'],
  ['/docs', 'docs'],
  ['https://oracle.test/btc/methodology.md', 'method'],
  ['https://oracle.test/btc/documents/model.md#limits', 'documents/model#limits'],
  ['https://oracle.test/btc/api/svc/info', 'https://oracle.test/btc/api/svc/info'],
  ['https://oracle.test/methodology.md', 'https://oracle.test/methodology.md'],
  ['https://base.org/x#y', 'https://base.org/x#y'],
  ['mailto:a@b.test', 'mailto:a@b.test'],
])('%s leads to %s', (href, expected) => expect(resolve(href)).toBe(expected));

it.each([
  '../CHANGELOG.md',
  'ARCHITECTURE.md',
  '../examples/demo-agent',
  'javascript:alert(1)',
  'data:text/html,x',
  'JAVASCRIPT:x',
  'http://',
])('%s leads nowhere', (href) => expect(resolve(href)).toBeNull());
